//! The table of known request field names: everything about a name follows from its row.

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
        let mut slot = slot_of(name)?;
        loop {
            // A free slot is numbered beyond the last name: it ends the search.
            let known = *ALL.get(SLOTS[slot] as usize)?;
            if is_name(name, known.name().as_bytes()) {
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
pub(crate) struct KnownSet(u128);

impl KnownSet {
    /// The set of `names`.
    pub(crate) const fn of(names: &[Known]) -> KnownSet {
        let mut set = KnownSet(0);
        let mut at = 0;
        while at < names.len() {
            set.insert(names[at]);
            at += 1;
        }
        set
    }

    #[inline]
    pub(crate) const fn insert(&mut self, name: Known) {
        self.0 |= 1 << name as u8;
    }

    #[inline]
    pub(crate) const fn has_any(self, of: KnownSet) -> bool {
        self.0 & of.0 != 0
    }
}

/// Where the search for `name` begins: a mix of its length and three of its characters. `None` for
/// the empty name.
#[inline]
const fn slot_of(name: &[u8]) -> Option<usize> {
    let Some(last) = name.len().checked_sub(1) else { return None };
    // Setting bit 5 makes letters lower case and keeps digits and dashes apart.
    let first_byte = (name[0] | 0x20) as usize;
    let middle_byte = (name[name.len() / 2] | 0x20) as usize;
    let last_byte = (name[last] | 0x20) as usize;
    let mix = name.len() * 37 + first_byte * 5 + middle_byte * 53 + last_byte * 11;
    Some(mix % SLOTS_LEN)
}

/// Whether `name` is `lower`, a known name, in any case.
#[inline]
fn is_name(name: &[u8], lower: &[u8]) -> bool {
    if name.len() != lower.len() {
        return false;
    }
    // Eight bytes at a time; the last eight may overlap those before.
    match (name.last_chunk(), lower.last_chunk()) {
        (Some(name_end), Some(lower_end)) => {
            let chunks = name.as_chunks().0.iter().zip(lower.as_chunks().0);
            is_same_word(name_end, lower_end) && chunks.into_iter().all(|(n, l)| is_same_word(n, l))
        }
        _ => name.iter().zip(lower).all(|(n, l)| n | (l & 0x40) >> 1 == *l),
    }
}

/// Whether two words differ at most in bit 5 of bytes that are letters in `lower`: of the bytes in
/// known names, those and only those have bit 6 set.
#[inline]
fn is_same_word(name: &[u8; 8], lower: &[u8; 8]) -> bool {
    let lower = u64::from_ne_bytes(*lower);
    let case = (lower & 0x4040_4040_4040_4040) >> 1;
    (u64::from_ne_bytes(*name) ^ lower) & !case == 0
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

/// Open addressing with linear probing, filled at compile time.
static SLOTS: [u8; SLOTS_LEN] = {
    assert!(ALL.len() <= u128::BITS as usize, "a KnownSet has a bit for every name");
    let mut slots = [u8::MAX; SLOTS_LEN];
    let mut known = 0;
    while known < NAMES.len() {
        if let Some(mut slot) = slot_of(NAMES[known].as_bytes()) {
            while slots[slot] != u8::MAX {
                slot = (slot + 1) % SLOTS_LEN;
            }
            slots[slot] = known as u8;
        }
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
            let start = slot_of(known.name().as_bytes()).expect("names are not empty");
            let place =
                SLOTS.iter().position(|&s| s == *known as u8).expect("every name is placed");
            (place + SLOTS_LEN - start) % SLOTS_LEN
        };
        assert!(Known::all().iter().map(probes).max() <= Some(3));
    }
}
