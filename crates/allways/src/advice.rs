//! What was tried where nothing is known, and what to try next.
//!
//! Both are facts of the check: which engines ended why, and the one option that is most likely to help. The rules are in the order
//! in which they are looked at; the first that fits is said.

use crate::words;
use allways_engines::journal::EngineRun;
use allways_engines::{Forms, Question};
use allways_evidence::StopReason;
use allways_model::program::{Edge, LocationId, Op, ProcedureId};
use allways_model::task::{Model, Task};
use allways_model::threads::Counts;
use std::collections::HashSet;
use std::hash::Hash;

/// The most kinds of outcomes that are told.
const MOST_TOLD: usize = 4;

/// What is said below an answer that nothing is known.
pub fn lines(forms: &Forms, reason: &StopReason, runs: &[EngineRun], named: bool) -> Vec<String> {
    if *reason == StopReason::Interrupted {
        return Vec::new();
    }
    let mut said = tried(runs, &reason.to_string());
    said.extend(next(forms, reason, named).map(|advice| format!("next: {advice}")));
    said
}

/// Which engines ended why, those that ended alike together. Of one engine alone, the reason is said already.
fn tried(runs: &[EngineRun], reason: &str) -> Vec<String> {
    let mut outcomes: Vec<(&str, Vec<&str>)> = Vec::new();
    // That some numbers of threads were looked at, and others not, is said of all of them together.
    let tells = |run: &&EngineRun| {
        !matches!(&*run.outcome, "safe" | "unsafe" | "interrupted")
            && !run.outcome.ends_with("were not tried")
    };
    for run in runs.iter().filter(tells) {
        match outcomes.iter_mut().find(|(outcome, _)| *outcome == run.outcome) {
            Some((_, engines)) if engines.contains(&run.engine) => {}
            Some((_, engines)) => engines.push(run.engine),
            None => outcomes.push((&run.outcome, vec![run.engine])),
        }
    }
    outcomes.retain(|(outcome, engines)| *outcome != reason || engines.len() > 1);
    let more = outcomes.len().saturating_sub(MOST_TOLD);
    // What came last came furthest.
    let told = outcomes.split_off(more);
    let line = |(outcome, engines): (&str, Vec<&str>)| {
        let far = far(runs, outcome).map_or(String::new(), |far| format!(" ({far})"));
        format!("tried {}: {}{far}", engines.join(", "), words::cut(outcome))
    };
    let mut lines: Vec<String> = told.into_iter().map(line).collect();
    if more > 0 {
        lines.push("(--stats has all that was tried)".to_string());
    }
    lines
}

/// How far the one came that came furthest of those that a limit of time or memory ended: how many states it stored.
fn far(runs: &[EngineRun], outcome: &str) -> Option<String> {
    if ![StopReason::Time, StopReason::Memory].iter().any(|limit| limit.to_string() == outcome) {
        return None;
    }
    let ended = runs.iter().filter(|run| run.outcome == outcome);
    let (states, engine) = ended.filter_map(|run| Some((run.states?, run.engine))).max()?;
    Some(format!("{engine} after {}", words::count(states as u128, "state")))
}

/// The option that is most likely to help.
fn next(forms: &Forms, reason: &StopReason, named: bool) -> Option<String> {
    let text = reason.to_string();
    let task = forms.task()?;
    if let StopReason::Bound(_) = reason {
        return Some(without_bound(forms.question(), task, named));
    }
    if text.contains("cannot be started") {
        return Some("install a solver, such as by `apt-get install z3`".to_string());
    }
    if task.property.deadlock && task.has_integers() && !is_c(task) {
        let advice = match text.contains("ever new values") {
            true => {
                "arithmetic that wraps round, as in `x = (x + 1) % 8`: that nothing is stuck is proved where there are finitely many states; or --engine free, to look further for a deadlock; without --deadlock, a solver proves the rest"
            }
            false => {
                "ranges such as `0..9` in place of `int`: that nothing is stuck is proved where there are finitely many states"
            }
        };
        return Some(advice.to_string());
    }
    // The reason has the option in it.
    if text.contains("--") {
        return None;
    }
    // Workers list states, and check nothing but safety.
    let workers = !matches!(task.model, Model::Counters(_)) && !task.asks_progress();
    if *reason == StopReason::Memory {
        let spill = if workers { "; --spill DIR keeps states on disk" } else { "" };
        return Some(format!("--memory, if the machine has more{spill}"));
    }
    if text.contains("can be started") {
        return Some(match (named || task.threads != Counts::default(), starts_without_end(task)) {
            (true, _) => "leave out --engine and --threads, if they are given: a proof for any number is tried then".to_string(),
            (false, true) => {
                "start a number of threads that is fixed, as in `for _i in 1..3 { … }`: these are followed to the end".to_string()
            }
            (false, false) => "--threads with a larger number, if runs start no more than that".to_string(),
        });
    }
    if forms.is_open() && signals(task) {
        return Some("--threads 2: `signal` is supported with a known number of threads".to_string());
    }
    if named {
        return Some("leave out --engine: other engines are tried then".to_string());
    }
    if text.contains("beyond what is followed") {
        let place =
            if is_c(task) { "docs/c.md says what is followed in C" } else { "numbers have 64 bits there" };
        return Some(format!(
            "look at the line that is named: from there on runs are not followed ({place})"
        ));
    }
    if let Some(constant) = constant(task) {
        return Some(format!(
            "-D {constant}: a smaller system of the same kind may show the bug, or be proved"
        ));
    }
    if forms.is_open() {
        return Some("--threads 2: what holds for two threads alone is decided more often".to_string());
    }
    if task.has_integers() {
        let predicate = "a line such as `predicate x <= y;` with what the proof needs (docs/integers.md)";
        return Some(predicate.to_string());
    }
    if text.contains("stacks grow beyond") {
        let advice = "a loop in place of the procedure that calls itself: progress is checked where stacks have a bound";
        return Some(advice.to_string());
    }
    if *reason == StopReason::Time {
        let cores = if workers { ", or --workers 2 to use both cores" } else { "" };
        return Some(format!("a longer --timeout{cores}"));
    }
    let bounded = workers && !is_c(task) && !forms.question().bounded();
    bounded.then(|| "--contexts 3: what lies within so many contexts is explored to the end".to_string())
}

/// What to do where all within a bound was explored. Where there are infinitely many states, a larger bound does not decide it.
fn without_bound(question: &Question, task: &Task, named: bool) -> String {
    let infinite = task.has_integers() || calls_itself(task);
    let all = if infinite { "engines that prove are tried then" } else { "every schedule is looked at then" };
    let leave = |options: &str| format!("leave out {options} (and --engine, if it is given): {all}");
    let further = |options: String| format!("; or {options}, to look further");
    match (question.rounds, question.delays, question.contexts) {
        (Some(rounds), Some(delays), _) => {
            leave("--rounds and --delays") + &further(format!("--rounds {} --delays {}", rounds + 1, delays + 1))
        }
        (None, Some(delays), _) if question.scheduler.is_some() => {
            format!("--delays {}, to look further; or leave out --scheduler and --delays: {all}", delays + 1)
        }
        (.., Some(contexts)) => leave("--contexts") + &further(format!("--contexts {}", contexts + 1)),
        _ => match (question.max_depth, question.max_states) {
            (Some(_), _) => "leave out --max-depth (and --engine, if it is given): engines that follow stacks of any depth are tried then".to_string(),
            (None, Some(_)) if infinite => leave("--max-states"),
            (None, Some(most)) => leave("--max-states") + &further(format!("--max-states {}", most.saturating_mul(10))),
            (None, None) if named => "leave out --engine: other engines are tried then".to_string(),
            (None, None) => "--engine free: every schedule is looked at then".to_string(),
        },
    }
}

/// Whether some procedure of a program may call itself.
fn calls_itself(task: &Task) -> bool {
    let Model::Program(program) = &task.model else { return false };
    let calls = |from: ProcedureId| {
        let locations = program.locations.iter().filter(move |location| location.procedure == from);
        locations.flat_map(|location| &location.edges).filter_map(|edge| match edge.op {
            Op::Call(callee, ..) => Some(callee),
            _ => None,
        })
    };
    ProcedureId::all(&program.procedures).any(|procedure| leads_back(procedure, calls))
}

/// Whether a step that starts a thread lies on a cycle of control on which nothing is asked.
fn starts_without_end(task: &Task) -> bool {
    let Model::Program(program) = &task.model else { return false };
    let next = |from: LocationId| {
        let edges = program.locations[from].edges.iter();
        edges.filter(|edge| !matches!(edge.op, Op::Guard(..) | Op::Assign(_, _, Some(_)))).map(|edge| edge.to)
    };
    let starts = |edge: &Edge| matches!(edge.op, Op::Spawn(..) | Op::Fork(_));
    let mut all = LocationId::each(&program.locations);
    all.any(|(location, here)| here.edges.iter().any(starts) && leads_back(location, next))
}

/// Whether a number leads back to itself.
fn leads_back<N: Copy + Eq + Hash, I: Iterator<Item = N>>(first: N, next: impl Fn(N) -> I) -> bool {
    let mut seen = HashSet::new();
    let mut waiting: Vec<N> = next(first).collect();
    while let Some(number) = waiting.pop() {
        if number == first {
            return true;
        }
        if seen.insert(number) {
            waiting.extend(next(number));
        }
    }
    false
}

fn signals(task: &Task) -> bool {
    matches!(&task.model, Model::Program(program) if program.signals())
}

fn is_c(task: &Task) -> bool {
    [".c", ".i"].iter().any(|ending| task.source.name.ends_with(ending))
}

/// A constant of an `.aw` program, with a smaller value.
fn constant(task: &Task) -> Option<String> {
    if !task.source.name.ends_with(".aw") {
        return None;
    }
    let text = String::from_utf8_lossy(&task.source.text);
    let declared = text.lines().filter_map(|line| line.trim_start().strip_prefix("const "));
    let number = |declaration: &str| {
        let (name, value) = declaration.split([',', ';']).next()?.split_once('=')?;
        let value: u64 = value.trim().parse().ok()?;
        (value > 2).then(|| format!("{}={}", name.trim(), value / 2))
    };
    declared.filter_map(number).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use allways_model::property::Property;
    use allways_model::task::Source;
    use std::sync::Arc;
    use std::time::Duration;

    fn task(name: &str, text: &str) -> Task {
        let program = allways_lang::aw::parse(text.as_bytes()).program.unwrap_or_default();
        let source = Source { name: name.to_string(), text: Arc::new(text.as_bytes().to_vec()) };
        Task { source, ..Task::new(Model::Program(Arc::new(program))) }
    }

    fn advice(name: &str, text: &str, reason: StopReason, named: bool) -> String {
        let task = task(name, text);
        lines(&Forms::new(&task, &Question::default()), &reason, &[], named).join("\n")
    }

    fn gave_up(why: &str) -> StopReason {
        StopReason::GaveUp(why.to_string())
    }

    #[test]
    fn the_next_step_follows_from_what_stopped_the_check() {
        let fixed = "shared bool x; thread p[2] { x = true; } never x && at(a) > 0; thread q { a: skip; }";
        let open = "shared bool x; thread p[*] { x = true; }";
        let sized = "const N = 6;\nshared 0..N x; thread p[N] { x = N; }";
        let integers = "shared int x; thread p[2] { loop { x = x + 1; } }";
        let forks = "thread p { loop { spawn q; } } thread q[0] { skip; }";
        let loops = "thread p { for _i in 1..9 { spawn q; } } thread q[0] { skip; }";
        let wakes = "event e; thread p[*] { wait e; } thread q { signal e; }";
        let followed =
            gave_up("line 3: a value beyond what is followed, or a single step that does too much");
        let panel = [
            ("a.aw", fixed, StopReason::Time, false, "longer --timeout"),
            ("a.aw", fixed, StopReason::Memory, false, "--spill DIR"),
            ("a.aw", fixed, StopReason::Time, true, "leave out --engine"),
            ("a.aw", fixed, StopReason::Memory, true, "--memory"),
            ("a.aw", fixed, StopReason::Bound("all".to_string()), true, "leave out --engine"),
            ("a.aw", fixed, StopReason::Bound("all".to_string()), false, "--engine free"),
            ("a.aw", open, StopReason::Time, false, "--threads 2"),
            ("a.aw", open, gave_up("no closed set of views was found"), false, "--threads 2"),
            ("a.aw", open, gave_up("more than 4 threads of p can be started"), false, "--threads with"),
            ("a.aw", open, gave_up("more than 4 threads of p can be started"), true, "leave out --engine"),
            (
                "a.aw",
                forks,
                gave_up("more than 4 threads of q can be started"),
                false,
                "a number of threads that is fixed",
            ),
            ("a.aw", loops, gave_up("more than 4 threads of q can be started"), false, "--threads with"),
            (
                "a.aw",
                wakes,
                gave_up("more than 4 threads of p were not tried"),
                true,
                "--threads 2: `signal`",
            ),
            ("a.aw", sized, StopReason::Time, false, "-D N=3"),
            ("a.aw", sized, StopReason::Memory, false, "--memory"),
            ("a.aw", integers, gave_up("no closed set of views was found"), false, "`predicate"),
            ("a.aw", integers, StopReason::Time, false, "`predicate"),
            ("a.aw", integers, StopReason::Time, true, "leave out --engine"),
            ("a.aw", integers, gave_up("the solver `z3` cannot be started (no)"), false, "install a solver"),
            ("a.aw", fixed, followed.clone(), false, "64 bits"),
            ("a.aw", fixed, gave_up("stacks grow beyond 128 calls"), false, "a loop in place of"),
            ("a.aw", fixed, gave_up("no engine has settled it"), false, "--contexts 3"),
            ("a.c", fixed, followed.clone(), false, "docs/c.md"),
            ("a.c", fixed, followed, true, "leave out --engine"),
            ("a.c", open, StopReason::Time, false, "--threads 2"),
            ("a.c", fixed, StopReason::Time, false, "longer --timeout"),
            ("a.c", sized, StopReason::Time, false, "longer --timeout"),
        ];
        for (name, text, reason, named, expected) in panel {
            let said = advice(name, text, reason.clone(), named);
            assert!(said.starts_with("next: ") && said.contains(expected), "{reason:?} {text}: {said}");
        }
        // The reason says it already, or the user knows.
        assert_eq!(advice("a.c", fixed, gave_up("weak memory (--memory-model sc)"), false), "");
        assert_eq!(advice("a.c", fixed, StopReason::Interrupted, false), "");
    }

    /// The advice follows the bound that was asked for, and what a larger one can bring.
    #[test]
    fn bounds_are_left_out_or_made_larger() {
        let finite = "shared bool x; proc f() { x = true; } thread p[2] { f(); }";
        let infinite = "shared bool x; proc f() { if (*) { g(); } } proc g() { f(); } thread p[2] { f(); }";
        let asked = |text: &str, question: Question| {
            let task = task("a.aw", text);
            let bound = StopReason::Bound("it".to_string());
            lines(&Forms::new(&task, &question), &bound, &[], false).join("\n")
        };
        let states = || Question { max_states: Some(20), ..Question::default() };
        let depth = || Question { max_depth: Some(4), ..Question::default() };
        let contexts = || Question { contexts: Some(2), ..Question::default() };
        let grid = || Question { rounds: Some(1), delays: Some(0), ..Question::default() };
        for (text, question, expected) in [
            (finite, states(), "every schedule is looked at then; or --max-states 200,"),
            (infinite, states(), "leave out --max-states (and --engine, if it is given): engines that prove"),
            (infinite, depth(), "engines that follow stacks of any depth"),
            (finite, contexts(), "or --contexts 3,"),
            (infinite, contexts(), "engines that prove are tried then; or --contexts 3,"),
            (
                finite,
                grid(),
                "leave out --rounds and --delays (and --engine, if it is given): every schedule",
            ),
            (finite, grid(), "or --rounds 2 --delays 1,"),
        ] {
            let said = asked(text, question);
            assert!(said.contains(expected), "{text}: {said}");
        }
    }

    #[test]
    fn nothing_stuck_is_proved_of_few_states() {
        let text = "shared int x; thread p[2] { loop { x = x + 1; } }";
        let task =
            Task { property: Property { deadlock: true, ..Property::default() }, ..task("a.aw", text) };
        let said = lines(&Forms::new(&task, &Question::default()), &StopReason::Time, &[], false);
        assert!(said.join("").starts_with("next: ranges such as"), "{said:?}");
    }

    #[test]
    fn engines_that_ended_alike_are_told_together() {
        let run = |engine, outcome: &str| EngineRun {
            engine,
            threads: String::new(),
            started: Duration::ZERO,
            took: Duration::ZERO,
            outcome: outcome.to_string(),
            states: None,
        };
        let runs = [
            run("modular", "the time limit was reached"),
            run("free", "safe"),
            run("views", "no closed set"),
            run("sandwich", "the time limit was reached"),
            run("modular", "the time limit was reached"),
        ];
        let expected = ["tried modular, sandwich: the time limit was reached", "tried views: no closed set"];
        assert_eq!(tried(&runs, "the time limit was reached"), expected);
        assert_eq!(tried(&runs, "no closed set"), expected[..1]);
        let far = EngineRun { states: Some(4711), ..run("free", "the time limit was reached") };
        let expected = "tried sandwich, free: the time limit was reached (free after 4711 states)";
        assert_eq!(tried(&[runs[3].clone(), far.clone()], ""), [expected]);
        assert!(tried(&[far], "the time limit was reached").is_empty(), "it is said already");
        let many: Vec<EngineRun> = (0..9).map(|number| run("views", &format!("reason {number}"))).collect();
        let told = tried(&many, "");
        assert_eq!(told.len(), MOST_TOLD + 1);
        assert_eq!(told[MOST_TOLD - 1], "tried views: reason 8");
    }
}
