//! The table of known request field names: everything about a name follows from its row.

use crate::word;

/// Declares [`Known`] from rows of a variant and its name in lower case.
macro_rules! known {
    ($($variant:ident $name:literal,)*) => {
        /// A field name the server knows, so that it need not be compared or built again.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the variants are the field names themselves")]
        pub enum Known { $($variant,)* }

        const ALL: &[Known] = &[$(Known::$variant,)*];

        const NAMES: &[&str] = &[$($name,)*];

        const ENVIRON_KEYS: &[&str] = &[$({
            const KEY: [u8; environ_key_len($name)] = environ_key($name);
            match str::from_utf8(&KEY) {
                Ok(key) => key,
                Err(_) => panic!("field names are ASCII"),
            }
        },)*];
    };
}

known! {
    Accept "accept",
    AcceptCharset "accept-charset",
    AcceptDatetime "accept-datetime",
    AcceptEncoding "accept-encoding",
    AcceptLanguage "accept-language",
    AcceptPatch "accept-patch",
    AcceptRanges "accept-ranges",
    AccessControlRequestHeaders "access-control-request-headers",
    AccessControlRequestMethod "access-control-request-method",
    AccessControlRequestPrivateNetwork "access-control-request-private-network",
    Allow "allow",
    AltUsed "alt-used",
    Authorization "authorization",
    Baggage "baggage",
    CacheControl "cache-control",
    CdnLoop "cdn-loop",
    CfConnectingIp "cf-connecting-ip",
    CfIpcountry "cf-ipcountry",
    CfRay "cf-ray",
    CfVisitor "cf-visitor",
    ClientIp "client-ip",
    Connection "connection",
    ContentDisposition "content-disposition",
    ContentEncoding "content-encoding",
    ContentLanguage "content-language",
    ContentLength "content-length",
    ContentLocation "content-location",
    ContentMd5 "content-md5",
    ContentRange "content-range",
    ContentType "content-type",
    Cookie "cookie",
    CorrelationId "correlation-id",
    Date "date",
    Depth "depth",
    Destination "destination",
    DeviceMemory "device-memory",
    Digest "digest",
    Dnt "dnt",
    Downlink "downlink",
    Dpr "dpr",
    EarlyData "early-data",
    Ect "ect",
    Expect "expect",
    FastlyClientIp "fastly-client-ip",
    Forwarded "forwarded",
    From "from",
    Host "host",
    Http2Settings "http2-settings",
    IdempotencyKey "idempotency-key",
    If "if",
    IfMatch "if-match",
    IfModifiedSince "if-modified-since",
    IfNoneMatch "if-none-match",
    IfRange "if-range",
    IfUnmodifiedSince "if-unmodified-since",
    KeepAlive "keep-alive",
    LastEventId "last-event-id",
    LockToken "lock-token",
    MaxForwards "max-forwards",
    Origin "origin",
    Overwrite "overwrite",
    Pragma "pragma",
    Prefer "prefer",
    Priority "priority",
    ProxyAuthorization "proxy-authorization",
    ProxyConnection "proxy-connection",
    Proxy "proxy",
    Purpose "purpose",
    Range "range",
    Referer "referer",
    RequestId "request-id",
    Rtt "rtt",
    SaveData "save-data",
    SecChUa "sec-ch-ua",
    SecChUaArch "sec-ch-ua-arch",
    SecChUaFullVersionList "sec-ch-ua-full-version-list",
    SecChUaMobile "sec-ch-ua-mobile",
    SecChUaModel "sec-ch-ua-model",
    SecChUaPlatform "sec-ch-ua-platform",
    SecChUaPlatformVersion "sec-ch-ua-platform-version",
    SecFetchDest "sec-fetch-dest",
    SecFetchMode "sec-fetch-mode",
    SecFetchSite "sec-fetch-site",
    SecFetchUser "sec-fetch-user",
    SecGpc "sec-gpc",
    SecPurpose "sec-purpose",
    SecWebsocketExtensions "sec-websocket-extensions",
    SecWebsocketKey "sec-websocket-key",
    SecWebsocketProtocol "sec-websocket-protocol",
    SecWebsocketVersion "sec-websocket-version",
    Signature "signature",
    SignatureInput "signature-input",
    Te "te",
    Timeout "timeout",
    Traceparent "traceparent",
    Tracestate "tracestate",
    Trailer "trailer",
    TransferEncoding "transfer-encoding",
    TrueClientIp "true-client-ip",
    Upgrade "upgrade",
    UpgradeInsecureRequests "upgrade-insecure-requests",
    UserAgent "user-agent",
    Via "via",
    ViewportWidth "viewport-width",
    WantDigest "want-digest",
    XApiKey "x-api-key",
    XCorrelationId "x-correlation-id",
    XCsrfToken "x-csrf-token",
    XCsrftoken "x-csrftoken",
    XForwardedFor "x-forwarded-for",
    XForwardedHost "x-forwarded-host",
    XForwardedPort "x-forwarded-port",
    XForwardedPrefix "x-forwarded-prefix",
    XForwardedProto "x-forwarded-proto",
    XForwardedServer "x-forwarded-server",
    XHttpMethodOverride "x-http-method-override",
    XRealIp "x-real-ip",
    XRequestId "x-request-id",
    XRequestedWith "x-requested-with",
}

impl Known {
    /// How many names are known.
    pub const COUNT: usize = ALL.len();

    /// Every known name, in the order of their numbers (`known as usize`).
    pub fn all() -> &'static [Known] {
        ALL
    }

    /// The known name `name` is, whatever its case.
    #[inline]
    pub fn lookup(name: &[u8]) -> Option<Known> {
        let key = Key::of(name);
        let mut slot = key.slot();
        loop {
            // A free slot ends the search.
            let known = SLOTS[slot]?;
            if KEYS[known as usize] == key && (name.len() <= 16 || is_name(name, known)) {
                return Some(known);
            }
            slot = (slot + 1) % SLOTS.len();
        }
    }

    /// The name in lower case.
    #[inline]
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// The key of the field in a WSGI environ (PEP 3333): `HTTP_` and the name in upper case with
    /// underscores, except for `CONTENT_TYPE` and `CONTENT_LENGTH`.
    ///
    /// Which fields an environ gets at all is the caller's concern: `Proxy` must not become
    /// `HTTP_PROXY`.
    #[inline]
    pub fn environ_key(self) -> &'static str {
        ENVIRON_KEYS[self as usize]
    }
}

/// Which of the known names are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownSet([u32; 4]);

impl KnownSet {
    /// The set of `names`.
    pub(crate) const fn of(names: &[Known]) -> KnownSet {
        let mut set = KnownSet([0; 4]);
        let mut at = 0;
        while at < names.len() {
            set.insert(names[at]);
            at += 1;
        }
        set
    }

    #[inline]
    pub(crate) const fn insert(&mut self, name: Known) {
        self.0[name as usize / 32] |= 1 << (name as usize % 32);
    }

    #[inline]
    pub(crate) fn has_any(self, of: KnownSet) -> bool {
        self.0.iter().zip(of.0).any(|(a, b)| a & b != 0)
    }
}

/// What tells a name from others at a glance, and all of it up to 16 bytes: its length and its ends,
/// which overlap in a short name. Upper case is made lower.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    len: usize,
    first: u64,
    last: u64,
}

impl Key {
    #[inline]
    const fn of(name: &[u8]) -> Key {
        let first = to_lower(word::load(name));
        let last = match name.last_chunk() {
            Some(last) => to_lower(u64::from_le_bytes(*last)),
            None => first,
        };
        Key { len: name.len(), first, last }
    }

    /// Where the search for it begins. The factor was chosen for the fewest collisions.
    #[inline]
    const fn slot(&self) -> usize {
        let sum = self.first.wrapping_add(self.last).wrapping_add(self.len as u64);
        (sum.wrapping_mul(0xE7A4_AB1B_9ABE_5E95) >> (u64::BITS - SLOTS_LEN.ilog2())) as usize
    }
}

/// Sets bit 5 of the bytes that have bit 6. That makes letters lower case, and no other byte
/// becomes a letter, digit or dash, of which known names consist.
#[inline]
const fn to_lower(word: u64) -> u64 {
    word | (word & 0x4040_4040_4040_4040) >> 1
}

/// Whether `name`, whose key is that of `known`, agrees with it in between as well.
fn is_name(name: &[u8], known: Known) -> bool {
    let (words, lower) = (name.as_chunks().0, known.name().as_bytes().as_chunks().0);
    words.iter().zip(lower).all(|(n, l)| to_lower(u64::from_le_bytes(*n)) == u64::from_le_bytes(*l))
}

/// The environ key of `name`, which is `N` bytes long.
const fn environ_key<const N: usize>(name: &str) -> [u8; N] {
    let mut key = [0; N];
    let prefix = b"HTTP_";
    let skip = N - name.len();
    let mut at = 0;
    while at < N {
        key[at] = match at < skip {
            true => prefix[at],
            false => match name.as_bytes()[at - skip] {
                b'-' => b'_',
                byte => byte.to_ascii_uppercase(),
            },
        };
        at += 1;
    }
    key
}

const fn environ_key_len(name: &str) -> usize {
    match name.as_bytes() {
        b"content-type" | b"content-length" => name.len(),
        _ => name.len() + 5,
    }
}

const SLOTS_LEN: usize = 512;

static KEYS: [Key; Known::COUNT] = {
    let mut keys = [Key { len: 0, first: 0, last: 0 }; Known::COUNT];
    let mut known = 0;
    while known < keys.len() {
        keys[known] = Key::of(NAMES[known].as_bytes());
        known += 1;
    }
    keys
};

/// Open addressing with linear probing, filled at compile time.
static SLOTS: [Option<Known>; SLOTS_LEN] = {
    assert!(ALL.len() <= 4 * 32, "a KnownSet has a bit for every name");
    let mut slots = [None; SLOTS_LEN];
    let mut known = 0;
    while known < ALL.len() {
        let mut slot = Key::of(NAMES[known].as_bytes()).slot();
        while slots[slot].is_some() {
            slot = (slot + 1) % SLOTS_LEN;
        }
        slots[slot] = Some(ALL[known]);
        known += 1;
    }
    slots
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_in_any_case() {
        for &known in Known::all() {
            let name = known.name();
            assert_eq!(Known::lookup(name.as_bytes()), Some(known));
            assert_eq!(Known::lookup(name.to_ascii_uppercase().as_bytes()), Some(known));
        }
    }

    #[test]
    fn other_names_are_not_found() {
        for name in [
            "",
            "x",
            "hos",
            "hostt",
            "content_length",
            "content\rlength",
            "cookie2",
            "http\u{12}-settings",
            "x-correlatiom-id",
            "upgrade-insecure_requests",
            "upgrade-insacure-requests",
            "access-control-request-header_",
            "x-forwarded-fo\u{92}",
        ] {
            assert_eq!(Known::lookup(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn environ_keys_follow_from_names() {
        for &known in Known::all() {
            let upper = known.name().to_ascii_uppercase().replace('-', "_");
            let key = match known {
                Known::ContentType | Known::ContentLength => upper,
                _ => format!("HTTP_{upper}"),
            };
            assert_eq!(known.environ_key(), key);
        }
    }

    #[test]
    fn searches_are_short() {
        let probes = |known: &Known| {
            let start = Key::of(known.name().as_bytes()).slot();
            let place = SLOTS.iter().position(|slot| *slot == Some(*known));
            let place = place.expect("every name is placed");
            (place + SLOTS_LEN - start) % SLOTS_LEN
        };
        assert!(Known::all().iter().map(probes).max() <= Some(1));
    }
}
