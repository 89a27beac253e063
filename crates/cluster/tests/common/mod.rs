//! What is asked in the tests, and how it is answered.

// Each test file is a crate of its own and uses some of this.
#![allow(dead_code)]

use allways_cluster::{Cluster, Hosts, Settings};
use allways_engines::below::free::Free;
use allways_engines::confirm::confirm;
use allways_engines::{Budget, Engine, Forms, Outcome, Question};
use allways_evidence::{Counterexample, StopReason, Verdict};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{Explicit, Shared, Symbol};
use allways_model::task::{Model, Task};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

/// As much of an answer as must not depend on who gives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    Safe { states: usize },
    Unsafe { steps: usize },
    Bound { states: usize },
    Unknown(StopReason),
}

impl Said {
    /// Confirms an outcome first, as a check does.
    pub fn of(forms: &Forms, mut outcome: Outcome) -> Said {
        assert!(outcome.rejected.is_none(), "{:?}", outcome.rejected);
        confirm(forms, &mut outcome, &Budget::unlimited());
        assert!(outcome.rejected.is_none(), "{:?}", outcome.rejected);
        let states = outcome.figures.concrete_states.unwrap_or_default();
        match outcome.verdict {
            Verdict::Safe(_) => Said::Safe { states },
            Verdict::Unsafe(Counterexample::Trace(trace)) => Said::Unsafe { steps: trace.steps.len() },
            Verdict::Unsafe(_) => panic!("no counter system, and no promise of progress"),
            Verdict::Unknown(StopReason::Bound(_)) => Said::Bound { states },
            Verdict::Unknown(reason) => Said::Unknown(reason),
        }
    }

    /// Which kind it is.
    pub fn kind(&self) -> usize {
        match self {
            Said::Safe { .. } => 0,
            Said::Unsafe { .. } => 1,
            Said::Bound { .. } => 2,
            Said::Unknown(reason) => panic!("{reason}"),
        }
    }
}

/// A property of a random system: nothing, a visible state, or deadlocks.
pub fn property(seed: u64, system: &Explicit) -> Property {
    let number =
        |shift: u32, below: u32| ((seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as u32) % below;
    match seed % 4 {
        0 => Property::default(),
        1 => Property { deadlock: true, ..Property::default() },
        _ => {
            let top = |thread: usize| match number(8 + 4 * thread as u32, 5) {
                4 => None,
                symbol => Some(Symbol(symbol)),
            };
            let shared = (!seed.is_multiple_of(3)).then(|| Shared(number(40, system.shared_states)));
            let tops = (0..system.threads.len()).map(top).collect();
            Property { bad: vec![Pattern { shared, tops }], deadlock: false }
        }
    }
}

/// What is asked of a random system.
pub fn question(seed: u64) -> Question {
    Question { max_depth: Some(3), no_symmetry: seed.is_multiple_of(2), ..Question::default() }
}

/// The task of a system.
pub fn task(system: Explicit, property: Property) -> Task {
    Task { property, ..Task::new(Model::Rules(Arc::new(system))) }
}

/// What `free` says.
pub fn by_free(task: &Task, question: &Question) -> Said {
    let forms = Forms::new(task, question);
    Said::of(&forms, Free.run(&forms, &Budget::unlimited()))
}

/// What so many workers of this process say.
pub fn in_threads(task: &Task, question: &Question, workers: usize) -> Said {
    with(task, question, Settings::threads(workers))
}

/// What workers with these settings say.
pub fn with(task: &Task, question: &Question, settings: Settings) -> Said {
    let forms = Forms::new(task, question);
    Said::of(&forms, Cluster::new(settings).run(&forms, &Budget::unlimited()))
}

/// Addresses at which nobody listens.
pub fn addresses(count: usize) -> Vec<String> {
    let taken: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    taken.iter().map(|taken| taken.local_addr().expect("an address").to_string()).collect()
}

/// What each of so many processes says that are connected as over a network. Here they are threads of one, which share
/// nothing but connections.
pub fn behind_connections(task: &Task, question: &Question, processes: usize, workers: usize) -> Vec<Said> {
    let addresses = addresses(processes);
    thread::scope(|scope| {
        let start = |process: usize| {
            let hosts = Some(Hosts { addresses: addresses.clone(), process });
            let settings = Settings { hosts, ..Settings::threads(workers) };
            scope.spawn(move || with(task, question, settings))
        };
        let started: Vec<_> = (0..processes).map(start).collect();
        started.into_iter().map(|process| process.join().expect("it does not panic")).collect()
    })
}

/// An empty folder for the files of a test.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
