//! Progress of random finite programs, against brute force; runs and rankings as text; and evidence that is none.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs.

use allways_engines::confirm::check_evidence;
use allways_engines::{Budget, Forms, Question};
use allways_evidence::lasso::{Halt, Lasso};
use allways_evidence::{
    Certificate, Counterexample, Evidence, Judge, Ranking, Ranks, Rejection, Subject, Verdict, certify,
    read_evidence, write_evidence,
};
use allways_lang::{aw, write};
use allways_model::program::Program;
use allways_model::task::{Model, Task};
use allways_testkit::conformance::named;
use allways_testkit::programs::{Kept, Limits, Mode, kept, looping, text};
use allways_testkit::random::seeds;
use fastrand::Rng;
use std::sync::Arc;

const LIMITS: Limits = Limits { states: 1500, threads: 4, depth: 6 };

fn parsed(text: &str) -> Program {
    let parsed = aw::parse(text.as_bytes());
    parsed.program.unwrap_or_else(|| panic!("{text}\n{:?}", parsed.diagnostics))
}

fn task(program: &Program, stuck: bool) -> Task {
    Task { stuck, ..Task::new(Model::Program(Arc::new(program.clone()))) }
}

/// How many threads there are, if progress can be asked about.
fn counts(program: &Program, stuck: bool) -> Option<Vec<usize>> {
    let task = task(program, stuck);
    allways_engines::meet::progress::supported(&Forms::new(&task, &Question::default())).ok()
}

fn asked(program: &Program, stuck: bool) -> Verdict {
    let task = task(program, stuck);
    let forms = Forms::new(&task, &Question::default());
    named("progress").run(&forms, &Budget::unlimited()).verdict
}

fn accepted(program: &Program, counts: &[usize], stuck: bool, evidence: &Evidence) -> Result<(), Rejection> {
    let counts: Vec<Option<usize>> = counts.iter().copied().map(Some).collect();
    let subject = Subject::Program { program, counts: &counts, deadlock: false, stuck };
    certify(&subject, evidence, &mut Judge::new(&|| None))
}

/// Writes evidence, reads it, and compares.
fn there_and_back(program: &Program, counts: &[usize], stuck: bool, evidence: &Evidence) {
    let counts: Vec<Option<usize>> = counts.iter().copied().map(Some).collect();
    let subject = Subject::Program { program, counts: &counts, deadlock: false, stuck };
    let mut text = Vec::new();
    write_evidence(&subject, evidence, &mut text).expect("it is about the program");
    let read = read_evidence(&subject, &text);
    assert_eq!(read.as_ref(), Ok(evidence), "{}", String::from_utf8_lossy(&text));
}

/// Whether the verdict is what brute force says; what it was.
fn agrees(text: &str, program: &Program, stuck: bool) -> Option<&'static str> {
    let counts = counts(program, stuck)?;
    let known = kept(program, &counts, LIMITS)?;
    let verdict = asked(program, stuck);
    let holds = known.goals.iter().all(|&kept| kept) && (!stuck || known.unstuck);
    match &verdict {
        Verdict::Safe(_) => assert!(!known.violation && holds, "{text}\n{known:?}"),
        Verdict::Unsafe(Counterexample::Trace(_)) => assert!(known.violation, "{text}\n{known:?}"),
        Verdict::Unsafe(Counterexample::Lasso(lasso)) => {
            assert!(!known.violation && !holds, "{text}\n{known:?}");
            match lasso.halt {
                Halt::Stuck { .. } => assert!(stuck && !known.unstuck, "{text}\n{known:?}"),
                Halt::Starved { property, thread, .. } => {
                    let goals = program.goals(&counts);
                    let goal =
                        goals.iter().position(|goal| (goal.property, goal.thread) == (property, thread));
                    assert!(!known.goals[goal.expect("a goal")], "{text}\n{lasso:?}");
                }
            }
        }
        Verdict::Unsafe(Counterexample::Run(_)) => panic!("{text}"),
        Verdict::Unknown(reason) => {
            assert!(known.violation, "{text}\n{reason}");
            return None;
        }
    }
    let what = match &verdict {
        Verdict::Safe(_) => "kept",
        Verdict::Unsafe(Counterexample::Lasso(lasso)) => match lasso.halt {
            Halt::Stuck { .. } => "stuck",
            Halt::Starved { .. } => "starved",
        },
        _ => return Some("wrong"),
    };
    let evidence = Evidence::try_from(verdict).expect("it was decided");
    let judged = accepted(program, &counts, stuck, &evidence);
    assert_eq!(judged, Ok(()), "{text}");
    there_and_back(program, &counts, stuck, &evidence);
    Some(what)
}

#[test]
fn random_programs_make_progress_as_brute_force_says() {
    let mut found = std::collections::BTreeMap::new();
    for seed in seeds(400) {
        let text = looping(seed);
        let program = parsed(&text);
        for stuck in [false, true] {
            let what = agrees(&text, &program, stuck).unwrap_or("too large, or unknown");
            *found.entry(what).or_insert(0) += 1;
        }
    }
    println!("{found:?}");
    for what in ["kept", "stuck", "starved"] {
        assert!(found.get(what).is_some_and(|&times| times > 40), "{found:?}");
    }
}

#[test]
fn programs_with_procedures_and_all_else_do_as_brute_force_says() {
    let mut decided = 0;
    for seed in seeds(150) {
        for mode in [Mode::Threads, Mode::Short] {
            let mut text = text(seed, mode);
            // Any label of a thread will do.
            let program = parsed(&text);
            let is_thread = |label: &&allways_model::program::Label| {
                let procedure = program.locations[label.location].procedure;
                program.templates.iter().any(|template| template.body == procedure)
            };
            if let Some(label) = program.labels.iter().find(is_thread) {
                let always = if seed % 2 == 0 { "always " } else { "" };
                text += &format!("{always}eventually {};\n", label.name);
            }
            let program = parsed(&text);
            decided += usize::from(agrees(&text, &program, true).is_some());
        }
    }
    println!("{decided} decided");
    assert!(decided > 60, "{decided}");
}

#[test]
fn programs_keep_their_promises_when_they_are_written_anew() {
    let mut compared = 0;
    for seed in seeds(150) {
        let text = looping(seed);
        let program = parsed(&text);
        let Ok(again) = write::aw(&program) else { continue };
        let other = parsed(&again);
        let formatted = aw::format(text.as_bytes()).expect("it was read");
        assert_eq!(parsed(&formatted).progress.len(), program.progress.len());
        let of = |program: &Program| kept(program, &counts(program, true)?, LIMITS);
        let (Some(one), Some(two)) = (of(&program), of(&other)) else { continue };
        let promises = |kept: &Kept| (kept.violation, kept.goals.clone(), kept.unstuck);
        assert_eq!(promises(&one), promises(&two), "{text}\n{again}");
        compared += 1;
    }
    assert!(compared > 80, "{compared}");
}

/// A ranking of all states with ranks and helpful threads that somebody has made up.
fn forged(ranking: &Ranking, threads: usize, rng: &mut Rng) -> Ranking {
    let mut forged = ranking.clone();
    for ranks in &mut forged.goals {
        match rng.u8(0..3) {
            // All pending states alike, and somebody helps.
            0 => ranks.of_states.iter_mut().flatten().for_each(|rank| *rank = 0),
            // Some states have nothing pending.
            1 => ranks.of_states.iter_mut().for_each(|rank| *rank = rank.filter(|_| rng.u8(0..4) > 0)),
            _ => ranks
                .of_states
                .iter_mut()
                .flatten()
                .for_each(|rank| *rank = rank.saturating_sub(rng.u32(0..2))),
        }
        let all: Vec<u32> = ranks.of_states.iter().flatten().copied().collect();
        for rank in all {
            ranks.helpful.entry(rank).or_insert(rng.usize(0..threads));
        }
    }
    for escapes in &mut forged.escapes {
        escapes.iter_mut().for_each(|steps| *steps = steps.saturating_sub(rng.u32(0..2)).min(9));
    }
    forged
}

/// All reachable states, with ranks that make sense nowhere.
fn listed(program: &Program, counts: &[usize], stuck: bool) -> Option<Ranking> {
    // The same program without promises, of which nothing is pending.
    let bare = Program { progress: Vec::new(), ..program.clone() };
    let task = Task { stuck: true, ..task(&bare, true) };
    let forms = Forms::new(&task, &Question::default());
    let states = match named("progress").run(&forms, &Budget::unlimited()).verdict {
        Verdict::Safe(Certificate::Ranking(ranking)) => ranking.states,
        _ => return None,
    };
    let goals = program.goals(counts);
    let ranks = Ranks { of_states: vec![Some(3); states.len()], ..Ranks::default() };
    let escapes = vec![vec![0; states.len()]; if stuck { counts.iter().sum() } else { 0 }];
    Some(Ranking { states, goals: vec![ranks; goals.len()], escapes })
}

#[test]
fn no_ranking_proves_what_is_not_so() {
    let (mut rejected, mut accepted_again) = (0, 0);
    for seed in seeds(250) {
        let text = looping(seed);
        let program = parsed(&text);
        let Some(counts) = counts(&program, true) else { continue };
        let Some(known) = kept(&program, &counts, LIMITS).filter(|known| !known.violation) else { continue };
        let holds = known.goals.iter().all(|&kept| kept);
        let rankings = match asked(&program, false) {
            Verdict::Safe(Certificate::Ranking(ranking)) => Some(*ranking),
            _ => listed(&program, &counts, false),
        };
        let Some(ranking) = rankings else { continue };
        let mut rng = Rng::with_seed(seed);
        for _ in 0..8 {
            let forged = forged(&ranking, counts.iter().sum(), &mut rng);
            match accepted(&program, &counts, false, &forged.into()) {
                Ok(()) => {
                    assert!(holds, "{text}");
                    accepted_again += 1;
                }
                Err(_) => rejected += 1,
            }
        }
        // What was promised once must have been kept in all states before.
        let mut less = ranking.clone();
        for ranks in &mut less.goals {
            ranks.of_states.fill(None);
        }
        let judged = accepted(&program, &counts, false, &less.into());
        let nothing_to_keep = program.goals(&counts).is_empty();
        assert!(judged.is_err() || holds || nothing_to_keep, "{text}");
    }
    println!("{rejected} rejected, {accepted_again} accepted");
    assert!(rejected > 500, "{rejected}");
}

#[test]
fn no_run_shows_what_is_not_so() {
    let (mut rejected, mut runs) = (0, 0);
    for seed in seeds(250) {
        let text = looping(seed);
        let program = parsed(&text);
        let Some(counts) = counts(&program, true) else { continue };
        let Some(known) = kept(&program, &counts, LIMITS).filter(|known| !known.violation) else { continue };
        for stuck in [false, true] {
            let Verdict::Unsafe(Counterexample::Lasso(lasso)) = asked(&program, stuck) else { continue };
            runs += 1;
            for changed in changes(&lasso, &program, counts.iter().sum()) {
                match accepted(&program, &counts, true, &changed.clone().into()) {
                    Err(_) => rejected += 1,
                    // Another run may show the same of another thread, or of another promise.
                    Ok(()) => match changed.halt {
                        Halt::Stuck { .. } => assert!(!known.unstuck, "{text}"),
                        Halt::Starved { property, thread, .. } => {
                            let goals = program.goals(&counts);
                            let is = |goal: &allways_model::program::Goal| {
                                (goal.property, goal.thread) == (property, thread)
                            };
                            let goal = goals.iter().position(is).expect("a goal");
                            assert!(!known.goals[goal], "{text}\n{changed:?}");
                        }
                    },
                }
            }
        }
    }
    println!("{runs} runs, {rejected} changes rejected");
    assert!(runs > 50 && rejected > 300, "{runs} {rejected}");
}

/// Runs that differ in one thing.
fn changes(lasso: &Lasso, program: &Program, threads: usize) -> Vec<Lasso> {
    let mut changed = Vec::new();
    let mut add = |change: &dyn Fn(&mut Lasso)| {
        let mut other = lasso.clone();
        change(&mut other);
        if other != *lasso {
            changed.push(other);
        }
    };
    for thread in 0..threads + 1 {
        add(&|lasso| lasso.halt = Halt::Stuck { thread });
        for property in 0..program.progress.len() + 1 {
            for cycle in 0..=lasso.steps.len() + 1 {
                add(&|lasso| lasso.halt = Halt::Starved { property, thread, cycle });
            }
        }
    }
    for step in 0..lasso.steps.len() {
        add(&|lasso| drop(lasso.steps.remove(step)));
        add(&|lasso| lasso.steps.truncate(step));
        add(&|lasso| lasso.steps[step].thread = (lasso.steps[step].thread + 1) % threads);
        add(&|lasso| lasso.steps[step].edge += 1);
        add(&|lasso| lasso.steps[step].state.shared[0] ^= 1);
        add(&|lasso| lasso.initial = lasso.steps[step].state.clone());
    }
    changed
}

#[test]
fn a_proof_of_safety_is_none_of_progress() {
    let program = parsed("shared bool x; thread p[2] { loop { x = !x; here: skip; } } eventually here;");
    let safe = Program { progress: Vec::new(), ..program.clone() };
    let (other, task) = (task(&safe, false), task(&program, false));
    let forms = Forms::new(&other, &Question::default());
    let verdict = named("free").run(&forms, &Budget::unlimited()).verdict;
    let evidence = verdict.evidence().expect("it is safe");
    assert_eq!(check_evidence(&forms, evidence, &Budget::unlimited()), Ok(()));
    let judged = check_evidence(&Forms::new(&task, &Question::default()), evidence, &Budget::unlimited());
    assert!(matches!(judged, Err(Rejection::Malformed(_))), "{judged:?}");
}

/// The text with a line left out, repeated or moved, or with other digits.
fn spoilt(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let at = rng.usize(0..lines.len());
    match rng.u8(0..6) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[rng.usize(0..lines.len())].clone()),
        2 => lines.truncate(at),
        3 => lines.swap(at, text.lines().count() - 1),
        _ => {
            let digit = |letter: char| match letter.is_ascii_digit() && rng.u8(0..3) == 0 {
                true => char::from(b'0' + rng.u8(0..10)),
                false => letter,
            };
            lines[at] = lines[at].chars().map(digit).collect();
        }
    }
    lines.join("\n")
}

#[test]
fn spoilt_texts_are_no_proofs_of_what_is_not_so() {
    let (mut unread, mut rejected) = (0, 0);
    for seed in seeds(150) {
        let text = looping(seed);
        let program = parsed(&text);
        let Some(counts) = counts(&program, true) else { continue };
        let Some(known) = kept(&program, &counts, LIMITS).filter(|known| !known.violation) else { continue };
        let holds = known.goals.iter().all(|&kept| kept) && known.unstuck;
        let evidence = Evidence::try_from(asked(&program, true)).expect("it is decided");
        let numbers: Vec<Option<usize>> = counts.iter().copied().map(Some).collect();
        let subject = Subject::Program { program: &program, counts: &numbers, deadlock: false, stuck: true };
        let mut written = Vec::new();
        write_evidence(&subject, &evidence, &mut written).expect("it is about the program");
        let written = String::from_utf8(written).expect("text");
        let mut rng = Rng::with_seed(seed);
        for _ in 0..20 {
            let Ok(read) = read_evidence(&subject, spoilt(&written, &mut rng).as_bytes()) else {
                unread += 1;
                continue;
            };
            match (accepted(&program, &counts, true, &read), &read) {
                (Err(_), _) => rejected += 1,
                (Ok(()), Evidence::Certificate(_)) => assert!(holds, "{text}\n{written}"),
                (Ok(()), Evidence::Counterexample(_)) => assert!(!holds, "{text}\n{written}"),
            }
        }
    }
    println!("{unread} cannot be read, {rejected} are rejected");
    assert!(unread > 500 && rejected > 100, "{unread} {rejected}");
}
