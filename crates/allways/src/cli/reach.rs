//! `allways reach`: which visible states can be reached?

use super::arguments::{Reach, Smt};
use super::evidence::Destination;
use super::exit::Exit;
use super::session::Session;
use super::{Context, Failure};
use crate::check::Request;
use crate::load::{LoadError, load};
use crate::reach::{Bound, MOST_LISTED, Reached, States, because, reach};
use crate::stats::Stats;
use crate::words;
use allways_engines::Budget;
use allways_evidence::{StopReason, Verdict};
use serde::Serialize;

/// Runs the command.
pub fn run(arguments: &Reach, context: &mut Context) -> Result<Exit, Failure> {
    if !arguments.target.is_empty() {
        let what = "reach takes no --target: it finds all states, good or bad".to_string();
        return Err(Failure::Usage(what, "use `allways check` to ask about a state".to_string()));
    }
    let search = &arguments.search;
    let question = search.question(&Smt::default(), None);
    let engine = search.engine(context.engines, &question)?;
    let request = Request { engine: Some(engine), question, explain: false };
    let destination = Destination::new(search.evidence.as_deref())?;
    Session::heed_interruptions();
    let session = Session::new(context.started, search.limits, !context.quiet);
    let (file, mut options) = (arguments.file.clone(), search.start.options());
    options.no_property = true;
    let loaded = session.reading(move || load(file, &options, &Budget::unlimited()));
    let task;
    let reached = match loaded {
        Err(LoadError::Stopped(reason)) => Reached::not_read(reason).by(engine.info()),
        loaded => {
            let loaded = loaded?;
            context.printer.diagnostics(&loaded.diagnostics);
            // The text is not needed any more, and may be large.
            drop(loaded.diagnostics);
            task = loaded.task;
            session.budgeted(|budget| reach(&task, &request, budget))?
        }
    };
    let exit = match &reached.outcome.verdict {
        Verdict::Unknown(reason) if !reached.bounded => Exit::stopped(reason),
        _ => Exit::Success,
    };
    if arguments.states && reached.outcome.visible.count() > MOST_LISTED {
        context.printer.warn(&format!("the states are not listed: more than {MOST_LISTED} of them"));
    }
    if search.json {
        print_json(arguments, &reached, &session, context);
    } else {
        print(arguments, &reached, &session, context);
    }
    destination.write(|out| reached.write_evidence(out), context)?;
    // The end of the process frees it at once, and nobody waits for it bit by bit.
    std::mem::forget(reached);
    Ok(exit)
}

fn print(arguments: &Reach, reached: &Reached<'_>, session: &Session, context: &mut Context) {
    let Reached { outcome, converged, bounded, visible, stats, .. } = reached;
    let figures = &outcome.figures;
    let file = words::path(&arguments.file);
    let states = words::count(outcome.visible.count(), "visible state");
    let mut details = vec![outcome.engine.map_or("", |info| info.name).to_string()];
    if *converged {
        details.push("certified".to_string());
    }
    if let (Some(rounds), Some(delays)) = (figures.rounds, figures.delays) {
        details.push(words::count(rounds, "round"));
        details.push(words::count(delays, "delay"));
    }
    details.extend(figures.contexts.map(|contexts| words::count(contexts, "context")));
    // Sorts them, which may take a while: before the clock is read.
    let states_listed = reached.states().filter(|_| arguments.states);
    details.push(words::duration(session.elapsed()));
    let (word, rest) = match (&outcome.verdict, because(outcome)) {
        (Verdict::Unknown(StopReason::Bound(bound)), _) if *bounded => {
            let concrete = figures.concrete_states.unwrap_or_default();
            ("bounded", format!("{file} has exactly {states} ({concrete} concrete) within {bound}"))
        }
        (_, Some(because)) if reached.threads().is_none() => {
            ("unknown", format!("{file} was not read to the end, because {because}"))
        }
        (_, Some(because)) => {
            ("unknown", format!("{file} has {} {states}, because {because}", visible.words()))
        }
        (_, None) => ("converged", format!("{file} has {} {states}", visible.words())),
    };
    context.output.verdict(word, &format!("{rest} ({})", details.join(", ")));
    context.output.emit(|out| {
        if arguments.search.stats {
            stats.write(out)?;
        }
        match states_listed {
            Some(states) => states.try_for_each(|state| writeln!(out, "{state}")),
            None => Ok(()),
        }
    });
}

fn print_json(arguments: &Reach, reached: &Reached<'_>, session: &Session, context: &mut Context) {
    let outcome = &reached.outcome;
    let figures = &outcome.figures;
    // Sorts them, which may take a while: before the clock is read.
    let states = reached.states().filter(|_| arguments.states);
    let object = Object {
        engine: outcome.engine.map_or("", |info| info.name),
        file: arguments.file.display().to_string(),
        threads: reached.threads(),
        converged: reached.converged,
        visible_states: outcome.visible.count(),
        visible_states_are: if reached.bounded { Bound::Exactly } else { reached.visible }.words(),
        concrete_states: reached.concrete_states,
        stored_states: figures.concrete_states,
        rounds: figures.rounds,
        delays: figures.delays,
        contexts: figures.contexts,
        images: figures.images,
        seconds: session.elapsed().as_secs_f64(),
        peak_bytes: session.peak(),
        reason: match &outcome.verdict {
            Verdict::Unknown(reason) => Some(reason.to_string()),
            Verdict::Safe(_) | Verdict::Unsafe(_) => None,
        },
        stats: arguments.search.stats.then_some(&reached.stats),
        states,
    };
    context.output.json(&object);
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
    stats: Option<&'a Stats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<States<'a>>,
}
