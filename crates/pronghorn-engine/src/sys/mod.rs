//! The operating system: every system call the engine makes is in this folder.
//!
//! Linux is the one backend today. A kqueue backend has to supply [`Selector`] (edge-triggered readiness with a `u64` token),
//! [`Waker`], [`Timer`] and [`send_file`]. What `tcp` tells may be left out; nearly everything else here is POSIX.

mod epoll;
mod file;
mod lock;
mod memory;
mod pages;
mod process;
mod random;
mod reserve;
mod shared_memory;
mod signal_queue;
mod socket;
mod tcp;
mod timer;
mod unix_socket;
mod wait;

pub(crate) use epoll::{Bell, Interest, Ready, Selector, Waker};
pub(crate) use file::{send_file, spare_descriptor, temporary_file, write_all_at};
pub use lock::lock_folder;
pub(crate) use memory::append_lent;
pub use pages::forget_clean_pages;
pub(crate) use process::{
    CLOCK_STEP_MILLIS, has_forked, monotonic_micros, monotonic_millis, raise_descriptor_limit,
    thread_ident, unix_seconds, unix_time,
};
pub use process::{
    exit_now, hold_signals, millis, note_fork, open_standard_streams, release_signals,
    resident_bytes,
};
pub(crate) use random::fill_random;
pub use random::random_number;
pub use reserve::ReservingAllocator;
pub(crate) use reserve::memory_is_short;
pub(crate) use shared_memory::SharedMemory;
pub use signal_queue::SignalQueue;
pub use socket::adopt_descriptor;
pub(crate) use socket::{
    Accepted, Bound, accept, bind_tcp, bound, discard, end_for_all, inherited, peek, recv,
    recv_lent, reset_on_close, send, send_by_number, send_gathered, shutdown_write,
    shutdown_write_by_number,
};
pub(crate) use tcp::{LastHeard, defer_accept, last_heard};
pub(crate) use timer::Timer;
pub(crate) use unix_socket::{SocketFile, bind_unix, is_alive};
pub(crate) use wait::{hung_up, wait_ready};
