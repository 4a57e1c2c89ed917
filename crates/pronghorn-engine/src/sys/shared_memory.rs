//! Memory that processes share: mapped before a fork, it is the same for the parent and its children.
#![allow(unsafe_code)]

use std::io;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::AtomicU64;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Numbers that several processes see, all 0 at first. A page of them takes memory once it is touched.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    first: NonNull<AtomicU64>,
    count: usize,
}

// SAFETY: what is shared is atomic, and the mapping lives as long as its owner.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Maps `count` numbers, at least one.
    pub(crate) fn new(count: usize) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses a place where nothing is.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes(count), protection, flags)? };
        let first = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(SharedMemory { first, count })
    }

    /// The numbers.
    #[inline]
    pub(crate) fn cells(&self) -> &[AtomicU64] {
        // SAFETY: the mapping holds `count` numbers, zeroed by the kernel and aligned to a page; it ends with `self`.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.count) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no reference to it outlives `self`. One that cannot be taken away stays.
        let _ = unsafe { munmap(self.first.as_ptr().cast(), bytes(self.count)) };
    }
}

fn bytes(count: usize) -> usize {
    count.saturating_mul(size_of::<AtomicU64>())
}
