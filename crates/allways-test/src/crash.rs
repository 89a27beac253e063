//! What a crash of the process leaves behind: the schedule that was running.
//!
//! A memory error of the code under test ends the process before anything can be reported: SIGSEGV, SIGBUS, SIGILL, SIGFPE,
//! SIGABRT, or a stack that is too small. A handler for these prints the schedule, puts the handler back that was there
//! before, and returns, so that the process ends as it would have.
//!
//! Why the unsafe code is sound: the handler makes system calls (`write`, `sigaction`) that POSIX allows in handlers; it reads
//! a buffer of the thread that has crashed, which has no destructor and no lazy initialisation, is written by that thread only,
//! and is never in a state that is unsafe to read; it neither allocates nor locks.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::fmt::{self, Write};

/// As much of a schedule as is printed.
const ROOM: usize = 1000;

struct Buffer {
    length: Cell<usize>,
    bytes: [Cell<u8>; ROOM],
}

thread_local! {
    /// The schedule that this thread is running, if any.
    static RUNNING: Buffer = const { Buffer { length: Cell::new(0), bytes: [const { Cell::new(0) }; ROOM] } };
}

impl Write for &Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            let length = self.length.get();
            self.bytes.get(length).ok_or(fmt::Error)?.set(byte);
            self.length.set(length + 1);
        }
        Ok(())
    }
}

/// A schedule begins on this thread.
pub(crate) fn begins(schedule: &impl fmt::Display) {
    RUNNING.with(|mut buffer| {
        buffer.length.set(0);
        // A schedule that does not fit is cut off.
        let _ = write!(buffer, "{schedule}");
    });
}

/// No schedule is running on this thread any more.
pub(crate) fn none_runs() {
    RUNNING.with(|buffer| buffer.length.set(0));
}

/// Installs the handler, once for the process.
#[cfg(unix)]
pub(crate) fn watch() {
    static INSTALLED: std::sync::Once = std::sync::Once::new();
    INSTALLED.call_once(|| {
        for (signal, _) in SIGNALS {
            // SAFETY: see the comment of the file; the structures are plain numbers, for which zero is a value.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as *const () as usize;
                action.sa_flags = libc::SA_ONSTACK;
                let mut before: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(signal, &action, &mut before) == 0 {
                    BEFORE[signal as usize].0.set(before);
                }
            }
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn watch() {}

#[cfg(unix)]
const SIGNALS: [(libc::c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGABRT, "SIGABRT"),
];

/// The handlers that were there before. Written once, before the own handler can run for that signal a second time.
#[cfg(unix)]
struct Before(Cell<libc::sigaction>);
// SAFETY: written under `Once`, read by the handler, which copies it.
#[cfg(unix)]
unsafe impl Sync for Before {}
#[cfg(unix)]
// SAFETY: a structure of plain numbers.
static BEFORE: [Before; 32] = [const { Before(Cell::new(unsafe { std::mem::zeroed() })) }; 32];

#[cfg(unix)]
extern "C" fn handler(signal: libc::c_int) {
    let say = |text: &[u8]| {
        // SAFETY: the bytes are there for the length that is given.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    };
    // SAFETY: the number is that of a handler that was installed.
    unsafe { libc::sigaction(signal, &BEFORE[signal as usize].0.get(), std::ptr::null_mut()) };
    RUNNING.with(|buffer| {
        let length = buffer.length.get();
        if length == 0 {
            return;
        }
        let mut schedule = [0; ROOM];
        for (to, from) in schedule.iter_mut().zip(&buffer.bytes[..length]) {
            *to = from.get();
        }
        say(b"\nallways-test: ");
        for (number, name) in SIGNALS {
            if number == signal {
                say(name.as_bytes());
            }
        }
        say(b" during a schedule: a memory error of the code under test, or a stack that is too small (`Check::stack`)\n");
        say(b"  run it again with: ALLWAYS_TEST_REPLAY=");
        say(&schedule[..length]);
        say(b"\n\n");
    });
}
