//! An allocator that notices memory errors of the code under test.
//!
//! During a schedule, what is freed is overwritten and put into quarantine until the schedule has ended, so that it is not given
//! out again. To free it once more is an error; so is an operation of a type of this crate that lies in it; and so are bytes
//! that were changed when it leaves. Who reads it reads the pattern, which is no pointer and hardly ever a value that was meant.
//!
//! Why the unsafe code is sound: memory comes from the allocator of the system and goes back to it with the layout with which it was
//! asked for, at once or later, never twice. It is overwritten and looked at between these two, when by the contract of `dealloc`
//! nobody else may. Allocations of the quarantine itself are not watched, so that there is no recursion.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

/// The allocator; see [`checked_allocator`](crate::checked_allocator).
#[derive(Clone, Copy, Debug)]
pub struct Checked;

/// Lets tests notice double frees and uses of memory that was freed. Once in a test program:
///
/// ```
/// allways_test::checked_allocator!();
/// ```
#[macro_export]
macro_rules! checked_allocator {
    () => {
        #[global_allocator]
        static ALLWAYS_TEST_ALLOCATOR: $crate::alloc::Checked = $crate::alloc::Checked;
    };
}

const PATTERN: u8 = 0xde;
/// As much is kept.
const ROOM: usize = 64 << 20;

static INSTALLED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether a schedule is running.
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    /// Whether its code is, and not that of this crate.
    static WATCHING: Cell<bool> = const { Cell::new(false) };
    static QUARANTINE: RefCell<Quarantine> = const { RefCell::new(Quarantine::new()) };
}

struct Quarantine {
    blocks: BTreeMap<usize, Layout>,
    order: VecDeque<usize>,
    bytes: usize,
    error: Option<String>,
}

impl Quarantine {
    const fn new() -> Quarantine {
        Quarantine { blocks: BTreeMap::new(), order: VecDeque::new(), bytes: 0, error: None }
    }

    fn put(&mut self, pointer: *mut u8, layout: Layout) {
        if self.blocks.contains_key(&pointer.addr()) {
            self.error.get_or_insert_with(|| format!("double free of {} bytes", layout.size()));
            return;
        }
        // SAFETY: the block has this size, and nobody else uses it any more.
        unsafe { pointer.write_bytes(PATTERN, layout.size()) };
        self.blocks.insert(pointer.expose_provenance(), layout);
        self.order.push_back(pointer.addr());
        self.bytes += layout.size();
        while self.bytes > ROOM {
            self.release_oldest();
        }
    }

    fn release_oldest(&mut self) {
        let Some(address) = self.order.pop_front() else { return };
        let Some(layout) = self.blocks.remove(&address) else { return };
        let pointer: *mut u8 = std::ptr::with_exposed_provenance_mut(address);
        self.bytes -= layout.size();
        // SAFETY: the block is ours until the next line gives it back.
        let bytes = unsafe { std::slice::from_raw_parts(pointer, layout.size()) };
        if let Some(place) = bytes.iter().position(|&byte| byte != PATTERN) {
            self.error.get_or_insert_with(|| {
                format!(
                    "use after free: byte {place} of {} bytes was written after they were freed",
                    layout.size()
                )
            });
        }
        // SAFETY: it was allocated with this layout, and is given back once.
        unsafe { System.dealloc(pointer, layout) };
    }
}

/// Works on the quarantine without watching itself.
fn quarantine<R>(act: impl FnOnce(&mut Quarantine) -> R) -> Option<R> {
    let before = WATCHING.replace(false);
    let result = QUARANTINE.try_with(|quarantine| Some(act(&mut *quarantine.try_borrow_mut().ok()?)));
    WATCHING.set(before);
    result.ok().flatten()
}

// SAFETY: see the comment of the file.
unsafe impl GlobalAlloc for Checked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let kept = WATCHING.try_with(Cell::get).unwrap_or(false)
            && quarantine(|quarantine| quarantine.put(pointer, layout)).is_some();
        if !kept {
            // SAFETY: the caller keeps the contract.
            unsafe { System.dealloc(pointer, layout) };
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !WATCHING.try_with(Cell::get).unwrap_or(false) {
            // SAFETY: the caller keeps the contract.
            return unsafe { System.realloc(pointer, layout, size) };
        }
        // SAFETY: the caller keeps the contract, so the size fits the alignment; both blocks are as large as what is copied.
        unsafe {
            let new = System.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                std::ptr::copy_nonoverlapping(pointer, new, layout.size().min(size));
                self.dealloc(pointer, layout);
            }
            new
        }
    }
}

/// Whether the allocator of the program is this one.
fn installed() -> bool {
    static TRIED: std::sync::Once = std::sync::Once::new();
    TRIED.call_once(|| {
        let before = WATCHING.replace(true);
        drop(std::hint::black_box(Box::new(0u64)));
        WATCHING.set(before);
        let noticed = quarantine(|quarantine| {
            let noticed = !quarantine.order.is_empty();
            while !quarantine.order.is_empty() {
                quarantine.release_oldest();
            }
            noticed
        });
        INSTALLED.store(noticed == Some(true), Ordering::Relaxed);
    });
    INSTALLED.load(Ordering::Relaxed)
}

/// A schedule begins.
pub(crate) fn begin() {
    if installed() {
        RUNNING.set(true);
        WATCHING.set(true);
    }
}

/// A schedule has ended: everything is given back. What was found goes to the caller.
pub(crate) fn end() -> Option<String> {
    WATCHING.set(false);
    if !RUNNING.replace(false) {
        return None;
    }
    quarantine(|quarantine| {
        while !quarantine.order.is_empty() {
            quarantine.release_oldest();
        }
        quarantine.error.take()
    })
    .flatten()
}

/// Does something that is not part of the code under test.
pub(crate) fn aside<R>(act: impl FnOnce() -> R) -> R {
    let before = WATCHING.replace(false);
    let result = act();
    WATCHING.set(before && RUNNING.get());
    result
}

/// A type of this crate is used that lies at an address.
#[track_caller]
pub(crate) fn used(address: usize) {
    if !WATCHING.get() || std::thread::panicking() {
        return;
    }
    let freed = quarantine(|quarantine| {
        let (start, layout) = quarantine.blocks.range(..=address).next_back()?;
        (address < start + layout.size()).then_some(layout.size())
    });
    if let Some(Some(size)) = freed {
        panic!("use after free: an operation on an object in {size} bytes that were freed");
    }
}

/// Fails if something was found since the last time.
pub(crate) fn report() {
    if WATCHING.get()
        && !std::thread::panicking()
        && let Some(error) = quarantine(|quarantine| quarantine.error.take()).flatten()
    {
        panic!("{error}");
    }
}
