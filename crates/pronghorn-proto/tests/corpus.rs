//! The corpus of requests: every case fed whole, cut at every CRLF, byte by byte and at random.
#![allow(unreachable_pub, reason = "some modules are shared with the crate of fuzz targets")]

#[path = "corpus/case.rs"]
mod case;
#[path = "../fuzz/src/conversation.rs"]
mod conversation;
#[path = "../fuzz/src/cuts.rs"]
mod cuts;

use case::Case;
use cuts::Random;

#[test]
fn whole() {
    for_every_case(|input| vec![vec![input]]);
}

#[test]
fn cut_at_every_crlf() {
    for_every_case(|input| {
        let ends = input.windows(2).enumerate().filter(|(_, pair)| pair == b"\r\n");
        // In front of the CRLF, inside it and behind it, each on its own.
        let places = ends.flat_map(|(at, _)| [at, at + 1, at + 2]).take(400);
        let halves = places.map(|at| vec![&input[..at], &input[at..]]).collect::<Vec<_>>();
        let lines = input.split_inclusive(|&b| b == b'\n').collect();
        halves.into_iter().chain([lines]).collect()
    });
}

#[test]
fn byte_by_byte() {
    for_every_case(|input| vec![cuts::bytes(input)]);
}

#[test]
fn cut_at_random() {
    for_every_case(|input| {
        let mut random = Random::new(cuts::seed(input));
        [3, 10, 30, 100, 1000].map(|longest| cuts::random(input, longest, &mut random)).to_vec()
    });
}

#[test]
fn names_are_unique() {
    let mut names: Vec<String> = case::read_all().into_iter().map(|case| case.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count >= 400, "the corpus has lost cases: {count}");
}

/// Feeds every case in each of the ways `cut` makes of its input, and names all that fail.
fn for_every_case(cut: impl for<'a> Fn(&'a [u8]) -> Vec<Vec<&'a [u8]>>) {
    let failures: Vec<String> =
        case::read_all().iter().filter_map(|case| failure(case, cut(&case.input))).collect();
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}

fn failure(case: &Case, ways: Vec<Vec<&[u8]>>) -> Option<String> {
    ways.iter().find_map(|pieces| {
        let (outcomes, open) = conversation::play(pieces, case.eof);
        let reason = case.expected.check(&outcomes, open).err()?;
        Some(format!("{}: {reason}", case.name))
    })
}
