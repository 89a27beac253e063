//! `allways reach`: which visible states can be reached?

use super::arguments::Reach;
use super::choice::choose;
use super::evidence::Destination;
use super::exit::Exit;
use super::session::Session;
use super::stats::{self, Stats};
use super::{Context, Failure, words};
use allways::counters::is_counters;
use allways::verify::{name, nothing};
use allways::views::NAME;
use allways::{
    Bound, Engine, LoadError, Question, Reached, Report, StopReason, System, Verdict, Watch, load, reach,
};
use allways_evidence::{Certificate, Invariant, Subject};
use allways_model::notation::show_visible;
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Visible};
use serde::{Serialize, Serializer};
use std::time::Duration;

/// Runs the command.
pub fn run(arguments: &Reach, context: &mut Context) -> Result<Exit, Failure> {
    if !arguments.target.is_empty() {
        let what = "reach takes no --target: it finds all states, good or bad".to_string();
        return Err(Failure::Usage(what, "use `allways check` to ask about a state".to_string()));
    }
    if is_counters(&arguments.file) {
        let what =
            "reach is not for .spec and .tts files: any number of threads has no list of states".to_string();
        return Err(Failure::Usage(what, "use `allways check` to ask about a target".to_string()));
    }
    let search = &arguments.search;
    if search.engine == NAME {
        let help = "leave out --engine, or use allways check".to_string();
        return Err(Failure::Usage(format!("the engine {NAME} lists no states"), help));
    }
    let (engine, question) = choose(search)?;
    let destination = Destination::new(search.evidence.as_deref())?;
    Session::heed_interruptions();
    let session = Session::new(context.started, search.limits, !context.quiet);
    let (file, options) = (arguments.file.clone(), search.start.options());
    let loaded = session.reading(move || load(file, &options, &Watch::none()));
    let (system, reached) = match loaded {
        Err(LoadError::Stopped(reason)) => (None, not_loaded(reason)),
        loaded => {
            // The text is not needed any more, and may be large.
            let allways::Loaded { system, remarks, .. } = loaded?;
            context.complaints.remarks(&remarks);
            drop(remarks);
            let reached = session.watched(|watch| reach(&system, &question, engine, watch))?;
            (Some(system), reached)
        }
    };
    let bounded = within_bounds(&question, &reached.report);
    let exit = match &reached.report.verdict {
        Verdict::Unknown(reason) if !bounded => Exit::stopped(reason),
        _ => Exit::Success,
    };
    let answer =
        Answer { arguments, engine, session: &session, system: system.as_ref(), reached: &reached, bounded };
    if search.json {
        answer.print_json(context);
    } else {
        answer.print(context);
    }
    if let Some(system) = &system {
        let subject = Subject::Pushdown { system, property: &Property::default() };
        destination.write(&subject, &reached.report.verdict, context)?;
    }
    Ok(exit)
}

/// Whether exactly the set asked for by bounds was explored. A number of states is a limit, not a set.
fn within_bounds(question: &Question, report: &Report) -> bool {
    let figures = &report.figures;
    let grid =
        question.rounds.is_some() && (figures.rounds, figures.delays) == (question.rounds, question.delays);
    let contexts = question.contexts.is_some() && figures.contexts == question.contexts;
    let few =
        question.max_states.is_none_or(|max| figures.concrete_states.is_some_and(|states| states <= max));
    let depth = question.max_depth.is_some() && few;
    matches!(report.verdict, Verdict::Unknown(StopReason::Bound(_))) && (grid || contexts || depth)
}

/// What is known if not even the file was read.
fn not_loaded(reason: StopReason) -> Reached {
    let report = nothing(reason);
    let (searching, checking) = (Duration::ZERO, Duration::ZERO);
    Reached { report, converged: false, visible: Bound::AtLeast, searching, checking }
}

/// How many states there are, if that is known. Most engines converge without having seen every state. The invariants of
/// `free` and `scheme1` list them all, with whole stacks, up to the renaming of alike threads; and where no stack is deeper
/// than its top symbol, what is visible is all there is.
fn concrete_states(engine: &str, reached: &Reached, bounded: bool) -> Option<u128> {
    match &reached.report.verdict {
        Verdict::Safe(Certificate::Invariant(invariant))
            if ["free", "scheme1"].contains(&engine) && whole(invariant) =>
        {
            let orbits = invariant.states().map(|(_, windows)| invariant.kinds.orbit(windows));
            Some(orbits.fold(0, u128::saturating_add))
        }
        Verdict::Safe(Certificate::Invariant(invariant))
            if reached.converged
                && invariant.window == 1
                && invariant.windows.iter().flatten().all(|window| !window.more) =>
        {
            Some(reached.report.visible.count())
        }
        Verdict::Unknown(_) if bounded => reached.report.figures.concrete_states.map(|states| states as u128),
        _ => None,
    }
}

/// Whether an invariant keeps whole stacks: none fills the window.
fn whole(invariant: &Invariant) -> bool {
    invariant.windows.iter().flatten().all(|window| window.symbols.len() < invariant.window)
}

struct Answer<'a> {
    arguments: &'a Reach,
    engine: &'static dyn Engine,
    session: &'a Session,
    system: Option<&'a System>,
    reached: &'a Reached,
    bounded: bool,
}

/// More states than this are not listed: expanding orbits of threads that are alike may give any number.
const LISTED: u128 = 10_000_000;

impl Answer<'_> {
    /// Whether the states are to be listed, and can be.
    fn lists(&self, context: &Context) -> bool {
        let count = self.reached.report.visible.count();
        if self.arguments.states && count > LISTED {
            context.complaints.warn(&format!("the states are not listed: more than {LISTED} of them"));
        }
        self.arguments.states && count <= LISTED
    }

    fn print(&self, context: &mut Context) {
        let lists = self.lists(context);
        let Reached { report, searching, checking, .. } = self.reached;
        let figures = &report.figures;
        let file = words::path(&self.arguments.file);
        let visible = words::count(report.visible.count(), "visible state");
        let mut details = vec![name(self.engine, report).to_string()];
        if self.reached.converged {
            details.push("certified".to_string());
        }
        if let (Some(rounds), Some(delays)) = (figures.rounds, figures.delays) {
            details.push(words::count(rounds, "round"));
            details.push(words::count(delays, "delay"));
        }
        if let Some(contexts) = figures.contexts {
            details.push(words::count(contexts, "context"));
        }
        details.push(words::duration(self.session.elapsed()));
        let details = details.join(", ");
        let (word, rest) = match &report.verdict {
            Verdict::Unknown(StopReason::Bound(bound)) if self.bounded => {
                let concrete = figures.concrete_states.unwrap_or_default();
                ("bounded", format!("{file} has exactly {visible} ({concrete} concrete) within {bound}"))
            }
            Verdict::Unknown(reason) if self.system.is_none() => {
                ("unknown", format!("{file} was not read to the end, because {}", words::because(reason)))
            }
            Verdict::Unknown(reason) => {
                let bound = self.reached.visible.words();
                ("unknown", format!("{file} has {bound} {visible}, because {}", words::because(reason)))
            }
            _ => ("converged", format!("{file} has {} {visible}", self.reached.visible.words())),
        };
        context.output.verdict(word, &format!("{rest} ({details})"));
        context.output.emit(|out| {
            if self.arguments.search.stats {
                stats::write(out, figures, *searching, None, *checking)?;
            }
            match self.system {
                Some(system) if lists => report
                    .visible
                    .sorted()
                    .iter()
                    .try_for_each(|state| writeln!(out, "{}", show_visible(system, state))),
                _ => Ok(()),
            }
        });
    }

    fn print_json(&self, context: &mut Context) {
        let lists = self.lists(context);
        let Reached { report, converged, visible, searching, checking } = self.reached;
        let figures = &report.figures;
        let reason = match &report.verdict {
            Verdict::Unknown(reason) => Some(reason.to_string()),
            Verdict::Safe(_) | Verdict::Unsafe(_) => None,
        };
        let object = Object {
            engine: name(self.engine, report),
            file: self.arguments.file.display().to_string(),
            threads: self.system.map(Pushdown::threads),
            converged: *converged,
            visible_states: report.visible.count(),
            visible_states_are: if self.bounded { Bound::Exactly } else { *visible }.words(),
            concrete_states: concrete_states(name(self.engine, report), self.reached, self.bounded),
            stored_states: figures.concrete_states,
            rounds: figures.rounds,
            delays: figures.delays,
            contexts: figures.contexts,
            images: figures.images,
            seconds: self.session.elapsed().as_secs_f64(),
            peak_bytes: self.session.peak(),
            reason,
            stats: self.arguments.search.stats.then(|| Stats::new(figures, *searching, None, *checking)),
            states: self.system.filter(|_| lists).map(|system| States(system, report.visible.sorted())),
        };
        context.output.emit(|out| {
            serde_json::to_writer(&mut *out, &object)?;
            writeln!(out)
        });
    }
}

#[derive(Serialize)]
struct Object<'a> {
    engine: &'static str,
    file: String,
    threads: Option<usize>,
    converged: bool,
    visible_states: u128,
    visible_states_are: &'static str,
    concrete_states: Option<u128>,
    stored_states: Option<usize>,
    rounds: Option<u32>,
    delays: Option<u32>,
    contexts: Option<u32>,
    images: u64,
    seconds: f64,
    peak_bytes: usize,
    reason: Option<String>,
    #[serde(flatten)]
    stats: Option<Stats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<States<'a>>,
}

/// Visible states, written one by one: there may be millions.
struct States<'a>(&'a System, Vec<Visible>);

impl Serialize for States<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().map(|state| show_visible(self.0, state)))
    }
}
