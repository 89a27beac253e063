//! Checks in processes of their own: a few at a time, one for each session, each within limits, and each can be ended.

use rustix::process::{Pid, Signal, getppid, kill_current_process_group, kill_process_group};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The longest answer, in bytes.
const LONGEST: u64 = 32 << 20;

/// How much longer than its limit a check may take to end by itself.
const GRACE: Duration = Duration::from_secs(3);

/// How often the client, the clock and the cancel button are looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What a check may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long.
    pub time: Duration,
    /// How much memory, in bytes.
    pub memory: usize,
}

/// What is to be checked.
#[derive(Default)]
pub struct Order {
    /// The text.
    pub program: Vec<u8>,
    /// Its notation, by the ending of its files; the `.aw` language if none is given.
    pub notation: Option<&'static str>,
    /// The file that has the text, if others beside it belong to it.
    pub file: Option<PathBuf>,
    /// Where rules start, as `--init` takes it.
    pub init: Option<String>,
    /// What rules must avoid, as `--target` takes it.
    pub targets: Vec<String>,
    /// How many threads, as `--threads` takes it.
    pub threads: Option<String>,
    /// Whether deadlocks are looked for, too.
    pub deadlock: bool,
    /// How long it may take, if that is less than the limit.
    pub time: Option<Duration>,
}

/// What became of it.
pub enum Outcome {
    /// The answer, as JSON.
    Done(Vec<u8>),
    /// A check of the same session is running.
    Busy,
    /// The user has cancelled it, or has gone.
    Cancelled,
    /// There is no answer.
    Failed(String),
}

/// All checks.
pub struct Jobs {
    program: PathBuf,
    limits: Limits,
    /// Sessions with a check that waits or runs, and whether it is to end.
    sessions: Mutex<HashMap<String, Arc<AtomicBool>>>,
    /// How many more may run.
    free: Mutex<usize>,
    freed: Condvar,
    stopped: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    /// Checks that are done by this program, within these limits.
    pub fn new(program: PathBuf, limits: Limits) -> Jobs {
        let free = thread::available_parallelism().map_or(2, |number| number.get().max(2));
        Jobs {
            program,
            limits,
            sessions: Mutex::default(),
            free: Mutex::new(free),
            freed: Condvar::new(),
            stopped: AtomicBool::new(false),
        }
    }

    /// What a check may take.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Ends the check of a session; whether there was one.
    pub fn cancel(&self, session: &str) -> bool {
        let sessions = lock(&self.sessions);
        let running = sessions.get(session);
        running.inspect(|end| end.store(true, Ordering::Release)).is_some()
    }

    /// Ends all checks, and lets none start.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        let started = Instant::now();
        while !lock(&self.sessions).is_empty() && started.elapsed() < GRACE {
            thread::sleep(LOOK);
        }
    }

    /// Has something checked; `gone`: whether nobody waits for it any more.
    pub fn run(&self, session: &str, order: &Order, gone: &dyn Fn() -> bool) -> Outcome {
        let end = Arc::new(AtomicBool::new(false));
        {
            let mut sessions = lock(&self.sessions);
            if sessions.contains_key(session) {
                return Outcome::Busy;
            }
            sessions.insert(session.to_string(), end.clone());
        }
        let over = || end.load(Ordering::Acquire) || self.stopped.load(Ordering::Acquire) || gone();
        let mut place = Place { jobs: self, session, runs: false };
        place.runs = self.turn(&over);
        if place.runs { self.checked(order, &over) } else { Outcome::Cancelled }
    }

    /// Waits until there is room; not if it is over before.
    fn turn(&self, over: &dyn Fn() -> bool) -> bool {
        let mut free = lock(&self.free);
        while *free == 0 {
            let waited = self.freed.wait_timeout(free, 5 * LOOK);
            free = waited.unwrap_or_else(PoisonError::into_inner).0;
            if *free == 0 && over() {
                return false;
            }
        }
        *free -= 1;
        true
    }

    fn checked(&self, order: &Order, over: &dyn Fn() -> bool) -> Outcome {
        let time = order.time.map_or(self.limits.time, |time| time.min(self.limits.time));
        let mut command = Command::new(&self.program);
        command.args(["check", "--story"]);
        command.arg(format!("--asked-by={}", std::process::id()));
        command.arg(format!("--timeout={}ms", time.as_millis()));
        command.arg(format!("--memory={}", self.limits.memory));
        command.args(order.threads.iter().map(|threads| format!("--threads={threads}")));
        command.args(order.deadlock.then_some("--deadlock"));
        command.args(order.notation.iter().map(|notation| format!("--notation={notation}")));
        command.args(order.init.iter().map(|init| format!("--init={init}")));
        command.args(order.targets.iter().map(|target| format!("--target={target}")));
        match &order.file {
            Some(file) => command.arg("--").arg(file),
            None => command.arg("-"),
        };
        // Solvers that it starts end with it.
        command.process_group(0).env_remove("GITHUB_ACTIONS");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = Instant::now();
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Outcome::Failed(format!("the check cannot be started: {error}")),
        };
        bound(&child, self.limits.memory);
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let ending = Ending(child);
        thread::scope(|scope| {
            scope.spawn(|| input.map(|mut input| input.write_all(&order.program)));
            let reading = scope.spawn(|| {
                let mut bytes = Vec::new();
                let read = output.map(|output| output.take(LONGEST + 1).read_to_end(&mut bytes));
                (matches!(read, Some(Ok(_))) && bytes.len() as u64 <= LONGEST).then_some(bytes)
            });
            let mut cancelled = false;
            while !reading.is_finished() {
                if over() {
                    cancelled = true;
                    break;
                }
                if started.elapsed() > time.saturating_add(GRACE) {
                    break;
                }
                let quick = started.elapsed() < 5 * LOOK;
                thread::sleep(if quick { Duration::from_millis(1) } else { LOOK });
            }
            let late = !reading.is_finished();
            drop(ending);
            match reading.join() {
                _ if cancelled => Outcome::Cancelled,
                _ if late => Outcome::Failed("the check did not end in time, and was ended".to_string()),
                Ok(Some(bytes)) if serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok() => {
                    Outcome::Done(bytes)
                }
                Ok(Some(_)) => Outcome::Failed("the check ended without an answer".to_string()),
                _ => Outcome::Failed("the answer is too long to be shown".to_string()),
            }
        })
    }
}

/// The place of a check, which is free again however the check ends.
struct Place<'a> {
    jobs: &'a Jobs,
    session: &'a str,
    /// Whether it is one of those that run.
    runs: bool,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.runs {
            *lock(&self.jobs.free) += 1;
            self.jobs.freed.notify_one();
        }
        lock(&self.jobs.sessions).remove(self.session);
    }
}

/// A process that is ended, with all that it has started, when nobody waits for it any more.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

/// A check looks at its memory itself; what it starts, such as a preprocessor, does not. So neither may ask the system for several times as
/// much.
fn bound(child: &Child, memory: usize) {
    #[cfg(target_os = "linux")]
    if let Some(process) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let most = (memory as u64).saturating_mul(4).saturating_add(2 << 30);
        let limit = rustix::process::Rlimit { current: Some(most), maximum: Some(most) };
        let _ = rustix::process::prlimit(Some(process), rustix::process::Resource::As, limit);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (child, memory);
}

/// Of a check that was started here: ends it, with all that it has started, as soon as the process that asked for it has ended,
/// however that was.
pub fn end_with(asked_by: i32) {
    let watch = move || {
        while getppid().map(Pid::as_raw_pid) == Some(asked_by) {
            thread::sleep(5 * LOOK);
        }
        let _ = kill_current_process_group(Signal::KILL);
    };
    // Without the thread, the limit on its time ends it.
    let _ = thread::Builder::new().stack_size(64 << 10).spawn(watch);
}
