//! What the engines give as evidence survives being written and read, and the checker accepts it; with anything wrong in
//! the text it is rejected, and the rejection names the place.

use allways_engines::Question;
use allways_evidence::EvidenceRef;
use allways_model::notation::{read_pattern, show_symbols};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{EMPTY, Explicit, Pushdown};
use allways_model::symmetry::Kinds;
use allways_testkit::conformance::engines;
use allways_testkit::conformance::{self, accepted, ask, read};
use allways_testkit::{corpus, families};
use fastrand::Rng;

fn written<'e>(system: &Explicit, evidence: impl Into<EvidenceRef<'e>>) -> String {
    String::from_utf8(conformance::written(system, evidence)).expect("text")
}

/// Reads and checks, as `allways certify` does.
fn certified(system: &Explicit, property: &Property, text: &str) -> Result<(), String> {
    let evidence = read(system, text.as_bytes()).map_err(|error| format!("line {error}"))?;
    accepted(system, property, &evidence).map_err(|rejection| rejection.to_string())
}

/// A question about a system, with the evidence that an engine gave, as text.
struct Case {
    label: String,
    system: Explicit,
    property: Property,
    text: String,
}

impl Case {
    /// Nothing if the engine did not decide.
    fn new(
        label: &str,
        system: &Explicit,
        property: &Property,
        engine: &str,
        symmetry: bool,
    ) -> Option<Case> {
        let engine = engines().iter().find(|other| other.info().name == engine).expect("an engine");
        let question = Question {
            property: property.clone(),
            max_states: Some(5000),
            max_depth: Some(12),
            rounds: Some(40),
            delays: Some(20),
            no_symmetry: !symmetry,
            ..Question::default()
        };
        let text = written(system, ask(*engine, system, &question).verdict.evidence()?);
        if text.starts_with("allways products") || text.lines().nth(1) == Some("within") {
            // What these lines mean, and that none can be left out, is tested in thread_modular.rs.
            return None;
        }
        let read = read(system, text.as_bytes()).expect("what was written can be read");
        assert_eq!(written(system, &read), text, "{label}: written again it is the same");
        let label = format!("{label} by {}", engine.info().name);
        assert_eq!(certified(system, property, &text), Ok(()), "{label}");
        Some(Case { label, system: system.clone(), property: property.clone(), text })
    }

    fn lines(&self, start: &str) -> Vec<usize> {
        let lines = self.text.lines().enumerate();
        lines.filter(|(_, line)| line.starts_with(start)).map(|(index, _)| index).collect()
    }

    /// The text with some line changed, or without it; the number on the last line is made to fit.
    fn with(&self, index: usize, line: Option<&str>) -> String {
        let mut lines: Vec<&str> = self.text.lines().collect();
        match line {
            Some(line) => lines[index] = line,
            None => drop(lines.remove(index)),
        }
        recounted(&lines)
    }

    /// Asserts that a corruption is rejected with one of these at the start of the message.
    fn rejects(&self, what: &str, text: &str, places: &[&str]) {
        assert_ne!(text, self.text, "{}: {what} changes nothing", self.label);
        let Err(message) = certified(&self.system, &self.property, text) else {
            panic!("{}: {what} is accepted:\n{}\nwas:\n{}", self.label, text, self.text)
        };
        let named = places.iter().any(|place| message.starts_with(place));
        assert!(named, "{}: {what}: {message}", self.label);
    }
}

fn recounted(lines: &[&str]) -> String {
    let is_trace = lines[0].starts_with("allways trace");
    let counted = if is_trace { "step " } else { "state " };
    let count = lines.iter().filter(|line| line.starts_with(counted)).count();
    let body = lines.iter().filter(|line| !line.starts_with("end "));
    let mut text: String = body.map(|line| format!("{line}\n")).collect();
    text += &format!("end {count}\n");
    text
}

/// Every question of the corpus, and two families with many threads alike, by every engine that decides it.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |label: &str, system: &Explicit, property: &Property| {
        // Runs that were not looked for in any order make detours: what is left of one without a step may be a run, too.
        for engine in engines().iter().filter(|engine| !["walks", "points"].contains(&engine.info().name)) {
            for symmetry in [true, false] {
                cases.extend(Case::new(label, system, property, engine.info().name, symmetry));
            }
        }
    };
    for entry in corpus::entries(&corpus::folder()) {
        add(&entry.name, &entry.system, &Property::default());
        for (property, _) in &entry.properties {
            add(&entry.name, &entry.system, property);
        }
    }
    for (label, family) in
        [("stefan-3", families::stefan(3)), ("bluetooth-3-2-1", families::bluetooth(3, 2, 1))]
    {
        let system = corpus::system(family.pds.as_bytes(), family.init.as_bytes());
        let nowhere = read_pattern(&system, &nowhere(&system)).expect("a pattern");
        add(label, &system, &Property { bad: vec![nowhere], ..Property::default() });
    }
    cases
}

/// A pattern that no state of the two families matches: the last shared state, with all stacks empty.
fn nowhere(system: &Explicit) -> String {
    format!("{}|{}", system.shared_states - 1, vec!["-"; system.threads()].join(","))
}

/// How a message about an invariant begins, where it is not about a line that cannot be read.
const STATES: &[&str] = &["state ", "initial state "];

/// A few of many, different ones for each call.
fn some<T: Clone>(of: &[T], rng: &mut Rng) -> Vec<T> {
    const ENOUGH: usize = 12;
    if of.len() <= ENOUGH { of.to_vec() } else { rng.choose_multiple(of.iter().cloned(), ENOUGH) }
}

/// A state in a line, taken apart: what comes before it, the shared state, the stacks.
fn taken_apart(line: &str) -> (&str, &str, Vec<&str>) {
    let (before, state) = line.rsplit_once(' ').expect("a line with a state");
    let (shared, stacks) = state.split_once('|').expect("a state");
    (before, shared, stacks.split(',').collect())
}

fn put_together(before: &str, shared: &str, stacks: &[impl AsRef<str>]) -> String {
    let stacks: Vec<&str> = stacks.iter().map(AsRef::as_ref).collect();
    format!("{before} {shared}|{}", stacks.join(","))
}

/// A state with one symbol changed to another that the thread has, or an empty stack to a symbol.
fn other_symbol(system: &Explicit, line: &str, rng: &mut Rng) -> String {
    let (before, shared, mut stacks) = taken_apart(line);
    let thread = rng.usize(0..stacks.len());
    let names: Vec<String> =
        system.threads[thread].iter().map(|&(_, top, _)| show_symbols(system, thread, [top])).collect();
    let more = stacks[thread].ends_with('+');
    let mut symbols: Vec<&str> = stacks[thread].trim_end_matches('+').split('.').collect();
    let at = rng.usize(0..symbols.len());
    // `-` is a stack by itself only.
    let fits = |name: &&String| *name != symbols[at] && (*name != "-" || (symbols.len() == 1 && !more));
    let Some(name) = names.iter().find(fits) else { return line.to_string() };
    symbols[at] = name;
    let changed = symbols.join(".") + if more { "+" } else { "" };
    stacks[thread] = &changed;
    put_together(before, shared, &stacks)
}

/// Cut anywhere but before the last end of line, it is noticed that something is missing.
fn cuts(case: &Case, rng: &mut Rng) {
    let cuts: Vec<usize> = (0..case.text.len() - 1).collect();
    for cut in some(&cuts, rng) {
        case.rejects(&format!("a cut at {cut}"), &case.text[..cut], &["line "]);
    }
}

#[test]
fn corrupted_invariants_are_rejected() {
    let mut rng = Rng::with_seed(3);
    let (mut corrupted, mut symmetric) = (0, 0);
    for case in cases().iter().filter(|case| case.text.starts_with("allways invariant")) {
        let lines: Vec<&str> = case.text.lines().collect();
        symmetric += case.lines("kinds ").len();
        let mut rejects = |what: &str, text: &str, places: &[&str]| {
            corrupted += 1;
            case.rejects(what, text, places);
        };
        cuts(case, &mut rng);
        for index in some(&case.lines("state "), &mut rng) {
            let without = case.with(index, None);
            rejects(&format!("to leave out line {}", index + 1), &without, STATES);
            let uncounted =
                without.replace(&format!("end {}", case.lines("state ").len() - 1), lines[lines.len() - 1]);
            rejects("to leave out and not to count", &uncounted, &["line "]);
            let changed = other_symbol(&case.system, lines[index], &mut rng);
            if changed != lines[index] {
                let text = case.with(index, Some(&changed));
                rejects(
                    &format!("{changed} for {}", lines[index]),
                    &text,
                    &["state ", "initial state ", "line "],
                );
            }
        }
        for index in case.lines("below ") {
            rejects(&format!("to leave out {}", lines[index]), &case.with(index, None), STATES);
        }
        for pattern in &case.property.bad {
            let state = format!("state {}", an_instance(&case.system, pattern));
            let mut lines = lines.clone();
            lines.insert(lines.len() - 1, &state);
            rejects(&format!("{state}, which is bad"), &recounted(&lines), &["state "]);
        }
        rejects("no window", &case.with(1, Some("window 0")), &["line 2"]);
        if case.text.contains('+') {
            let window: usize = lines[1]["window ".len()..].parse().expect("a number");
            rejects("a larger window", &case.with(1, Some(&format!("window {}", window + 1))), &["line "]);
        }
        if let Some(swapped) = with_threads_swapped(case) {
            rejects("threads swapped", &swapped, &["state ", "initial state ", "line "]);
            if case.lines("kinds ").is_empty() && case.lines("below ").is_empty() {
                let mut lines = lines.clone();
                let kinds: Vec<String> =
                    (0..case.system.threads()).map(|thread| (thread / 2).to_string()).collect();
                let kinds = format!("kinds {}", kinds.join(" "));
                lines.insert(2, &kinds);
                rejects(&kinds, &recounted(&lines), &["threads ", "state ", "initial state ", "line "]);
            }
        }
    }
    println!("{corrupted} corruptions; {symmetric} invariants with symmetry");
    assert!(corrupted > 2000 && symmetric > 20, "{corrupted} and {symmetric}");
}

/// A state that matches a pattern.
fn an_instance(system: &Explicit, pattern: &Pattern) -> String {
    let stacks = pattern.tops.iter().enumerate();
    let stacks: Vec<String> =
        stacks.map(|(thread, top)| show_symbols(system, thread, [top.unwrap_or(EMPTY)])).collect();
    format!("{}|{}", system.shared_name(pattern.shared.unwrap_or_default()), stacks.join(","))
}

/// The stacks of the first two threads exchanged in all states, if that says something else.
fn with_threads_swapped(case: &Case) -> Option<String> {
    let kinds = Kinds::of(&case.system);
    if kinds.threads() < 2 || kinds.kind(0) == kinds.kind(1) {
        return None;
    }
    let swap = |line: &str| {
        if !["state ", "step "].iter().any(|start| line.starts_with(start)) {
            return line.to_string();
        }
        let (before, shared, mut stacks) = taken_apart(line);
        stacks.swap(0, 1);
        put_together(before, shared, &stacks)
    };
    let swapped: Vec<String> = case.text.lines().map(swap).collect();
    let mut sorted = swapped.clone();
    sorted.sort();
    let mut original: Vec<&str> = case.text.lines().collect();
    original.sort();
    (sorted != original).then(|| swapped.iter().map(|line| format!("{line}\n")).collect())
}

#[test]
fn corrupted_traces_are_rejected() {
    let mut rng = Rng::with_seed(4);
    let mut corrupted = 0;
    for case in cases().iter().filter(|case| case.text.starts_with("allways trace")) {
        let lines: Vec<&str> = case.text.lines().collect();
        let mut rejects = |what: &str, text: &str, places: &[&str]| {
            corrupted += 1;
            case.rejects(what, text, places);
        };
        cuts(case, &mut rng);
        let steps = case.lines("step ");
        for &index in &steps {
            // Steps are on the lines from the third on.
            let step = format!("step {}:", index - 1);
            rejects("a step left out", &case.with(index, None), &["step "]);
            let words: Vec<&str> = lines[index].split(' ').collect();
            for thread in (0..case.system.threads()).filter(|thread| thread.to_string() != words[1]) {
                let line = format!("step {thread} {} {}", words[2], words[3]);
                rejects(&line, &case.with(index, Some(&line)), &[&step]);
            }
            let number: u32 = words[2].parse().expect("a number");
            for other in [number - 1, number + 1] {
                let line = format!("step {} {other} {}", words[1], words[3]);
                rejects(&line, &case.with(index, Some(&line)), &[&step]);
            }
            let line = other_symbol(&case.system, lines[index], &mut rng);
            if line != lines[index] {
                rejects(&line, &case.with(index, Some(&line)), &[&step]);
            }
            if steps.contains(&(index + 1)) {
                let mut lines = lines.clone();
                lines.swap(index, index + 1);
                rejects("two steps exchanged", &recounted(&lines), &[&step]);
            }
        }
        let elsewhere = other_symbol(&case.system, lines[1], &mut rng);
        if elsewhere != lines[1] {
            rejects("another start", &case.with(1, Some(&elsewhere)), &["step 0"]);
        }
        if let Some(swapped) = with_threads_swapped(case) {
            rejects("threads swapped", &swapped, &["step ", "line "]);
        }
    }
    println!("{corrupted} corruptions");
    assert!(corrupted > 1000, "{corrupted}");
}
