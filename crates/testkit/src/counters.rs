//! Small random counter systems, the same for the same seed, brute force on them, and the files of the corpus.

use allways_engines::forms::{CountedForm, PushdownForm, System, count_threads};
use allways_engines::meet::coverability::{
    self, BACKWARD, COVERABILITY, CounterEngine, Covered, DIRECTED, FORWARD, KARP_MILLER,
};
use allways_engines::{Budget, Engine, Outcome, Question};
use allways_lang::{spec, tts};
use allways_model::counters::step::step;
use allways_model::counters::{Bag, Configuration, Counters, Initial, Local, Rule, Shared, Target};
use allways_model::pushdown::Pushdown;
use fastrand::Rng;
use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// What the rules of a random system may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Take and give.
    Plain,
    /// And move.
    Moves,
    /// And test for an exact number.
    Exact,
}

/// The random system of this number.
pub fn system(seed: u64, kind: Kind) -> Counters {
    let mut rng = Rng::with_seed(seed);
    let (shared, locals) = (rng.u32(1..=3), rng.u32(1..=4));
    let bag = |rng: &mut Rng, most: usize| -> Bag {
        let count = rng.usize(0..=most);
        (0..count).map(|_| (rng.u32(0..locals), 1)).collect()
    };
    let rules = rng.u32(1..=7);
    let rules = (1..=rules).map(|line| {
        let (from, to) = (Shared(rng.u32(0..shared)), Shared(rng.u32(0..shared)));
        let mut rule = Rule::plain(from, to, bag(&mut rng, 2), bag(&mut rng, 2), line);
        if rule.takes.is_empty() && rng.u32(0..4) > 0 {
            rule.takes.add(rng.u32(0..locals), 1);
        }
        if kind != Kind::Plain && rng.bool() {
            let moved: Vec<Local> = (0..locals).filter(|_| rng.u32(0..3) == 0).collect();
            rule.moves = moved
                .into_iter()
                .map(|local| (local, (rng.u32(0..4) > 0).then(|| rng.u32(0..locals))))
                .collect();
        }
        if kind == Kind::Exact && rng.bool() {
            rule.exactly = (0..locals).filter(|_| rng.u32(0..3) == 0).collect();
        }
        rule
    });
    let rules = rules.collect();
    let initial = (0..rng.usize(1..=2)).map(|_| Initial {
        shared: Shared(rng.u32(0..shared)),
        tokens: bag(&mut rng, 2),
        any: (0..locals).filter(|_| rng.u32(0..3) == 0).collect(),
    });
    let initial = initial.collect();
    let targets = (0..rng.usize(1..=2)).map(|_| Target {
        shared: (rng.u32(0..4) > 0).then(|| Shared(rng.u32(0..shared))),
        tokens: bag(&mut rng, 3),
    });
    let targets = targets.collect();
    let names = |letter: char, count: u32| (0..count).map(|number| format!("{letter}{number}")).collect();
    Counters { shared: names('s', shared), locals: names('l', locals), rules, initial, targets }
}

/// Whether a bad configuration is among the first so many that are reached with at most five tokens more in each place that
/// may have any number.
pub fn goes_wrong(system: &Counters, most: usize) -> bool {
    let mut seen: HashSet<Configuration> = HashSet::new();
    let mut waiting: VecDeque<Configuration> = VecDeque::new();
    for initial in &system.initial {
        let mut starts = vec![initial.tokens.clone()];
        for &local in &initial.any {
            let more = |tokens: &Bag, count| {
                let mut tokens = tokens.clone();
                tokens.add(local, count);
                tokens
            };
            starts = starts.iter().flat_map(|tokens| (0..=5).map(move |count| more(tokens, count))).collect();
        }
        for tokens in starts {
            let start = Configuration { shared: initial.shared, tokens };
            if seen.insert(start.clone()) {
                waiting.push_back(start);
            }
        }
    }
    while let Some(now) = waiting.pop_front() {
        if system.is_bad(&now) {
            return true;
        }
        for next in system.rules.iter().filter_map(|rule| step(rule, &now)) {
            if seen.len() < most && seen.insert(next.clone()) {
                waiting.push_back(next);
            }
        }
    }
    false
}

/// All configurations of a system with at most so many tokens in each place.
pub fn small(system: &Counters, most: u64) -> Vec<Configuration> {
    let mut all: Vec<Bag> = vec![Bag::new()];
    for local in 0..system.locals.len() as Local {
        let with = |tokens: &Bag, count| {
            let mut tokens = tokens.clone();
            tokens.add(local, count);
            tokens
        };
        all = all.iter().flat_map(|tokens| (0..=most).map(move |count| with(tokens, count))).collect();
    }
    let shared = (0..system.shared.len() as u32).map(Shared);
    shared
        .flat_map(|shared| all.iter().map(move |tokens| Configuration { shared, tokens: tokens.clone() }))
        .collect()
}

/// The folder of the counter systems of the corpus.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/counters")
}

/// The `.spec` and `.tts` files of a folder, by name; none if there is no such folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let counters =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending == "spec" || ending == "tts");
    let mut paths: Vec<PathBuf> = paths.filter(counters).collect();
    paths.sort();
    paths
}

/// Reads a `.spec` file, or a `.tts` file with what is beside it. Panics if anything is wrong with them.
pub fn load(path: &Path) -> Counters {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_some_and(|ending| ending == "spec") {
        let parsed = spec::parse(&text);
        return parsed.system.unwrap_or_else(|| panic!("{}: {:?}", path.display(), parsed.diagnostics));
    }
    let parsed = tts::parse(&text);
    let mut tts = parsed.system.unwrap_or_else(|| panic!("{}: {:?}", path.display(), parsed.diagnostics));
    let prop = fs::read(path.with_extension("prop")).expect("a property");
    tts.read_targets(&prop).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
    if let Ok(init) = fs::read(path.with_extension("init")) {
        tts.read_init(&init).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
    }
    tts.system
}

/// The same for a published `.tts` file, where one thread starts all others (`../shared/bench/README.md`).
pub fn load_published(path: &Path) -> Counters {
    let mut system = load(path);
    if path.extension().is_some_and(|ending| ending == "tts") {
        system.initial =
            vec![Initial { shared: Shared(0), tokens: Bag::from_iter([(0, 1)]), any: Vec::new() }];
    }
    system
}

/// The methods for counter systems, to be told apart in tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Forward and backward against each other.
    Coverability,
    /// Backward.
    Backward,
    /// Karp and Miller's tree.
    KarpMiller,
    /// Forward.
    Forward,
    /// Forward with a distance.
    Directed,
}

impl Method {
    /// The name of the engine.
    pub fn name(self) -> &'static str {
        self.engine().info().name
    }

    fn engine(self) -> &'static CounterEngine {
        match self {
            Method::Coverability => &COVERABILITY,
            Method::Backward => &BACKWARD,
            Method::KarpMiller => &KARP_MILLER,
            Method::Forward => &FORWARD,
            Method::Directed => &DIRECTED,
        }
    }
}

/// Decides whether a system can cover one of its targets, by a method.
pub fn decide(system: &Counters, method: Method, budget: &Budget) -> Outcome {
    method.engine().decide(system, budget)
}

/// What counting threads says about a system, with any number of threads where its threads are many.
pub fn cover(system: &dyn Pushdown, question: &Question, budget: &Budget) -> Covered {
    let form = PushdownForm { system: System::Borrowed(system), question: question.clone(), inputs: None };
    match count_threads(&form, budget) {
        Ok(counted) => cover_counted(system, &counted, budget),
        Err(reason) => Covered::Unknown(reason),
    }
}

/// The same, where its threads have been counted.
pub fn cover_counted(system: &dyn Pushdown, counted: &CountedForm, budget: &Budget) -> Covered {
    coverability::cover(system, counted, |system, budget| COVERABILITY.decide(system, budget), budget)
}
