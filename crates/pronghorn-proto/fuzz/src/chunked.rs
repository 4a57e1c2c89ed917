//! A chunked body: the same data and the same end however it is cut, and what a simple decoder
//! that sees the whole of it says.

use pronghorn_proto::{BodyDecoder, Error, Framing, Limits};

use crate::cuts::{self, Random};

/// What decoding a body came to: how much belonged to it and whether it is complete.
type Decoded = Result<(usize, bool), Error>;

/// Panics if `data` is decoded in a way no body may be.
pub fn check(data: &[u8]) {
    let whole = decode(&[data]);
    assert_eq!(whole, decode(&cuts::bytes(data)));
    assert_eq!(whole, decode(&cuts::random(data, 20, &mut Random::new(cuts::seed(data)))));
    let (body, result) = whole;
    assert!(body.len() <= limits().body as usize);
    if let Ok((consumed, true)) = result {
        assert!(data[..consumed].ends_with(b"\r\n"));
        assert_eq!(join_chunks(&data[..consumed]).as_deref(), Some(&body[..]));
    }
}

fn decode(pieces: &[&[u8]]) -> (Vec<u8>, Decoded) {
    let mut decoder = BodyDecoder::new(Framing::Chunked, &limits());
    let mut body = Vec::new();
    let mut total = 0;
    for piece in pieces {
        match decoder.decode(piece, &mut |data| body.extend_from_slice(data)) {
            Err(error) => return (body, Err(error)),
            Ok(decoded) => total += decoded.consumed,
        }
    }
    (body, Ok((total, decoder.is_complete())))
}

fn limits() -> Limits {
    Limits { body: 2000, chunk_extensions: 50, trailers: 100, ..Limits::default() }
}

/// The data of a whole, valid body: sizes by the book, extensions and trailers ignored.
fn join_chunks(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line_end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let digits = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        let size = usize::from_str_radix(str::from_utf8(&rest[..digits]).ok()?, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(line_end + 2..line_end + 2 + size)?);
        rest = rest[line_end + 2 + size..].strip_prefix(b"\r\n")?;
    }
}
