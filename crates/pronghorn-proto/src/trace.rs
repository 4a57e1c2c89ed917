//! Names of a request beyond one server: X-Request-ID and the W3C's traceparent.

/// Whether `value` may be kept as the identifier of a request: 1 to 128 letters, digits and `._~+/=-`, which no log and no shell
/// takes for anything else.
pub fn is_request_id(value: &[u8]) -> bool {
    (1..=128).contains(&value.len())
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(byte))
}

/// Whether `value` is a traceparent (W3C Trace Context, section 3.2): version, trace, parent and flags in lower-case hexadecimal. A
/// later version may have more behind a further dash.
pub fn is_traceparent(value: &[u8]) -> bool {
    let Some((known, more)) = value.split_at_checked(LENGTH) else { return false };
    let parts = [(0..2, true), (3..35, false), (36..52, false), (53..55, true)];
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let are_parts = parts.into_iter().all(|(range, may_be_zero)| {
        let part = &known[range];
        part.iter().all(is_hex) && (may_be_zero || part.iter().any(|&byte| byte != b'0'))
    });
    let are_dashes = [2, 35, 52].into_iter().all(|at| known[at] == b'-');
    let version_allows = match &known[..2] {
        b"00" => more.is_empty(),
        b"ff" => false,
        _ => matches!(more, [] | [b'-', ..]),
    };
    are_parts && are_dashes && version_allows
}

/// `00-` trace `-` parent `-01`.
const LENGTH: usize = 55;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_short_and_plain() {
        let long = "a".repeat(128);
        for id in ["a", "6f-B.~+/=_", "Root=1-67891233-abcdef012345678912345678", &long] {
            assert!(is_request_id(id.as_bytes()), "{id}");
        }
        let longer = "a".repeat(129);
        for id in ["", "a b", "a,b", "a\"b", "a;b", "a\u{e9}", "<a>", "a\tb", &longer] {
            assert!(!is_request_id(id.as_bytes()), "{id}");
        }
    }

    #[test]
    fn traceparents_as_the_w3c_has_them() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let parent = "00f067aa0ba902b7";
        for good in [
            format!("00-{trace}-{parent}-01"),
            format!("00-{trace}-{parent}-00"),
            format!("01-{trace}-{parent}-01"),
            format!("cc-{trace}-{parent}-01-what-the-future-brings"),
        ] {
            assert!(is_traceparent(good.as_bytes()), "{good}");
        }
        let zeros = "0".repeat(32);
        for bad in [
            String::new(),
            format!("00-{trace}-{parent}-1"),
            format!("00-{trace}-{parent}-01-more"),
            format!("00-{trace}-{parent}-01 "),
            format!("cc-{trace}-{parent}-01more"),
            format!("ff-{trace}-{parent}-01"),
            format!("0-{trace}-{parent}-01"),
            format!("00-{}-{parent}-01", trace.to_uppercase()),
            format!("00-{zeros}-{parent}-01"),
            format!("00-{trace}-{}-01", &zeros[..16]),
            format!("00_{trace}_{parent}_01"),
            format!("00-{trace}-{parent}-0g"),
            format!("00-{}-{parent}-01", &trace[1..]),
        ] {
            assert!(!is_traceparent(bad.as_bytes()), "{bad}");
        }
    }
}
