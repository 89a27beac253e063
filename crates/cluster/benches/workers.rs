//! What workers take on the wheel, beside `free`: `cargo bench -p allways-cluster --bench workers -- [THREADS,K[,COST]]…`.
//!
//! A wheel of `n` threads with `k` symbols each has (k+1)^n states, all different in what is visible. For each wheel, in one run of the
//! program: `free`, then one worker, then two. With a COST, rules are dearer: each state takes so many microseconds more.
//! `6,16` has 24,137,569 states and `5,40` has 115,856,201; `scripts/workers` has all that is in docs/figures.md.
//!
//! With `SPILL=DIR` in the environment, two workers do it once more with a tenth of the memory that the states of one worker took (but not
//! less than [`LEAST`]), for the whole of a process of their own, and the rest on disk: bytes a state are then those on disk, and the most
//! that was resident is printed.
//!
//! Columns: seconds on the clock of the search, and of the check of what was found; seconds of the processor of both, since the machine may have other
//! things to do; states a second of the search; bytes a state; of how many bytes each worker held how much, as a share of the sum;
//! and the time of search and check as a part of that of one worker.

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
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The least limit on memory of a run on disk, in bytes: what is on its way takes some megabytes for each worker.
const LEAST: f64 = 40e6;

/// A wheel that is measured.
struct Wheel {
    threads: usize,
    k: u32,
    /// Microseconds that each state takes more.
    cost: f64,
}

impl Wheel {
    fn read(text: &str) -> Option<Wheel> {
        let mut parts = text.split(',');
        let (threads, k) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Wheel { threads, k, cost: parts.next().map_or(Some(0.0), |cost| cost.parse().ok())? })
    }

    fn name(&self) -> String {
        let cost = if self.cost > 0.0 { format!(", {} µs", self.cost) } else { String::new() };
        format!("wheel({},{}){cost}", self.threads, self.k)
    }
}

/// What one way took.
struct Row {
    by: String,
    search: f64,
    check: Option<f64>,
    processor: f64,
    bytes: f64,
    /// The bytes of each worker.
    split: Vec<u64>,
    /// The time of one worker for the same.
    alone: Option<f64>,
}

fn main() {
    let given: Vec<Wheel> = std::env::args().skip(1).filter_map(|text| Wheel::read(&text)).collect();
    let wheels = match given.is_empty() {
        true => [(5, 12), (6, 8), (6, 12)].map(|(threads, k)| Wheel { threads, k, cost: 0.0 }).into(),
        false => given,
    };
    // A run on disk in a process of its own goes on with the table.
    if number("LIMIT").is_some() {
        return wheels.iter().for_each(measure);
    }
    println!(
        "| system | states | by | search s | check s | cpu s | M states/s | B/state | share of each | of one worker |"
    );
    println!("|---|---:|---|---:|---:|---:|---:|---:|---|---:|");
    wheels.iter().for_each(measure);
}

fn print(wheel: &Wheel, states: f64, row: &Row) {
    let sum = row.split.iter().sum::<u64>().max(1) as f64;
    let split: Vec<String> =
        row.split.iter().map(|&bytes| format!("{:.1} %", 100.0 * bytes as f64 / sum)).collect();
    let total = row.search + row.check.unwrap_or_default();
    println!(
        "| {} | {states} | {} | {:.2} | {} | {:.2} | {:.2} | {:.1} | {} | {} |",
        wheel.name(),
        row.by,
        row.search,
        row.check.map(|check| format!("{check:.2}")).unwrap_or_default(),
        row.processor,
        states / row.search / 1e6,
        row.bytes / states,
        split.join(", "),
        row.alone.map(|alone| format!("{:.2}", total / alone)).unwrap_or_default()
    );
}

fn measure(wheel: &Wheel) {
    let &Wheel { threads, k, cost } = wheel;
    let family = families::wheel(threads, k);
    let system = corpus::system(family.pds.as_bytes(), family.init.as_bytes());
    let states = f64::from(k + 1).powi(threads as i32);
    let cost = Duration::from_secs_f64(cost * 1e-6);
    let kinds = Kinds::distinct(threads);
    let property = Property { bad: vec![unreachable(threads)], deadlock: !cost.is_zero() };
    let system: Arc<dyn Pushdown + Send + Sync> = Arc::new(Dear { system, cost });
    let question = Question { no_symmetry: true, property: property.clone(), ..Question::default() };
    let plan = |settings: Settings| Plan {
        system: system.clone(),
        property: property.clone(),
        kinds: kinds.clone(),
        max_depth: None,
        task: 0,
        settings,
        job: Job::Search,
    };
    let disk = std::env::var_os("SPILL").map(|folder| Spill { folder: folder.into(), states: None });
    if let (Some(disk), Some(limit)) = (&disk, number("LIMIT")) {
        let peak = AtomicUsize::new(0);
        let used = || {
            let now = resident();
            peak.fetch_max(now, Ordering::Relaxed);
            now
        };
        let budget = Budget::unlimited().with_memory(Some(limit as usize), &used);
        let settings = Settings { spill: Some(disk.clone()), ..Settings::threads(2) };
        let row = Row { alone: number("ALONE"), ..by_workers(plan(settings), &budget, states) };
        print(wheel, states, &row);
        let most = peak.load(Ordering::Relaxed) as f64 / 1e6;
        println!("| | | memory: limit {:.0} MB, at most {most:.0} MB resident | | | | | | | |", limit / 1e6);
        return;
    }
    let budget = Budget::unlimited();
    let (start, before) = (Instant::now(), processor_time());
    let mut space = Space::unobserved(&*system, kinds.clone(), &question, &budget);
    free::explore(&mut space).expect("no limits");
    assert_eq!(space.len() as f64, states);
    let row = Row {
        by: "free".to_string(),
        search: start.elapsed().as_secs_f64(),
        check: None,
        processor: processor_time() - before,
        bytes: space.bytes() as f64,
        split: Vec::new(),
        alone: None,
    };
    print(wheel, states, &row);
    drop(space);
    let one = by_workers(plan(Settings::threads(1)), &budget, states);
    print(wheel, states, &one);
    let alone = one.search + one.check.unwrap_or_default();
    let two = by_workers(plan(Settings::threads(2)), &budget, states);
    print(wheel, states, &Row { alone: Some(alone), ..two });
    if disk.is_some() {
        // What was freed here may still be resident: in a process of its own, all of the limit is left.
        let mut again = Command::new(std::env::current_exe().expect("this program"));
        again.arg(format!("{threads},{k},{}", wheel.cost)).env("ALONE", alone.to_string());
        again.env("LIMIT", (one.bytes / 10.0).max(LEAST).to_string());
        assert!(again.status().expect("it starts").success());
    }
}

/// A number in the environment.
fn number(name: &str) -> Option<f64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What workers take.
fn by_workers(plan: Plan, budget: &Budget, states: f64) -> Row {
    let (workers, on_disk) = (plan.settings.workers, plan.settings.spill.is_some());
    let (start, before) = (Instant::now(), processor_time());
    let Ended { finding, .. } = run(plan, budget);
    let (took, processor) = (start.elapsed(), processor_time() - before);
    let finding = finding.expect("the limits are enough");
    assert!(matches!(finding.claim, Claim::Safe(_)), "{:?}", finding.claim);
    assert_eq!(finding.shares.iter().map(|share| share.states as f64).sum::<f64>(), states);
    let held = |share: &Share| if on_disk { share.disk_bytes } else { share.bytes };
    let split: Vec<u64> = finding.shares.iter().map(held).collect();
    let bytes = split.iter().sum::<u64>() as f64;
    let check = finding.checking.as_secs_f64();
    let by = match (workers, on_disk) {
        (_, true) => "2 workers, on disk".to_string(),
        (1, _) => "1 worker".to_string(),
        _ => format!("{workers} workers"),
    };
    let search = took.as_secs_f64() - check;
    Row { by, search, check: Some(check), processor, bytes, split, alone: None }
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
