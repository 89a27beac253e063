//! Counter systems: from files to a verdict that a checker has accepted.
//!
//! `FILE.spec` holds all of a system, as in mist. Beside `FILE.tts`, `FILE.prop` holds what must never be covered and
//! `FILE.init` where it starts; both can be given as texts instead, which win. Whoever makes a [`Counters`] in another way
//! asks [`check`] as well:
//!
//! ```
//! use allways::counters::check;
//! use allways::Watch;
//! use allways_engines::meet::coverability::Method;
//! use allways_evidence::{Counterexample, Verdict};
//! use allways_model::counters::{Bag, Counters, Initial, Rule, Target};
//!
//! // Any number of threads are outside, 0, or inside, 1; the shared state says whether somebody is inside.
//! let one = |local| Bag::from_iter([(local, 1)]);
//! let mut system = Counters {
//!     shared: vec!["free".into(), "taken".into()],
//!     locals: vec!["outside".into(), "inside".into(), "waiting".into()],
//!     rules: vec![Rule::plain(0, 1, one(0), one(1), 1), Rule::plain(1, 0, one(1), one(0), 2)],
//!     initial: vec![Initial { shared: 0, tokens: Bag::new(), any: vec![0, 2] }],
//!     targets: vec![Target { shared: None, tokens: Bag::from_iter([(1, 2)]) }],
//! };
//! system.validate().expect("names and numbers fit");
//! let checked = check(&system, Method::Coverability, &Watch::none()).expect("no evidence is refuted");
//! assert!(matches!(checked.report.verdict, Verdict::Safe(_)) && checked.certified);
//!
//! // A broadcast that sends all that wait inside.
//! system.rules.push(Rule { moves: vec![(2, Some(1))], ..Rule::plain(0, 0, one(0), one(0), 3) });
//! let checked = check(&system, Method::Coverability, &Watch::none()).expect("no evidence is refuted");
//! let Verdict::Unsafe(Counterexample::Run(run)) = checked.report.verdict else { panic!("two can be inside") };
//! assert_eq!(run.rules, [2], "the rules that fire, by their index");
//! ```

use crate::load::{LoadError, Loaded, Remarks, Text, read, read_if_there};
use crate::verify::Refuted;
use allways_engines::Question;
use allways_engines::above::thread_modular;
use allways_engines::engine::Watch;
use allways_engines::meet::coverability::{Method, Report, decide};
use allways_evidence::counted::counters_of;
use allways_evidence::{Judge, Rejection, Subject, Verdict, certify};
use allways_lang::diagnostic::{Diagnostic, Diagnostics};
use allways_lang::{spec, tts};
use allways_model::counters::{Bag, Counters, Target};
use allways_model::pushdown::Pushdown;
use std::path::Path;
use std::time::{Duration, Instant};

/// Whether a file holds a counter system, by its name. A `.spec` file beside a `.pds` file holds something else, but nobody
/// asks for that one directly.
pub fn is_counters(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "spec" || ending == "tts")
}

/// A program as a counter system, with any number of threads where it leaves the number open; or why it is none.
///
/// The property of the program is the target. Where it counts threads at places (`at`), a counter that has reached all that
/// the property asks for is kept there: then the counter system can do more than the program, and what it proves holds.
pub fn counted(loaded: &Loaded, watch: &Watch) -> Result<Result<Counters, String>, LoadError> {
    let many = loaded.any_number()?;
    if many.is_none() && loaded.threads_taken().is_some() {
        return Ok(Err("the program uses what cannot be said of any number of threads".to_string()));
    }
    let loaded = many.as_ref().unwrap_or(loaded);
    let system = &loaded.system;
    let question = Question { property: loaded.property(&[], watch)?, ..Question::default() };
    let Some(products) = thread_modular::bound(system, &question, watch) else {
        return Ok(Err("there are too many thread states".to_string()));
    };
    let mut counters = match (counters_of(system, &question.property, &products), system.unfollowed()) {
        (Ok(counting), None) => counting.counters,
        (Err(why), _) | (Ok(_), Some(why)) => return Ok(Err(why)),
    };
    if counters.targets.is_empty() {
        // No thread state is bad. A file has to name something all the same.
        counters.shared.push("violated".to_string());
        let shared = Some(counters.shared.len() as u32 - 1);
        counters.targets.push(Target { shared, tokens: Bag::new() });
    }
    Ok(Ok(counters))
}

/// Reads a counter system. `init` and `targets` are for `.tts` files.
pub fn load(
    path: &Path,
    init: Option<&str>,
    targets: &[String],
    watch: &Watch,
) -> Result<(Counters, Remarks), LoadError> {
    let text = read(path, watch)?;
    if path.extension().is_some_and(|ending| ending == "tts") {
        return load_tts(path, text, init, targets, watch);
    }
    if init.is_some() || !targets.is_empty() {
        let what = "--init and --target are not for .spec files".to_string();
        return Err(LoadError::Unfit(what, "the file has its own `init` and `target`".to_string()));
    }
    let spec::Parsed { system, diagnostics } = spec::parse(&text.bytes);
    let remarks = Remarks { text, diagnostics };
    match system {
        Some(system) => Ok((system, remarks)),
        None => Err(LoadError::Faulty(Box::new(remarks))),
    }
}

fn load_tts(
    path: &Path,
    text: Text,
    init: Option<&str>,
    targets: &[String],
    watch: &Watch,
) -> Result<(Counters, Remarks), LoadError> {
    let tts::Parsed { system, diagnostics } = tts::parse(&text.bytes);
    let remarks = Remarks { text, diagnostics };
    let Some(mut tts) = system else { return Err(LoadError::Faulty(Box::new(remarks))) };
    let given = |option: &str, text: String| Some(Text { name: option.to_string(), bytes: text.into() });
    let init = match init {
        Some(init) => given("--init", init.to_string()),
        None => read_if_there(&path.with_extension("init"), watch)?,
    };
    if let Some(text) = init {
        tts.read_init(&text.bytes).map_err(|error| faulty(text, error))?;
    }
    let property = match targets {
        [] => read_if_there(&path.with_extension("prop"), watch)?,
        targets => given("--target", targets.join("\n")),
    };
    if let Some(text) = property {
        tts.read_targets(&text.bytes).map_err(|error| faulty(text, error))?;
    }
    Ok((tts.system, remarks))
}

fn faulty(text: Text, error: Diagnostic) -> LoadError {
    let mut diagnostics = Diagnostics::default();
    diagnostics.add(error.severity, error.span, || (error.message, error.help));
    LoadError::Faulty(Box::new(Remarks { text, diagnostics }))
}

/// The answer to whether a target can be covered.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What the method reports. The verdict is the checkers': unknown if they did not get to the end.
    pub report: Report,
    /// Whether there is evidence and a checker has accepted it: always so if the verdict is safe or unsafe.
    pub certified: bool,
    /// How long the method took.
    pub searching: Duration,
    /// How long the checker took.
    pub checking: Duration,
}

/// Whether a target can be covered, with any number of threads. The system must be [valid](Counters::validate).
pub fn check(system: &Counters, method: Method, watch: &Watch) -> Result<Checked, Refuted> {
    let started = Instant::now();
    let mut report = match watch.room_for(0) {
        Ok(()) => decide(system, method, watch),
        Err(reason) => Report { verdict: Verdict::Unknown(reason), method, stored: 0, images: 0 },
    };
    let searching = started.elapsed();
    let stop = || watch.room_for(0).err();
    let judged = match report.verdict.evidence() {
        Some(evidence) => certify(&Subject::Counters(system), evidence, &mut Judge::new(&stop)),
        None => Ok(()),
    };
    match judged {
        Ok(()) => {}
        Err(Rejection::Stopped(reason)) => report.verdict = Verdict::Unknown(reason),
        Err(rejection) => {
            let claim = if let Verdict::Unsafe(_) = report.verdict { "unsafe" } else { "safe" };
            return Err(Refuted { engine: report.method.name(), claim, why: rejection.to_string() });
        }
    }
    let certified = !matches!(report.verdict, Verdict::Unknown(_));
    Ok(Checked { report, certified, searching, checking: started.elapsed() - searching })
}
