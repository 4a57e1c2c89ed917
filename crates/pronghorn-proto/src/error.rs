//! Every way a request can be refused, and the one mapping to a status.

use core::fmt;

/// Why a request is refused. Final for its connection: no later byte of it is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// The first byte cannot begin a request line; often a TLS handshake on a plain port.
    NotHttp,
    /// A connection that has to begin with a header of the PROXY protocol and does not, or with a malformed one.
    ProxyHeader,
    /// A CR or LF that is not part of a CRLF.
    BareLineEnd,
    /// The request line is not `method SP target SP HTTP/x.y`.
    RequestLine,
    /// The request target has none of the forms its method allows.
    Target,
    /// A field line breaks the grammar of names, colon and values.
    Field,
    /// An HTTP/1.1 request without a Host field.
    HostMissing,
    /// More than one Host field line.
    HostRepeated,
    /// A Host that is not `uri-host [":" port]`.
    HostMalformed,
    /// A Content-Length that is not one number.
    ContentLength,
    /// A Transfer-Encoding in which `chunked` is malformed, repeated or not last.
    TransferEncoding,
    /// Content-Length and Transfer-Encoding in one request.
    FramingConflict,
    /// Transfer-Encoding in an HTTP/1.0 request.
    TransferEncodingInHttp10,
    /// A chunk size that is not 1 to 16 hexadecimal digits.
    ChunkSize,
    /// A malformed chunk extension.
    ChunkExtension,
    /// Chunk data that is not followed by CRLF.
    ChunkEnd,
    /// A malformed trailer line.
    Trailer,
    /// A trailer that would change framing, routing or the connection.
    TrailerForbidden,
    /// The client closed its side before the body was complete.
    BodyTruncated,
    /// The head did not arrive within its deadline.
    HeadTimeout,
    /// The body did not arrive within its deadline.
    BodyTimeout,
    /// The body exceeds `Limits::body`.
    BodyTooLarge,
    /// The chunk extensions exceed `Limits::chunk_extensions`.
    ChunkExtensionsTooLarge,
    /// The trailers exceed `Limits::trailers`.
    TrailersTooLarge,
    /// The request line exceeds `Limits::request_line`.
    RequestLineTooLong,
    /// An expectation other than `100-continue`.
    Expectation,
    /// A WebSocket handshake of a version other than 13.
    WebSocketVersion,
    /// A WebSocket handshake without a key of 16 bytes in base64, or with more than one.
    WebSocketKey,
    /// A WebSocket handshake with a body.
    WebSocketBody,
    /// A WebSocket handshake that offers subprotocols whose names are not tokens.
    WebSocketProtocol,
    /// A WebSocket handshake whose list of extensions is malformed.
    WebSocketExtensions,
    /// A field line exceeds `Limits::field`.
    FieldTooLarge,
    /// The field lines together exceed `Limits::fields`.
    FieldsTooLarge,
    /// More field lines than `Limits::field_count`.
    TooManyFields,
    /// The method CONNECT.
    Connect,
    /// A transfer coding other than `chunked`.
    TransferCoding,
    /// A major version other than 1.
    Version,
}

impl Error {
    /// The status code of the refusal.
    pub fn status(&self) -> u16 {
        use Error::*;
        match self {
            NotHttp | ProxyHeader | BareLineEnd | RequestLine | Target | Field => 400,
            HostMissing | HostRepeated | HostMalformed => 400,
            ContentLength | TransferEncoding | FramingConflict | TransferEncodingInHttp10 => 400,
            ChunkSize | ChunkExtension | ChunkEnd | Trailer | TrailerForbidden => 400,
            BodyTruncated => 400,
            WebSocketKey | WebSocketBody | WebSocketProtocol | WebSocketExtensions => 400,
            HeadTimeout | BodyTimeout => 408,
            BodyTooLarge | ChunkExtensionsTooLarge | TrailersTooLarge => 413,
            RequestLineTooLong => 414,
            Expectation => 417,
            WebSocketVersion => 426,
            FieldTooLarge | FieldsTooLarge | TooManyFields => 431,
            Connect | TransferCoding => 501,
            Version => 505,
        }
    }

    /// One sentence for the person who sent the request: what was wrong and what would be right.
    pub fn message(&self) -> &'static str {
        use Error::*;
        match self {
            NotHttp => "This is not an HTTP/1 request; a TLS client must use an https port.",
            ProxyHeader => "This connection must begin with a valid header of the PROXY protocol.",
            BareLineEnd => "A CR or LF stands alone; lines must end with CRLF.",
            RequestLine => "The request line must read: method, space, target, space, HTTP/1.1.",
            Target => "The request target must begin with a slash or be an absolute http URI.",
            Field => "A header line is malformed; write it as name, colon, value, without folding.",
            HostMissing => "The Host header is missing; HTTP/1.1 requires one.",
            HostRepeated => "There is more than one Host header; send exactly one.",
            HostMalformed => "The host is malformed; write it as name or name:port.",
            ContentLength => "Content-Length must be one decimal number of at most 19 digits.",
            TransferEncoding => "Transfer-Encoding must name chunked once, as the last coding.",
            FramingConflict => "Send either Content-Length or Transfer-Encoding, not both.",
            TransferEncodingInHttp10 => "Transfer-Encoding needs HTTP/1.1.",
            ChunkSize => "A chunk size must be 1 to 16 hexadecimal digits.",
            ChunkExtension => "A chunk extension is malformed; write it as ;name or ;name=value.",
            ChunkEnd => "The data of a chunk must be as long as its size says and end with CRLF.",
            Trailer => "A trailer line is malformed; write it as name, colon, value.",
            TrailerForbidden => {
                "Framing, routing and connection fields may not be sent as trailers."
            }
            BodyTruncated => "The connection was closed before the whole body had arrived.",
            HeadTimeout => "The header of the request did not arrive in time.",
            BodyTimeout => "The body of the request did not arrive in time.",
            BodyTooLarge => "The body is larger than this server accepts.",
            ChunkExtensionsTooLarge => "The chunk extensions are larger than this server accepts.",
            TrailersTooLarge => "The trailers are larger than this server accepts.",
            RequestLineTooLong => "The request line is longer than this server accepts.",
            Expectation => "The only expectation this server can meet is 100-continue.",
            WebSocketVersion => "This server speaks version 13 of the WebSocket protocol.",
            WebSocketKey => "Sec-WebSocket-Key must be sent once: 16 bytes in base64.",
            WebSocketBody => "The handshake of a WebSocket must not have a body.",
            WebSocketProtocol => "Sec-WebSocket-Protocol must be a list of names.",
            WebSocketExtensions => {
                "Sec-WebSocket-Extensions is malformed; write it as name; param=value, name."
            }
            FieldTooLarge => "A header line is longer than this server accepts.",
            FieldsTooLarge => "The headers together are larger than this server accepts.",
            TooManyFields => "There are more header lines than this server accepts.",
            Connect => "CONNECT is not supported: this server is not a proxy.",
            TransferCoding => "The only transfer coding this server knows is chunked.",
            Version => "This server speaks HTTP/1.1 and HTTP/1.0 only.",
        }
    }

    /// Fields the refusal must carry besides those of every response, as names and values.
    ///
    /// 426 tells the version it wants (RFC 6455 section 4.4) and what to upgrade to (RFC 9110
    /// section 15.5.22).
    pub fn response_fields(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Error::WebSocketVersion => &[("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")],
            _ => &[],
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_websocket_refusal_carries_more_fields() {
        let fields = Error::WebSocketVersion.response_fields();
        assert!(fields.contains(&("Sec-WebSocket-Version", "13")));
        assert_eq!(Error::Connect.response_fields(), &[]);
    }

    #[test]
    fn an_error_reads_as_its_message() {
        assert_eq!(Error::HostMissing.to_string(), Error::HostMissing.message());
    }
}
