//! Systematic tests of concurrent Rust code: every schedule with 0, then 1, then 2, … delays.
//!
//! Write the test with the types of [shuttle](https://github.com/awslabs/shuttle) in place of those of `std`, and hand it to
//! [`check`]. Tasks take turns in a fixed order; a *delay* holds back the task whose turn it is. With few delays there are
//! few schedules, most bugs need few, and the failure that is found is explained by the fewest. When no delay is left to
//! place, every schedule has been explored, and the report says so.
//!
//! ```should_panic
//! use shuttle::{sync::Arc, sync::atomic::{AtomicUsize, Ordering::SeqCst}, thread};
//!
//! allways_test::check(|| {
//!     let total = Arc::new(AtomicUsize::new(0));
//!     let other = Arc::clone(&total);
//!     let adder = thread::spawn(move || {
//!         let seen = other.load(SeqCst);
//!         other.store(seen + 1, SeqCst);
//!     });
//!     let seen = total.load(SeqCst);
//!     total.store(seen + 1, SeqCst);
//!     adder.join().unwrap();
//!     assert_eq!(total.load(SeqCst), 2); // fails with 1 delay
//! });
//! ```
//!
//! The method is that of Emmi, Qadeer and Rakamarić, *Delay-Bounded Scheduling* (MSR-TR-2010-123), section 3.1 and 4.
//!
//! # What a pass means
//!
//! The [`Report`] names what was explored. Even [`Outcome::EverySchedule`] is about the model: memory is sequentially
//! consistent, time-outs never fire, condition variables do not wake up spuriously, a panic in any thread ends the test,
//! and threads switch at operations of shuttle's types only. What the test does with `std` types, files or clocks is not
//! scheduled; if that makes schedules behave differently from one time to the next, the report is
//! [`Outcome::Diverged`], as far as it can be noticed.

// Read in this order: tree, round_robin, fairness, walk, execution, session, scheduler; then recording, location, picture, replay, quiet, meeting, crash, report, driver, check.
pub mod alloc;
pub mod cell;
pub mod future;
pub mod hint;
pub mod sync;
pub mod thread;

mod axioms;
mod check;
mod crash;
mod driver;
mod execution;
mod facade;
mod fairness;
mod files;
mod location;
mod meeting;
mod memory;
mod operation;
mod page;
mod parallel;
mod picture;
mod quiet;
mod recording;
mod replay;
mod report;
mod round_robin;
mod scheduler;
mod session;
mod settings;
mod tree;
mod view;
mod walk;
mod world;

pub use check::Check;
/// The version of shuttle whose types are scheduled here; with another one in the test, nothing is.
pub use shuttle;

pub use report::{ASSUMPTIONS, Delay, Failure, FailureKind, Outcome, Report, StopReason, WEAK_ASSUMPTIONS};

/// Runs the test under all schedules with 0, then 1, then 2, … delays, within the limits of [`Check::new`].
///
/// # Panics
/// If a schedule fails; the message has the delays, a schedule for [`replay`](replay()), and the interleaving.
#[track_caller]
pub fn check<F>(test: F)
where
    F: Fn() + Send + Sync + 'static,
{
    Check::new().run(test);
}

/// Like [`check`], but never panics: everything is in the report.
///
/// ```
/// let report = allways_test::explore(|| {
///     let lock = std::sync::Arc::new(shuttle::sync::Mutex::new(0));
///     let there = lock.clone();
///     let other = shuttle::thread::spawn(move || *there.lock().unwrap() += 1);
///     *lock.lock().unwrap() += 1;
///     other.join().unwrap();
/// });
/// assert!(report.every_schedule());
/// ```
pub fn explore<F>(test: F) -> Report
where
    F: Fn() + Send + Sync + 'static,
{
    Check::new().explore(test)
}

/// Runs one schedule, the one that a failure has printed.
///
/// # Panics
/// If the schedule fails, as it should; if the text is not a schedule; or if it does not fit the program.
#[track_caller]
pub fn replay<F>(schedule: &str, test: F)
where
    F: Fn() + Send + Sync + 'static,
{
    Check::new().replay(schedule, test);
}

/// One of so many alternatives, counted from 0: what a test, or what it uses, leaves to chance. All are tried; each but the first costs
/// a delay. Outside of a check it is the first.
///
/// ```
/// use allways_test::{Check, choose, thread};
///
/// let report = Check::new().explore(|| {
///     let other = thread::spawn(|| choose(3));
///     assert_ne!(other.join().unwrap(), 2);
/// });
/// assert_eq!(report.failure().unwrap().delays, 2);
/// ```
pub fn choose(alternatives: usize) -> usize {
    facade::execution(|execution| execution.decide(alternatives)).unwrap_or(0)
}

/// The examples of the guide are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/testing-rust.md")]
pub struct Guide;

/// So is that of the front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct FrontPage;
