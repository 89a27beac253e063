//! `allways replay --native`: says what is built and run, and whether the error was reached.

use super::arguments::Replay;
use super::exit::Exit;
use super::{Context, Failure};
use crate::native::schedule::{Failing, Kind, Schedule};
use crate::native::{Ended, NativeRun, replay_native};
use crate::recheck::Claim;
use crate::words;
use allways_engines::Budget;
use std::time::Duration;

/// How long other schedules are tried.
const SEARCH: Duration = Duration::from_secs(5);

/// Runs `replay --native`.
pub fn run(arguments: &Replay, claim: &Claim, context: &mut Context) -> Result<Exit, Failure> {
    let (file, name) = (words::path(&arguments.file), words::path(&arguments.trace));
    if !arguments.file.extension().is_some_and(|ending| ending == "c" || ending == "i") {
        let help = "leave out --native".to_string();
        return Err(Failure::Usage(format!("--native is for C programs, and {file} is none"), help));
    }
    if let Err(why) = claim.check(&Budget::unlimited()) {
        context.output.verdict("rejected", &format!("{name} is no run of {file} that goes wrong: {why}"));
        return Ok(Exit::Rejected);
    }
    let schedule = match claim.schedule() {
        Ok(Some(schedule)) => schedule,
        Ok(None) => {
            let help = "`allways check --evidence` writes one".to_string();
            return Err(Failure::Usage(format!("{name} is no trace of a program"), help));
        }
        Err(why) => {
            context.output.verdict("unknown", &format!("{name} cannot be followed: {why}"));
            return Ok(Exit::Unknown);
        }
    };
    let native = match replay_native(&arguments.file, &schedule, SEARCH, arguments.keep.as_deref()) {
        Ok(native) => native,
        Err(why) => {
            context.output.verdict("unknown", &format!("{file} cannot be run: {why}"));
            return Ok(Exit::Unknown);
        }
    };
    let events = schedule.events.iter().filter(|event| event.kind != Kind::Turn).count();
    // The two accesses of a race do not take place.
    let events = if schedule.failing == Failing::Race { events.saturating_sub(2) } else { events };
    let switches = words::count(schedule.switches() as u128, "context switch");
    let (word, rest, exit) = match (&native.followed, &native.searched) {
        (run, _) if native.by_trace() => {
            let went = format!("{} of {events} events, {switches}", run.matched);
            (
                "reached",
                format!("{file}: {} by the schedule of the trace ({went})", error(run, &schedule)),
                Exit::Success,
            )
        }
        (_, Some((tried, Some(run)))) => {
            let tried = words::count(*tried as u128, "schedule");
            let rest = format!(
                "{file}: {}, but not by the schedule of the trace: by search, after {tried}",
                error(run, &schedule)
            );
            ("reached", rest, Exit::Success)
        }
        (_, searched) => {
            let tried = searched.as_ref().map_or(0, |searched| searched.0);
            let tried = words::count(tried as u128, "other schedule");
            (
                "not reached",
                format!("{file}: the error was not seen, nor in {tried} near the trace"),
                Exit::Unknown,
            )
        }
    };
    context.output.verdict(word, &rest);
    if !context.quiet {
        for command in &native.commands {
            context.output.emit(|out| writeln!(out, "  {command}"));
        }
        if let Some(folder) = &arguments.keep {
            let folder = words::path(folder);
            let again = format!("ALLWAYS_SCHEDULE={folder}/schedule {folder}/program");
            context.output.emit(|out| writeln!(out, "  once more: {again}"));
        }
        if !native.by_trace() {
            let run = native.followed;
            let line = format!("following the trace ({} of {events} events): {}", run.matched, run.ended);
            context.output.emit(|out| writeln!(out, "  {line}"));
        }
    }
    Ok(exit)
}

/// Which error a run reached.
fn error(run: &NativeRun, schedule: &Schedule) -> String {
    let Ended::Reached { line, thread, other } = run.ended else { return run.ended.to_string() };
    let name = |thread: usize| if thread == 0 { "main".to_string() } else { format!("thread {thread}") };
    let who = name(thread);
    if let Some((other, other_line)) = other {
        let place = |line: Option<u32>| line.map_or_else(String::new, |line| format!(" (line {line})"));
        return format!(
            "data race: {who}{} and {}{} were about to access the same memory, one of them to write it,",
            place(line),
            name(other),
            place(other_line)
        );
    }
    let what = match schedule.failing {
        Failing::Error => format!("{who} reached the error"),
        Failing::Memory => format!("{who} accessed memory that is none"),
        Failing::Division => format!("{who} divided by zero"),
        Failing::Deadlock => "no thread could move".to_string(),
        Failing::Race => "data race".to_string(),
    };
    match (line, schedule.line) {
        (Some(line), Some(said)) if line != said => format!("line {line} (the trace says {said}): {what}"),
        (Some(line), _) => format!("line {line}: {what}"),
        (None, _) => what,
    }
}
