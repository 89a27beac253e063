//! Panics of the code under test are noted, not printed: a failure is reported once, after it has been explained.
//!
//! Panic hooks belong to the whole process. Ours is installed once and passes on every panic except those of executions
//! that this crate runs, on the thread that runs them. Shuttle does the same with a hook that prints; to stay in front of
//! it, shuttle is made to install its own first. What this crate reports itself goes around shuttle's hook, which would
//! say that a task has failed.

use crate::location::plain;
use shuttle::scheduler::RoundRobinScheduler;
use shuttle::{Config, Runner};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};

thread_local! {
    /// The panics so far, message and place, while they are noted.
    static NOTED: RefCell<Option<Vec<(String, String)>>> = const { RefCell::new(None) };
    /// Whether the next panic is a report of this crate.
    static REPORTING: Cell<bool> = const { Cell::new(false) };
}

/// A panic that ended an execution.
#[derive(Clone, Debug)]
pub(crate) struct Panic {
    pub message: String,
    /// `file:line:column`, unless it is a place inside shuttle.
    pub place: Option<String>,
}

impl Panic {
    /// Whether another panic is the same one. Messages may contain what differs each time, such as addresses.
    pub fn is_like(&self, other: &Panic) -> bool {
        self.place == other.place && (self.place.is_some() || self.message == other.message)
    }
}

/// Runs `executions`, quietly.
pub(crate) fn catch(executions: impl FnOnce()) -> Result<(), Panic> {
    install();
    let before = NOTED.replace(Some(Vec::new()));
    let result = catch_unwind(AssertUnwindSafe(executions));
    let noted = NOTED.replace(before).unwrap_or_default();
    result.map_err(|payload| {
        let message = message(&*payload).to_string();
        let place = noted
            .into_iter()
            .find(|(noted, place)| *noted == message && !place.contains("shuttle-engine-"))
            .map(|(_, place)| plain(&place));
        Panic { message, place }
    })
}

fn message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}

/// Panics with a report.
#[track_caller]
pub(crate) fn fail(report: String) -> ! {
    install();
    REPORTING.set(true);
    panic!("{report}");
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = Arc::new(take_hook());
        let original = Arc::clone(&before);
        set_hook(Box::new(move |info| before(info)));
        Runner::new(RoundRobinScheduler::new(1), Config::new()).run(|| {});
        let shuttles = take_hook();
        set_hook(Box::new(move |info| {
            let noted = NOTED.with(|noted| match noted.try_borrow_mut().as_deref_mut() {
                Ok(Some(list)) => {
                    let place = info.location().map(ToString::to_string).unwrap_or_default();
                    list.push((message(info.payload()).to_string(), place));
                    true
                }
                _ => false,
            });
            if REPORTING.take() {
                original(info);
            } else if !noted {
                shuttles(info);
            }
        }));
    });
}
