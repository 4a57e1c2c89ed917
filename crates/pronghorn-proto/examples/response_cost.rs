//! What encoding the head of a small response costs, in nanoseconds; under
//! `valgrind --tool=callgrind` it counts instructions.
//!
//! `response_cost [repetitions]`

use std::env;
use std::hint::black_box;
use std::time::Instant;

use pronghorn_proto::encode::{
    BodySize, FieldError, RequestFacts, ResponseFields, ServerFields, plan, write_head,
};

fn main() -> Result<(), FieldError> {
    let repetitions = env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000_u32);
    let request = RequestFacts { http11: true, head: false, persistent: true };
    let server = ServerFields {
        date: Some(b"Sun, 06 Nov 1994 08:49:37 GMT"),
        server: Some(b"pronghorn"),
        request_id: None,
    };
    let mut fields = ResponseFields::default();
    let mut out = Vec::new();
    let start = Instant::now();
    for _ in 0..repetitions {
        out.clear();
        fields.clear();
        for (name, value) in black_box(FIELDS) {
            fields.push(name.as_bytes(), value.as_bytes())?;
        }
        let (status, reason) = black_box((200, b"OK"));
        let plan = plan(request, status, &fields, BodySize::Unknown);
        write_head(&mut out, status, reason, &fields, &plan, black_box(&request), &server);
        black_box(&out);
    }
    let each = start.elapsed().as_nanos() as f64 / f64::from(repetitions);
    println!("{} fields, {} bytes: {each:.1} ns", FIELDS.len(), out.len());
    Ok(())
}

const FIELDS: [(&str, &str); 2] =
    [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", "13")];
