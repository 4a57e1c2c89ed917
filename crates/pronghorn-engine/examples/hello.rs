//! A whole server in Rust: answers every request with a short text.
//!
//! `cargo run --release -p pronghorn-engine --example hello -- 127.0.0.1:8000 8`: the address and the number of threads.

use std::error::Error;
use std::sync::Arc;

use pronghorn_engine::{Bind, Config, Control, Exchange, Handler, Listener, Server};

struct Hello;

impl Handler for Hello {
    fn handle(&self, exchange: &mut Exchange<'_>) {
        const BODY: &[u8] = b"Hello, World!\n";
        if exchange.fields().push(b"Content-Type", b"text/plain").is_ok() {
            // A client that is gone needs no answer.
            let _ = exchange.respond(200, b"OK", BODY, || Box::new(BODY));
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8000".to_owned());
    let threads = std::env::args().nth(2).map_or(Ok(Config::default().threads), |n| n.parse())?;
    let listener = Listener::open(&Bind::Tcp(address.parse()?), 1024)?;
    println!("Listening at: {listener}");
    let config = Config { threads, ..Config::default() };
    Server::new(config, vec![listener], Arc::new(Hello), Control::Signals)?.run()?;
    Ok(())
}
