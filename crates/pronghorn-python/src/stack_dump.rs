//! What `faulthandler` writes of threads, read.

use pronghorn_engine::Stack;

/// The stacks in what `faulthandler` wrote: paragraphs that begin with `Thread 0x...` or `Current thread 0x...`.
pub(crate) fn read_dump(text: &str) -> Vec<Stack> {
    let paragraphs = text.split("\n\n").filter_map(|paragraph| {
        let (heading, calls) = paragraph.trim_start().split_once('\n')?;
        let (_, digits) = heading.split_once("0x")?;
        let digits = digits.split(|c: char| !c.is_ascii_hexdigit()).next()?;
        let thread = u64::from_str_radix(digits, 16).ok()?;
        // A thread of the server that waits.
        let is_idle = calls.contains("<no Python frame>");
        (!is_idle).then(|| Stack { thread, text: format!("most recent call first:\n{calls}") })
    });
    paragraphs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_is_read() {
        let text = "Thread 0x00007f01 [worker] (most recent call first):\n  File \"a.py\", line 1 in f\n\n\
                    Thread 0x00007f02 (most recent call first):\n  <no Python frame>\n\n\
                    Current thread 0x0000abcd (most recent call first):\n  File \"b.py\", line 2 in g\n";
        let stacks = read_dump(text);
        assert_eq!(stacks.len(), 2);
        assert_eq!((stacks[0].thread, stacks[1].thread), (0x7f01, 0xabcd));
        assert!(stacks[1].text.ends_with("File \"b.py\", line 2 in g\n"), "{}", stacks[1].text);
    }
}
