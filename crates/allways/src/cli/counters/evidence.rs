//! `allways certify` and `allways replay` for counter systems.

use super::super::arguments::{Certify, Replay};
use super::super::exit::Exit;
use super::super::session::Session;
use super::super::{Context, Failure, words};
use super::{emit, refuse, table, targets as show_targets};
use allways::Watch;
use allways::counters::load;
use allways::load::read;
use allways_evidence::counters::walk;
use allways_evidence::{
    Counterexample, Evidence, Header, Judge, Rejection, Subject, certify as accept, read_evidence,
};
use allways_model::counters::Counters;
use serde::Serialize;
use std::path::Path;

/// A system and evidence about it, or why it is none.
fn case(
    file: &Path,
    evidence: &Path,
    init: Option<&str>,
    targets: &[String],
    context: &mut Context,
) -> Result<(Counters, Result<Evidence, String>), Failure> {
    let (system, remarks) = load(file, init, targets, &Watch::none())?;
    context.complaints.remarks(&remarks);
    let text = read(evidence, &Watch::none())?.bytes;
    match read_evidence(&Subject::Counters(&system), &text) {
        Ok(evidence) => Ok((system, Ok(evidence))),
        Err(bad) if Header::read(&text).is_some() => {
            let why = format!("line {}, column {}: {}", bad.line, bad.column, bad.what);
            Ok((system, Err(why)))
        }
        Err(bad) => Err(Failure::NoEvidence(evidence.to_path_buf(), bad)),
    }
}

/// Runs `certify`.
pub fn certify(arguments: &Certify, context: &mut Context) -> Result<Exit, Failure> {
    refuse(&[
        (arguments.targets.deadlock, "--deadlock"),
        (arguments.no_target, "--no-target"),
        (arguments.start.threads.is_some(), "--threads"),
        (arguments.start.unreduced, "--unreduced"),
    ])?;
    Session::heed_interruptions();
    let session = Session::new(context.started, arguments.limits, false);
    let targets = &arguments.targets.states;
    let (system, evidence) =
        case(&arguments.file, &arguments.evidence, arguments.start.init.as_deref(), targets, context)?;
    let kind = evidence.as_ref().ok().map(Evidence::kind);
    let judged = session.watched(|watch| match &evidence {
        Ok(evidence) => {
            let stop = || watch.room_for(0).err();
            accept(&Subject::Counters(&system), evidence, &mut Judge::new(&stop))
        }
        Err(why) => Err(Rejection::Malformed(why.clone())),
    });
    let (verdict, reason, exit) = match &judged {
        Ok(()) => ("accepted", None, Exit::Success),
        Err(Rejection::Stopped(reason)) => ("unknown", Some(words::because(reason)), Exit::stopped(reason)),
        Err(rejection) => ("rejected", Some(rejection.to_string()), Exit::Bug),
    };
    if arguments.json {
        let seconds = session.elapsed().as_secs_f64();
        emit(&Certified { verdict, kind, reason, seconds }, context);
        return Ok(exit);
    }
    let (name, file) = (words::path(&arguments.evidence), words::path(&arguments.file));
    let rest = match (reason, kind) {
        (None, Some("run")) => format!("{name} proves that {file} covers a target"),
        (None, _) => format!("{name} proves that {file} never covers {}", show_targets(&system)),
        (Some(why), _) if verdict == "unknown" => {
            format!("{name} was not checked to the end, because {why}")
        }
        (Some(why), _) => format!("{name} proves nothing about {file}: {why}"),
    };
    let time = words::duration(session.elapsed());
    context.output.verdict(verdict, &format!("{rest} ({time})"));
    Ok(exit)
}

#[derive(Serialize)]
struct Certified {
    verdict: &'static str,
    kind: Option<&'static str>,
    reason: Option<String>,
    seconds: f64,
}

/// Runs `replay`.
pub fn replay(arguments: &Replay, context: &mut Context) -> Result<Exit, Failure> {
    let init = arguments.start.init.as_deref();
    let (system, evidence) =
        case(&arguments.file, &arguments.trace, init, &arguments.targets.states, context)?;
    let (file, name) = (words::path(&arguments.file), words::path(&arguments.trace));
    let run = match evidence {
        Ok(Evidence::Counterexample(Counterexample::Run(run))) => run,
        Ok(_) => {
            let help = "`allways certify` checks proofs".to_string();
            return Err(Failure::Usage(format!("{name} is a proof, which has no steps"), help));
        }
        Err(why) => {
            context.output.verdict("rejected", &format!("{name} is no run of {file}: {why}"));
            return Ok(Exit::Bug);
        }
    };
    match walk(&system, &run) {
        Ok(end) => {
            let steps = words::count(run.rules.len() as u128, "step");
            let end = words::cut(&system.show(&end));
            context.output.verdict("accepted", &format!("{file} covers a target in {steps}, in {end}"));
            if !context.quiet {
                context.output.emit(|out| table(out, &system, &run));
            }
            Ok(Exit::Success)
        }
        Err(why) => {
            context
                .output
                .verdict("rejected", &format!("{name} is no run of {file} that covers a target: {why}"));
            Ok(Exit::Bug)
        }
    }
}
