//! Limits on a run: time, memory, and the user's patience.

use super::progress::ProgressLine;
use crate::load::LoadError;
use allways_engines::{Budget, Progress};
use allways_evidence::StopReason;
use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::fs;
use std::io::Read;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Set by the first interruption.
static INTERRUPT: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The limits that can be asked for.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Stop after this long, such as 60s, 500ms, 2m or 1h; for each file.
    #[arg(long, value_name = "TIME", value_parser = read_duration, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// Stop when this much memory is resident, such as 4G or 500M; if not given, four fifths of what is available.
    #[arg(long, value_name = "SIZE", value_parser = read_bytes, allow_hyphen_values = true)]
    pub memory: Option<usize>,
}

impl Limits {
    /// These where they are given, else others.
    pub fn or(self, others: Limits) -> Limits {
        Limits { timeout: self.timeout.or(others.timeout), memory: self.memory.or(others.memory) }
    }
}

/// One run under limits.
pub struct Session {
    started: Instant,
    limits: Limits,
    meter: Meter,
    /// What may be used if no limit is given, where that is known.
    available: Option<usize>,
    progress: Option<ProgressLine>,
    /// How many states were stored when, if that is wanted.
    growth: Option<Mutex<Growth>>,
    /// The thread that did the last piece of work and waits for the next: to start one takes longer than a small check.
    idle: Mutex<Option<Worker>>,
}

/// A thread that does one piece of work after the other.
struct Worker {
    jobs: Sender<Box<dyn FnOnce() + Send>>,
    thread: JoinHandle<()>,
}

impl Worker {
    fn start() -> Worker {
        const STACK: usize = 64 << 20;
        let (jobs, waiting) = channel::<Box<dyn FnOnce() + Send>>();
        let work = move || waiting.iter().for_each(|job| job());
        let thread = thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread can be started");
        Worker { jobs, thread }
    }
}

impl Session {
    /// A run that started then. `progress`: whether to show it, if there is a terminal.
    pub fn new(started: Instant, limits: Limits, progress: bool) -> Session {
        let available = available().map(|bytes| bytes / 5 * 4);
        let progress = ProgressLine::new(progress);
        let (meter, idle) = (Meter::new(), Mutex::new(None));
        Session { started, limits, meter, available, progress, growth: None, idle }
    }

    /// The same, and notes how many states are stored when.
    pub fn noting_growth(self, wanted: bool) -> Session {
        Session { growth: wanted.then(Mutex::default), ..self }
    }

    /// States stored after so many seconds: the most of any engine at a time.
    pub fn growth(&self) -> Vec<(f64, usize)> {
        let growth = self.growth.as_ref().map(|growth| growth.lock().unwrap_or_else(PoisonError::into_inner));
        growth.map(|growth| growth.samples.clone()).unwrap_or_default()
    }

    /// From now on an interruption (Ctrl-C, or a request to terminate) is noted by the [`Budget`]; a second one ends the process.
    pub fn heed_interruptions() {
        // A second handler would take the first interruption for the second.
        static ONCE: Once = Once::new();
        ONCE.call_once(Session::handle_signals);
    }

    fn handle_signals() {
        let status = i32::from(super::Exit::Interrupted.code());
        for signal in [SIGINT, SIGTERM] {
            // The order counts: the first signal finds the flag unset. Without a handler a signal ends the process, which is right
            // as well.
            let _ = flag::register_conditional_shutdown(signal, status, Arc::clone(&INTERRUPT));
            let _ = flag::register(signal, Arc::clone(&INTERRUPT));
        }
    }

    /// Whether an interruption was noted.
    pub fn is_interrupted() -> bool {
        INTERRUPT.load(Ordering::Relaxed)
    }

    /// Does something under the limits, and removes the line of progress afterwards.
    pub fn budgeted<T>(&self, work: impl FnOnce(&Budget) -> T) -> T {
        let tell = |progress: &Progress| {
            if let Some(line) = &self.progress {
                line.show(progress, self.started.elapsed(), self.meter.resident());
            }
            if let Some(Ok(mut growth)) = self.growth.as_ref().map(Mutex::try_lock) {
                growth.note(self.started.elapsed().as_secs_f64(), progress.states);
            }
        };
        let used = || self.meter.resident();
        let budget = Budget::unlimited()
            .lasting(self.started, self.limits.timeout)
            .with_memory(self.limits.memory.or(self.available), &used)
            .watched_by(&tell)
            .interrupted_by(&INTERRUPT);
        let result = work(&budget);
        if let Some(line) = &self.progress {
            line.erase();
        }
        result
    }

    /// Reads something under the limits, in a thread of its own: readers of texts do not look at limits, and a pipe may
    /// never answer. A reader that is too slow is left behind, to end with the process.
    pub fn reading<T, E>(&self, read: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<LoadError> + Send + 'static,
    {
        let late = |_: &StopReason| Duration::ZERO;
        self.apart(late, |sender| drop(sender.send(read()))).map_err(LoadError::Stopped)?
    }

    /// Does something that looks at the limits itself, in a thread of its own, up to when it sends its result. If it is far too
    /// late, since a single step of it takes long, it is left behind.
    pub fn working<T: Send + 'static>(
        &self,
        work: impl FnOnce(Sender<T>) + Send + 'static,
    ) -> Result<T, StopReason> {
        let late = |reason: &StopReason| match (reason, self.limits.timeout) {
            (StopReason::Time, Some(timeout)) => Duration::from_millis(300).max(timeout * 3 / 100),
            _ => Duration::from_secs(10),
        };
        self.apart(late, work)
    }

    /// Does something in a thread of its own, and waits for it until the limits are passed, and then for so long.
    fn apart<T: Send + 'static>(
        &self,
        late: impl Fn(&StopReason) -> Duration,
        work: impl FnOnce(Sender<T>) + Send + 'static,
    ) -> Result<T, StopReason> {
        // A result wakes this thread up; what it looks at meanwhile is the limits, and most checks take less than this.
        const LOOK: Duration = Duration::from_millis(10);
        const SELDOM: Duration = Duration::from_millis(50);
        let (sender, receiver) = channel();
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = idle().take().unwrap_or_else(Worker::start);
        worker.jobs.send(Box::new(move || work(sender))).expect("a worker that is idle has not ended");
        let started = Instant::now();
        let mut passed = None;
        self.budgeted(|budget| {
            loop {
                match budget.check() {
                    // Memory may have been freed since.
                    Ok(()) => passed = None,
                    Err(reason) => {
                        let since = *passed.get_or_insert_with(Instant::now);
                        if since.elapsed() >= late(&reason) {
                            return Err(reason);
                        }
                    }
                }
                match receiver.recv_timeout((started.elapsed() / 16).clamp(LOOK, SELDOM)) {
                    Ok(result) => {
                        *idle() = Some(worker);
                        return Ok(result);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            drop(worker.jobs);
            match worker.thread.join() {
                Err(panic) => panic::resume_unwind(panic),
                Ok(()) => unreachable!("work that does not panic sends its result"),
            }
        })
    }

    /// How long it has taken up to now.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The largest resident set up to now, in bytes.
    pub fn peak(&self) -> usize {
        self.meter.peak()
    }
}

/// How many states were stored when. Invariant: at most [`Growth::MOST`] samples, `apart` seconds or more from each other.
#[derive(Default)]
struct Growth {
    samples: Vec<(f64, usize)>,
    apart: f64,
}

impl Growth {
    const MOST: usize = 256;

    fn note(&mut self, seconds: f64, states: usize) {
        match self.samples.last_mut() {
            Some((last, most)) if seconds < *last + self.apart => *most = states.max(*most),
            _ => self.samples.push((seconds, states)),
        }
        if self.samples.len() > Growth::MOST {
            let mut even = false;
            self.samples.retain(|_| {
                even = !even;
                even
            });
            self.apart = (2.0 * self.apart).max(seconds / Growth::MOST as f64);
        }
    }
}

/// How much memory the process uses. Asking the system costs some microseconds, so an answer is good for a millisecond.
struct Meter {
    started: Instant,
    read_at: AtomicU64,
    resident: AtomicUsize,
    largest: AtomicUsize,
}

impl Meter {
    const STALE: u64 = 1_000;

    fn new() -> Meter {
        // Linux then starts to measure the peak anew: what earlier files took is not this one's.
        let _ = fs::write("/proc/self/clear_refs", "5");
        let meter = Meter {
            started: Instant::now(),
            read_at: AtomicU64::new(0),
            resident: AtomicUsize::new(0),
            largest: AtomicUsize::new(0),
        };
        meter.measure();
        meter
    }

    fn measure(&self) -> usize {
        let resident = memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem);
        self.resident.store(resident, Ordering::Relaxed);
        self.largest.fetch_max(resident, Ordering::Relaxed);
        resident
    }

    fn resident(&self) -> usize {
        let now = self.started.elapsed().as_micros() as u64;
        if now < self.read_at.load(Ordering::Relaxed) + Meter::STALE {
            return self.resident.load(Ordering::Relaxed);
        }
        self.read_at.store(now, Ordering::Relaxed);
        self.measure()
    }

    fn peak(&self) -> usize {
        let status = read_at_once("/proc/self/status").unwrap_or_default();
        let kilobytes =
            status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next());
        let reported =
            kilobytes.and_then(|number| number.parse::<usize>().ok()).map_or(0, |number| number << 10);
        self.measure();
        reported.max(self.largest.load(Ordering::Relaxed))
    }
}

/// What the system says in a file of a page at most. Its length is not known before, and to ask for it piece by piece takes as
/// long as a part of a small check.
fn read_at_once(path: &str) -> Option<String> {
    let mut page = [0; 4096];
    let length = fs::File::open(path).and_then(|mut file| file.read(&mut page)).ok()?;
    String::from_utf8(page[..length].to_vec()).ok()
}

/// How much memory can be had without swapping, where the system says so.
fn available() -> Option<usize> {
    let information = read_at_once("/proc/meminfo")?;
    let kilobytes = information.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    kilobytes.split_whitespace().next()?.parse::<usize>().ok()?.checked_mul(1024)
}

/// `60s`, `500ms`, `2m`, `1.5h`; a bare number is seconds.
pub fn read_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_number(text);
    let seconds = match unit {
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 60s, 500ms, 2m or 1h".to_string()),
    };
    let number = number.ok_or("expected a time such as 60s, 500ms, 2m or 1h")?;
    // Longer than any run.
    Ok(Duration::try_from_secs_f64(number * seconds).unwrap_or(Duration::MAX))
}

/// `4G`, `500M`, `64k`; a bare number is bytes.
pub fn read_bytes(text: &str) -> Result<usize, String> {
    let (number, unit) = split_number(text);
    let power = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err("expected a size such as 4G, 500M or 64k".to_string()),
    };
    let number = number.ok_or("expected a size such as 4G, 500M or 64k")?;
    // The conversion saturates: more than there can be is no limit.
    Ok((number * (1_u64 << power) as f64) as usize)
}

/// A number without sign or exponent, and what follows it.
fn split_number(text: &str) -> (Option<f64>, &str) {
    let end =
        text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    (text[..end].parse().ok(), text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let good =
            [("60s", 60_000), ("500ms", 500), ("2m", 120_000), ("1.5h", 5_400_000), ("0s", 0), ("7", 7_000)];
        for (text, milliseconds) in good {
            assert_eq!(read_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        assert_eq!(read_duration(&format!("{}h", "9".repeat(400))), Ok(Duration::MAX));
        for text in ["", "s", "-1s", "1e3s", "nan", "inf", "1d", "1.2.3s", ".", "1 2s", "十s"] {
            assert!(read_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        let good = [
            ("4G", 4 << 30),
            ("500M", 500 << 20),
            ("64k", 64 << 10),
            ("1.5GiB", 3 << 29),
            ("12", 12),
            ("2MB", 2 << 20),
        ];
        for (text, bytes) in good {
            assert_eq!(read_bytes(text), Ok(bytes), "{text}");
        }
        assert_eq!(read_bytes("99999999999999999999T"), Ok(usize::MAX));
        for text in ["", "G", "-1G", "1e3", "4X", "4i", "4GG", "nan"] {
            assert!(read_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn growth_is_noted_with_few_samples() {
        let mut growth = Growth::default();
        for tick in 0..100_000 {
            growth.note(f64::from(tick) / 1000.0, tick as usize);
        }
        assert!(
            (Growth::MOST / 4..=Growth::MOST).contains(&growth.samples.len()),
            "{}",
            growth.samples.len()
        );
        assert!(growth.samples.is_sorted_by(|one, other| one.0 < other.0 && one.1 < other.1));
        assert!(growth.samples.last().is_some_and(|(seconds, _)| *seconds > 95.0));
    }

    #[test]
    fn memory_is_measured() {
        let meter = Meter::new();
        assert!(meter.resident() > 100 << 10);
        assert!(meter.peak() >= meter.resident());
    }
}
