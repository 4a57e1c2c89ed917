//! Loads a server on 127.0.0.1 with WebSockets and checks every message that comes back.
//!
//! * `ws_load echo PORT CLIENTS BYTES SECONDS`: each client sends a message when the one before is back.
//! * `ws_load broadcast PORT RECEIVERS BYTES SECONDS`: one client more sends, all others receive.
//! * `ws_load idle PORT CLIENTS`: the clients stay connected and answer pings.
//!
//! Prints how many clients are connected and waits for a line on standard input. Then it loads, or looks with one
//! message each how many are still served, and prints what came of it as `name value` lines. One thread and epoll: a
//! client in Python would be slower than the servers.

mod broadcast;
mod client;
mod crowd;
mod echo;
mod frame;
mod idle;
mod report;

use std::io::{self, Write};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use crowd::Crowd;

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ws_load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> io::Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["echo", port, clients, bytes, seconds] => {
            let crowd = connected(port, number(clients)?)?;
            await_line()?;
            echo::load(crowd, size(bytes)?, Duration::from_secs(number(seconds)?))
        }
        ["broadcast", port, receivers, bytes, seconds] => {
            let crowd = connected(port, number::<usize>(receivers)? + 1)?;
            await_line()?;
            broadcast::load(crowd, size(bytes)?, Duration::from_secs(number(seconds)?))
        }
        ["idle", port, clients] => idle::hold(connected(port, number(clients)?)?),
        _ => Err(io::Error::other("say echo, broadcast or idle, and its numbers")),
    }
}

/// As many clients as can be had of those wanted; the broadcast and the echo need them all.
fn connected(port: &str, wanted: usize) -> io::Result<Crowd> {
    let crowd = Crowd::connect(number(port)?, wanted)?;
    println!("{}", crowd.len());
    io::stdout().flush()?;
    Ok(crowd)
}

fn await_line() -> io::Result<()> {
    io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn number<T: FromStr>(text: &str) -> io::Result<T> {
    text.parse().map_err(|_| io::Error::other(format!("{text:?} is no number that fits")))
}

fn size(text: &str) -> io::Result<usize> {
    let bytes = number(text)?;
    if bytes < frame::STAMP {
        return Err(io::Error::other(format!("a message has at least {} bytes", frame::STAMP)));
    }
    Ok(bytes)
}
