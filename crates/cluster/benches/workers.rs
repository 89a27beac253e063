//! What workers take on the wheel: `cargo bench -p allways-cluster --bench workers -- [LARGEST] [COST] [SMALLEST]`.
//!
//! A wheel of `n` threads with `k` symbols each has (k+1)^n states, all different in what is visible. States a second and bytes
//! a state of `free` and of one and two workers, search alone and with the check of what was found, from 10^5 states up to
//! `LARGEST` (10^7 if not given). With `COST`, rules are dearer: each state takes so many microseconds more. Beside the time on
//! the clock there is the processor time of search and check together, since the machine may have other things to do.
//!
//! With `SPILL=DIR` in the environment, two workers do it once more with a tenth of the memory that the states of one worker took,
//! for the whole process, and the rest on disk: bytes a state are then those on disk, and the most that was resident is printed.

use allways_cluster::run::{Ended, run};
use allways_cluster::work::{Claim, Job, Plan};
use allways_cluster::{Settings, Spill};
use allways_engines::below::free;
use allways_engines::engine::Share;
use allways_engines::store::Space;
use allways_engines::{Budget, Question};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{Explicit, Pushdown, Rule, Shared, State, Symbol};
use allways_model::symmetry::Kinds;
use allways_testkit::{corpus, families};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<f64>().ok());
    let largest = numbers.next().unwrap_or(1e7);
    let cost = Duration::from_secs_f64(numbers.next().unwrap_or_default() * 1e-6);
    let smallest = numbers.next().unwrap_or_default();
    println!(
        "{:12} {:>12} {:>10} {:>9} {:>9} {:>9} {:>11} {:>8} {:>6}",
        "system", "states", "by", "search s", "check s", "cpu s", "M states/s", "B/state", "skew"
    );
    for (threads, k) in [(5, 8), (5, 12), (6, 8), (6, 12), (6, 16), (5, 40)] {
        let states = f64::from(k + 1).powi(threads);
        if states > largest || states < smallest {
            continue;
        }
        measure(threads as usize, k as u32, states, cost);
    }
}

fn measure(threads: usize, k: u32, states: f64, cost: Duration) {
    let family = families::wheel(threads, k);
    let system = corpus::system(family.pds.as_bytes(), family.init.as_bytes());
    let row = |by: &str, search: f64, check: f64, processor: f64, bytes: f64, skew: f64| {
        let (name, rate) = (format!("wheel({threads},{k})"), states / search / 1e6);
        let size = bytes / states;
        println!(
            "{name:12} {states:>12} {by:>10} {search:>9.2} {check:>9.2} {processor:>9.2} {rate:>11.2} {size:>8.1} {skew:>6.3}"
        );
    };
    let kinds = Kinds::distinct(threads);
    let property = Property { bad: vec![unreachable(threads)], deadlock: !cost.is_zero() };
    let system: Arc<dyn Pushdown + Send + Sync> = Arc::new(Dear { system, cost });
    let question = Question { no_symmetry: true, property: property.clone(), ..Question::default() };
    let budget = Budget::unlimited();
    let (start, before) = (Instant::now(), processor_time());
    let mut space = Space::unobserved(&*system, kinds.clone(), &question, &budget);
    free::explore(&mut space).expect("no limits");
    assert_eq!(space.len() as f64, states);
    let took = start.elapsed().as_secs_f64();
    row("free", took, 0.0, processor_time() - before, space.bytes() as f64, 1.0);
    drop(space);
    let peak = AtomicUsize::new(0);
    let used = || {
        let now = resident();
        peak.fetch_max(now, Ordering::Relaxed);
        now
    };
    let mut needed = 0.0;
    let disk = std::env::var_os("SPILL").map(|folder| Spill { folder: folder.into(), states: None });
    let runs = [Some((1, None)), Some((2, None)), disk.map(|disk| (2, Some(disk)))];
    for (workers, spill) in runs.into_iter().flatten() {
        let on_disk = spill.is_some();
        let plan = Plan {
            system: system.clone(),
            property: property.clone(),
            kinds: kinds.clone(),
            max_depth: None,
            task: 0,
            settings: Settings { spill, ..Settings::threads(workers) },
            job: Job::Search,
        };
        let budget = match on_disk {
            true => Budget::unlimited().with_memory(Some((needed / 10.0) as usize), &used),
            false => Budget::unlimited(),
        };
        let (start, before) = (Instant::now(), processor_time());
        let Ended { finding, .. } = run(plan, &budget);
        let (took, processor) = (start.elapsed(), processor_time() - before);
        let finding = finding.expect("the limits are enough");
        assert!(matches!(finding.claim, Claim::Safe(_)), "{:?}", finding.claim);
        let sum =
            |number: fn(&Share) -> u64| finding.shares.iter().map(|share| number(share) as f64).sum::<f64>();
        let largest = finding.shares.iter().map(|share| share.states).max().unwrap_or_default() as f64;
        let found = sum(|share| share.states);
        assert_eq!(found, states);
        let (check, skew) = (finding.checking.as_secs_f64(), largest * workers as f64 / found);
        let bytes = if on_disk { sum(|share| share.disk_bytes) } else { sum(|share| share.bytes) };
        needed = if workers == 1 { bytes } else { needed };
        let by = if on_disk { "2, on disk".to_string() } else { format!("{workers} workers") };
        row(&by, took.as_secs_f64() - check, check, processor, bytes, skew);
        if on_disk {
            let [limit, most] = [needed / 10.0, peak.load(Ordering::Relaxed) as f64].map(|bytes| bytes / 1e6);
            println!("{:26} limit {limit:.0} MB, at most {most:.0} MB resident", "");
        }
    }
}

/// Bytes that are resident, where `/proc` says so.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096
}

/// Seconds of processor time of this process, in the system and out of it, where `/proc` says so.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// A state that is never reached, so that every state is looked at as in a check.
fn unreachable(threads: usize) -> Pattern {
    Pattern { shared: Some(Shared(0)), tops: vec![Some(Symbol(u32::MAX)); threads] }
}

/// A system whose rules take longer. Where deadlocks are looked for, they are asked for once of every state.
struct Dear {
    system: Explicit,
    cost: Duration,
}

impl Pushdown for Dear {
    fn threads(&self) -> usize {
        self.system.threads()
    }

    fn initial(&self) -> Vec<State> {
        self.system.initial()
    }

    fn rules(&self, thread: usize, shared: Shared, top: Symbol, out: &mut Vec<Rule>) {
        let start = Instant::now();
        self.system.rules(thread, shared, top, out);
        while start.elapsed() < self.cost {}
    }

    fn shared_name(&self, shared: Shared) -> String {
        self.system.shared_name(shared)
    }

    fn shared_named(&self, name: &str) -> Option<Shared> {
        self.system.shared_named(name)
    }

    fn symbol_name(&self, thread: usize, symbol: Symbol) -> String {
        self.system.symbol_name(thread, symbol)
    }

    fn symbol_named(&self, thread: usize, name: &str) -> Option<Symbol> {
        self.system.symbol_named(thread, name)
    }

    fn write_shared(&self, shared: Shared, out: &mut Vec<u8>) {
        self.system.write_shared(shared, out);
    }

    fn read_shared(&self, bytes: &mut &[u8]) -> Option<Shared> {
        self.system.read_shared(bytes)
    }

    fn write_symbol(&self, thread: usize, symbol: Symbol, out: &mut Vec<u8>) {
        self.system.write_symbol(thread, symbol, out);
    }

    fn read_symbol(&self, thread: usize, bytes: &mut &[u8]) -> Option<Symbol> {
        self.system.read_symbol(thread, bytes)
    }
}
