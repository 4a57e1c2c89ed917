//! Dates: the calendar, and the format of the Date field.

use crate::decimal::put_digits;

/// Formats seconds since 1970-01-01 00:00:00 UTC as an IMF-fixdate (RFC 9110 section 5.6.7):
/// `Sun, 06 Nov 1994 08:49:37 GMT`. A time after the year 9999 gives the last second of it.
pub fn imf_fixdate(unix_seconds: u64) -> [u8; 29] {
    let seconds = unix_seconds.min(LAST_SECOND);
    let (days, second_of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_date(days);
    let mut text = *b"Thu, 01 Jan 1970 00:00:00 GMT";
    // 1970-01-01 was a Thursday, the first of the table.
    text[0..3].copy_from_slice(WEEKDAYS[(days % 7) as usize]);
    text[8..11].copy_from_slice(MONTHS[month]);
    put_digits(&mut text[5..7], day);
    put_digits(&mut text[12..16], year);
    put_digits(&mut text[17..19], second_of_day / 3_600);
    put_digits(&mut text[20..22], second_of_day / 60 % 60);
    put_digits(&mut text[23..25], second_of_day % 60);
    text
}

/// The Gregorian year, month (0 is January) and day (from 1) of a day counted from 1970-01-01.
pub fn civil_date(days: u64) -> (u64, usize, u64) {
    let (mut year, mut day) = (1970 + days / DAYS_OF_400_YEARS * 400, days % DAYS_OF_400_YEARS);
    while day >= days_of_year(year) {
        day -= days_of_year(year);
        year += 1;
    }
    let mut month = 0;
    while day >= days_of_month(year, month) {
        day -= days_of_month(year, month);
        month += 1;
    }
    (year, month, day + 1)
}

fn days_of_year(year: u64) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_of_month(year: u64, month: usize) -> u64 {
    if month == FEBRUARY && is_leap(year) { 29 } else { DAYS_OF_MONTH[month] }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// 9999-12-31 23:59:59: the format has four digits for the year.
const LAST_SECOND: u64 = 253_402_300_799;
const DAYS_OF_400_YEARS: u64 = 146_097;
const FEBRUARY: usize = 1;
const DAYS_OF_MONTH: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const WEEKDAYS: [&[u8; 3]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
const MONTHS: [&[u8; 3]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        let table = [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (978_220_799, "Sat, 30 Dec 2000 23:59:59 GMT"),
            (978_307_199, "Sun, 31 Dec 2000 23:59:59 GMT"),
            (978_307_200, "Mon, 01 Jan 2001 00:00:00 GMT"),
            (1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT"),
            (2_147_483_648, "Tue, 19 Jan 2038 03:14:08 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (u64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ];
        for (seconds, text) in table {
            assert_eq!(imf_fixdate(seconds).escape_ascii().to_string(), text);
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = civil_date(0);
        for days in 1..DAYS_OF_400_YEARS + 366 {
            let today = civil_date(days);
            let (year, month, day) = before;
            let followers = [(year, month, day + 1), (year, month + 1, 1), (year + 1, 0, 1)];
            assert!(followers.contains(&today), "{before:?} then {today:?}");
            before = today;
        }
        assert_eq!(civil_date(DAYS_OF_400_YEARS), (2370, 0, 1));
    }

    #[test]
    fn every_day_follows_the_day_before() {
        for days in 1..60_000 {
            let ((y0, m0, d0), (y1, m1, d1)) = (civil_date(days - 1), civil_date(days));
            let next_day = (y1, m1, d1) == (y0, m0, d0 + 1);
            let next_month = d1 == 1 && (28..=31).contains(&d0) && (y1, m1) == (y0, m0 + 1);
            let next_year = (m1, d1) == (0, 1) && (m0, d0) == (11, 31) && y1 == y0 + 1;
            assert!(next_day || next_month || next_year, "{days}");
        }
    }
}
