//! What reading a request head costs, in nanoseconds; under
//! `valgrind --tool=callgrind` it counts instructions.
//!
//! `head_cost [small|browser] [repetitions]`

use std::env;
use std::hint::black_box;
use std::time::Instant;

use pronghorn_proto::{Error, HeadScanner, Limits, RequestHead};

fn main() -> Result<(), Error> {
    let mut arguments = env::args().skip(1);
    let head = match arguments.next().as_deref() {
        Some("browser") => BROWSER,
        _ => SMALL,
    };
    let repetitions = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1_000_000_u32);
    let limits = Limits::default();
    let mut parsed = RequestHead::default();
    let start = Instant::now();
    for _ in 0..repetitions {
        let received = black_box(head.as_bytes());
        if HeadScanner::default().advance(received, &limits, &mut parsed)?.is_some() {
            parsed.interpret(received, &limits)?;
        }
        black_box(&parsed);
    }
    let each = start.elapsed().as_nanos() as f64 / f64::from(repetitions);
    println!("{} bytes, {} fields: {each:.1} ns", head.len(), parsed.fields.len());
    Ok(())
}

const SMALL: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n";

const BROWSER: &str = "GET /wiki/Front_Page?action=history HTTP/1.1\r\n\
    Host: wiki.example.org:8000\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
    Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
    Accept-Language: en-GB,en;q=0.7,de;q=0.3\r\n\
    Accept-Encoding: gzip, deflate, br, zstd\r\n\
    Referer: http://wiki.example.org:8000/wiki/Front_Page\r\n\
    Connection: keep-alive\r\n\
    Cookie: session=0123456789abcdef0123456789abcdef\r\n\
    Upgrade-Insecure-Requests: 1\r\n\
    Sec-Fetch-Mode: navigate\r\n\r\n";
