//! Memory put by for the time when there is none.
//!
//! Rust ends the process when an allocation fails that has no way to say so. With this allocator such an allocation, while it is
//! small, is made in a reserve; and as long as that is in use, what clients can make large or many is refused.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Address space, not memory, until it is needed.
const SIZE: usize = 4 << 20;

/// What is larger does not get it: such an allocation has a way to fail.
const SMALL: usize = 512 << 10;

/// As long as the system has so much in one piece, memory is not short.
const ENOUGH: usize = 64 << 10;

static RESERVE: Reserve = Reserve::new();

/// The system's allocator with a reserve behind it. A program that serves makes it its `#[global_allocator]`.
#[derive(Debug)]
pub struct ReservingAllocator;

// SAFETY: blocks are the system allocator's or of the reserve, and go back to where they are from.
unsafe impl GlobalAlloc for ReservingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as this function requires.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() { RESERVE.take(layout) } else { block }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.has(block) {
            // SAFETY: as this function requires; a block that is not of the reserve is the system's.
            let moved = unsafe { System.realloc(block, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: as this function requires.
        unsafe { moved(self, block, layout, size) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if RESERVE.has(block) {
            return RESERVE.give_back();
        }
        // SAFETY: as this function requires; a block that is not of the reserve is the system's.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Whether the reserve is in use and the system has nothing: what is not needed to go on has to be refused.
pub(crate) fn memory_is_short() -> bool {
    RESERVE.in_use.load(Ordering::Relaxed) != 0 && !system_has_some()
}

/// # Safety
/// As `GlobalAlloc::realloc`.
#[cold]
unsafe fn moved(
    allocator: &ReservingAllocator,
    block: *mut u8,
    layout: Layout,
    size: usize,
) -> *mut u8 {
    let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return ptr::null_mut() };
    // SAFETY: the layout is valid and not empty, as the caller promised of the size; both blocks are as long as what is
    // copied, and one is newly made.
    unsafe {
        let new = allocator.alloc(wanted);
        if !new.is_null() {
            ptr::copy_nonoverlapping(block, new, layout.size().min(size));
            allocator.dealloc(block, layout);
        }
        new
    }
}

#[cold]
fn system_has_some() -> bool {
    let layout = Layout::new::<[u8; ENOUGH]>();
    // SAFETY: not empty, and given back as it was taken.
    unsafe {
        // The compiler knows malloc, and that it may leave out what comes to nothing.
        let block = black_box(System.alloc(layout));
        if !block.is_null() {
            System.dealloc(block, layout);
        }
        !block.is_null()
    }
}

/// Memory that is given out from its beginning on, until all of it has come back: then it begins anew.
struct Reserve {
    memory: UnsafeCell<[u8; SIZE]>,
    /// How many blocks are out in the upper half, where the next one begins in the lower.
    in_use: AtomicU64,
}

// SAFETY: each block is given to one taker only, as `in_use` moves on in one step.
unsafe impl Sync for Reserve {}

impl Reserve {
    /// For a static: it is larger than many a stack.
    const fn new() -> Self {
        Reserve { memory: UnsafeCell::new([0; SIZE]), in_use: AtomicU64::new(0) }
    }

    fn base(&self) -> *mut u8 {
        self.memory.get().cast()
    }

    fn has(&self, block: *mut u8) -> bool {
        (block as usize).wrapping_sub(self.base() as usize) < SIZE
    }

    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        let mut begin = 0;
        let taken = self.in_use.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |in_use| {
            let at = self.base() as usize + (in_use as u32) as usize;
            begin = at.next_multiple_of(layout.align()) - self.base() as usize;
            let end = begin + layout.size();
            let fits = layout.size() <= SMALL && end <= SIZE;
            fits.then_some(((in_use >> 32) + 1) << 32 | end as u64)
        });
        match taken {
            Ok(_) => self.base().wrapping_add(begin),
            Err(_) => ptr::null_mut(),
        }
    }

    #[cold]
    fn give_back(&self) {
        let less = |in_use: u64| {
            let out = (in_use >> 32) - 1;
            Some(if out == 0 { 0 } else { out << 32 | in_use & u64::from(u32::MAX) })
        };
        // Never refused.
        let _ = self.in_use.fetch_update(Ordering::AcqRel, Ordering::Relaxed, less);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_apart_and_are_aligned() {
        static RESERVE: Reserve = Reserve::new();
        let first = RESERVE.take(Layout::new::<[u8; 3]>());
        let second = RESERVE.take(Layout::new::<u64>());
        assert!(RESERVE.has(first) && RESERVE.has(second));
        assert!((second as usize).is_multiple_of(8) && second as usize >= first as usize + 3);
        assert!(!RESERVE.has(ptr::null_mut()));
    }

    #[test]
    fn it_gives_nothing_large_and_no_more_than_there_is() {
        static RESERVE: Reserve = Reserve::new();
        assert!(RESERVE.take(Layout::new::<[u8; SMALL + 1]>()).is_null());
        for _ in 0..SIZE / SMALL {
            assert!(!RESERVE.take(Layout::new::<[u8; SMALL]>()).is_null());
        }
        assert!(RESERVE.take(Layout::new::<u8>()).is_null());
    }

    #[test]
    fn it_begins_anew_when_all_is_back() {
        static RESERVE: Reserve = Reserve::new();
        let first = RESERVE.take(Layout::new::<u64>());
        RESERVE.take(Layout::new::<u64>());
        RESERVE.give_back();
        assert!(RESERVE.take(Layout::new::<u64>()) > first);
        RESERVE.give_back();
        RESERVE.give_back();
        assert_eq!(RESERVE.take(Layout::new::<u64>()), first);
    }
}
