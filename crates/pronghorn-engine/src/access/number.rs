//! Numbers and addresses as text, without the machinery of `fmt` where every line has them.

use std::io::Write as _;
use std::net::IpAddr;

use pronghorn_proto::decimal::{MOST_DIGITS, put_decimal, put_digits};

/// Appends `number` in decimal.
pub(super) fn append_decimal(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; MOST_DIGITS];
    let first = put_decimal(&mut digits, number);
    out.extend_from_slice(&digits[first..]);
}

/// Appends `micros` as seconds with six decimals.
pub(super) fn append_seconds(out: &mut Vec<u8>, micros: u64) {
    append_decimal(out, micros / MILLION);
    let mut decimals = *b".000000";
    put_digits(&mut decimals[1..], micros % MILLION);
    out.extend_from_slice(&decimals);
}

/// Appends an address.
pub(super) fn append_address(out: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(address) => {
            for (index, octet) in address.octets().into_iter().enumerate() {
                if index > 0 {
                    out.push(b'.');
                }
                append_decimal(out, octet.into());
            }
        }
        // Writing to memory does not fail.
        IpAddr::V6(address) => drop(write!(out, "{address}")),
    }
}

const MILLION: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(append: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        append(&mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn numbers() {
        for number in [0, 7, 10, 200, u64::MAX] {
            assert_eq!(written(|out| append_decimal(out, number)), number.to_string());
        }
        for (micros, text) in
            [(0, "0.000000"), (1, "0.000001"), (999_999, "0.999999"), (61_000_020, "61.000020")]
        {
            assert_eq!(written(|out| append_seconds(out, micros)), text);
        }
    }

    #[test]
    fn addresses() {
        for text in ["127.0.0.1", "255.0.10.203", "::1", "2001:db8::7"] {
            let address = text.parse().expect("an address");
            assert_eq!(written(|out| append_address(out, address)), text);
        }
    }
}
