//! The supervisor: starts the workers of this process, watches the limits for them, and leaves none behind that it need wait
//! for.

use crate::control::{Control, NUMBERS, Stopped};
use crate::exchange::abandon;
use crate::network::{Watchdog, connect};
use crate::work::{Finding, Plan, work};
use allways_engines::Budget;
use allways_engines::budget::{Progress, Spread};
use allways_evidence::StopReason;
use allways_evidence::shards::Digest;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::{Hooks, WorkerGuards};
use timely::execute::execute_from;
use timely::{CommunicationConfig, WorkerConfig};

/// How often limits are looked at.
const LOOK: Duration = Duration::from_millis(10);

/// How long more memory than the limit may be resident if workers have a disk to put states on: it takes them a moment.
const SPILLING: Duration = Duration::from_secs(3);

/// How long workers that were stopped are waited for, and how long connections are given to say the last word.
const GRACE: Duration = Duration::from_secs(2);
const CLOSING: Duration = Duration::from_secs(5);

/// Timely's workers panic, too, when a connection is lost. Whoever watches connections knows more, and may be a little later.
const HEARSAY: Duration = Duration::from_secs(1);

/// How a run ended.
pub struct Ended {
    /// What was found, or why not.
    pub finding: Result<Finding, StopReason>,
    /// How far all processes had come, as far as this one knows: level, states, images, bytes in memory, bytes on disk.
    pub progress: [u64; NUMBERS],
}

type Reported = (usize, Result<Finding, Stopped>);

/// Runs a plan.
pub fn run(plan: Plan, budget: &Budget) -> Ended {
    let settings = plan.settings.clone();
    let (workers, process) = (settings.workers, settings.process());
    let control = Arc::new(Control::new(workers, settings.processes(), process));
    let failed = |reason: StopReason| Ended { finding: Err(reason), progress: [0; NUMBERS] };
    let gave_up = |what: &str, why: &dyn std::fmt::Display| StopReason::GaveUp(format!("{what}: {why}"));
    let mut watchdog = None;
    let (builders, others): (Vec<AllocatorBuilder>, Box<dyn Any + Send>) = match &settings.hosts {
        None => match CommunicationConfig::Process(workers).try_build() {
            Ok(built) => built,
            Err(error) => return failed(gave_up("cannot start workers", &error)),
        },
        Some(hosts) => {
            let mut shown = Digest(plan.task);
            shown.add(format!("{workers} {}", hosts.addresses.len()).as_bytes());
            let mut peers = match connect(hosts, shown.0, budget) {
                Ok(peers) => peers,
                Err(reason) => return failed(reason),
            };
            match Watchdog::start(hosts, &mut peers, &control) {
                Ok(started) => watchdog = Some(started),
                Err(error) => return failed(gave_up("cannot watch other processes", &error)),
            }
            let hooks = Hooks::default();
            let inside = ProcessBuilder::new_typed_vector(workers, hooks.refill.clone(), hooks.spill.clone());
            match initialize_networking_from_sockets(inside, peers.data, process, workers, hooks) {
                Ok((builders, guard)) => {
                    (builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard))
                }
                Err(error) => return failed(gave_up("cannot connect workers", &error)),
            }
        }
    };
    // Workers divide what is left when they start.
    if let Err(reason) = watch(&control, process, workers, budget) {
        control.stop(reason);
    }
    let (sender, receiver) = channel::<Reported>();
    let (inside, plan) = (Arc::clone(&control), Arc::new(plan));
    let started = execute_from(builders, others, WorkerConfig::default(), move |worker| {
        let index = worker.index();
        let done = catch_unwind(AssertUnwindSafe(|| work(worker, &plan, &inside)));
        let done = done.unwrap_or_else(|panic| {
            let connected = plan.settings.hosts.is_some();
            let started = Instant::now();
            while connected && inside.check().is_ok() && started.elapsed() < HEARSAY {
                thread::sleep(LOOK);
            }
            inside.stop(StopReason::GaveUp(format!("worker {index} panicked: {}", message(&*panic))));
            Err(Stopped)
        });
        if done.is_err() {
            abandon(worker);
        }
        // Nobody listens any more if the supervisor has run out of patience.
        let _ = sender.send((index, done));
    });
    let guards = match started {
        Ok(guards) => guards,
        Err(error) => return failed(gave_up("cannot start workers", &error)),
    };
    let mut finding = None;
    let mut left = workers;
    let mut stopped: Option<Instant> = None;
    let mut over: Option<Instant> = None;
    let patience = if settings.spill.is_some() { SPILLING } else { Duration::ZERO };
    while left > 0 {
        match receiver.recv_timeout(LOOK) {
            Ok((_, done)) => {
                left -= 1;
                finding = finding.or(done.ok());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        match watch(&control, process, workers, budget) {
            Ok(()) => over = None,
            Err(StopReason::Memory) if over.get_or_insert_with(Instant::now).elapsed() < patience => {}
            Err(reason) => control.stop(reason),
        }
        if control.check().is_err() && stopped.get_or_insert_with(Instant::now).elapsed() > GRACE {
            break;
        }
    }
    let progress = control.everywhere(process);
    let whole = left == 0 && control.check().is_ok();
    if let Some(watchdog) = watchdog {
        watchdog.leave();
    }
    if whole || (left == 0 && settings.hosts.is_none()) {
        close(guards);
    } else {
        // Threads that wait for somebody who is lost end with the process.
        std::mem::forget(guards);
    }
    let finding = match (finding, control.reason()) {
        (Some(finding), None) => Ok(finding),
        (_, Some(reason)) => Err(reason),
        (None, None) => Err(StopReason::GaveUp("the workers have ended without a word".to_string())),
    };
    Ended { finding, progress }
}

/// Looks at the limits for the workers, and says how far they have come.
fn watch(control: &Control, process: usize, workers: usize, budget: &Budget) -> Result<(), StopReason> {
    if let Some(left) = budget.memory_left() {
        control.set_memory_left(left / workers);
    }
    let [level, states, images, bytes, disk_bytes] = control.everywhere(process);
    let each: Vec<u64> = control.workers.iter().map(|worker| worker.get()[1]).collect();
    let mean = each.iter().sum::<u64>() as f64 / each.len() as f64;
    let largest = each.iter().max().copied().unwrap_or_default() as f64;
    let spread = Spread {
        level,
        bytes_per_worker: bytes / (workers * control.processes.len()) as u64,
        disk_bytes,
        skew: if mean > 0.0 { largest / mean } else { 1.0 },
    };
    let progress = Progress { states: states as usize, images, spread: Some(spread), ..Progress::default() };
    budget.tick(&progress)
}

/// Lets connections send what is left. Whether they could changes nothing any more.
fn close(guards: WorkerGuards<()>) {
    let (sender, receiver) = channel();
    let closing = thread::Builder::new().name("timely:close".to_string()).spawn(move || {
        let _ = catch_unwind(AssertUnwindSafe(|| drop(guards)));
        let _ = sender.send(());
    });
    if closing.is_ok() {
        let _ = receiver.recv_timeout(CLOSING);
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown")
}
