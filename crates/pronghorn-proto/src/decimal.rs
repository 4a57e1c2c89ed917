//! Numbers in decimal digits.

/// The most digits a number has.
pub const MOST_DIGITS: usize = 20;

/// Puts the digits of `number` at the end of `place`, which has room for them, and gives where they begin.
#[inline]
pub fn put_decimal(place: &mut [u8], number: u64) -> usize {
    let mut first = place.len();
    let mut rest = number;
    loop {
        first -= 1;
        place[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return first;
        }
    }
}

/// Fills `place` with the last digits of `number`, with zeros before them.
#[inline]
pub fn put_digits(place: &mut [u8], number: u64) {
    let mut rest = number;
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_where_they_should() {
        for number in [0, 9, 10, 4711, u64::MAX] {
            let mut place = [b'x'; MOST_DIGITS];
            let first = put_decimal(&mut place, number);
            assert_eq!(place[first..], *number.to_string().as_bytes());
        }
        let mut place = *b"xxxx";
        put_digits(&mut place, 70_042);
        assert_eq!(&place, b"0042");
    }
}
