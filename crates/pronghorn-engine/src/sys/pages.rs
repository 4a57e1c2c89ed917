//! Memory that a process needs no more.
#![allow(unsafe_code)]

/// Gives the pages of program text and other files that nothing has changed back to the kernel: they are read again when needed.
///
/// What a process does from some time on may have no use for what its start needed.
pub fn forget_clean_pages() {
    let Ok(smaps) = std::fs::read_to_string("/proc/self/smaps") else { return };
    for (start, length) in clean_file_ranges(&smaps) {
        // SAFETY: the range is a private mapping of a file that cannot be written to, and none of its pages is the process's own:
        // all are the file's, and come back from there.
        unsafe {
            libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED);
        }
    }
}

/// Start and length of each mapping of a file that is as it is in the file. A part that was relocated by the loader is not.
fn clean_file_ranges(smaps: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut mapping = None;
    for line in smaps.lines() {
        match line.split_once(':') {
            Some(("Anonymous", size)) if size.trim() == "0 kB" => ranges.extend(mapping.take()),
            // Every other line with a colon right behind its name is about the same mapping.
            Some((name, _)) if !name.contains(' ') => {}
            _ => mapping = unwritable_file(line),
        }
    }
    ranges
}

/// Start and length of a mapping, from its line in /proc/self/maps, if it is private, of a file, and not writable.
fn unwritable_file(line: &str) -> Option<(usize, usize)> {
    let mut words = line.split_whitespace();
    let (range, rights) = (words.next()?, words.next()?);
    let is_unwritable = rights.as_bytes().get(1) == Some(&b'-') && rights.ends_with('p');
    words.nth(3).filter(|path| is_unwritable && path.starts_with('/'))?;
    let (start, end) = range.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    Some((start, usize::from_str_radix(end, 16).ok()? - start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smaps(mapping: &str, anonymous: &str) -> String {
        format!("{mapping}\nSize: 8 kB\nAnonymous:    {anonymous} kB\nVmFlags: rd ex mr mw me\n")
    }

    #[test]
    fn only_what_is_of_a_file_and_unchanged() {
        let text = "1000-3000 r-xp 00000000 08:01 42 /usr/lib/libc.so.6";
        assert_eq!(clean_file_ranges(&smaps(text, "0")), [(0x1000, 0x2000)]);
        let constants = "1000-3000 r--p 00000000 08:01 42 /usr/lib/libc.so.6";
        assert_eq!(clean_file_ranges(&smaps(constants, "0")).len(), 1);
        assert!(clean_file_ranges(&smaps(constants, "4")).is_empty(), "relocated");
        for mapping in [
            "1000-3000 rw-p 00000000 08:01 42 /usr/lib/libc.so.6",
            "1000-3000 r-xs 00000000 08:01 42 /usr/lib/libc.so.6",
            "1000-3000 r--p 00000000 00:00 0",
            "1000-3000 r-xp 00000000 00:00 0 [vdso]",
        ] {
            assert!(clean_file_ranges(&smaps(mapping, "0")).is_empty(), "{mapping}");
        }
    }

    #[test]
    fn what_was_forgotten_comes_back() {
        forget_clean_pages();
        assert_eq!("12".parse(), Ok(12));
    }
}
