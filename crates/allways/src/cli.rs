//! The command line: arguments in, one verdict line out, and an exit code that means one thing.
//!
//! Read in this order: [`exit`] and [`arguments`], what users see first; [`choice`], which engine answers; the commands
//! [`check`] with [`schedule`], [`reach`], [`evidence`] (`certify` and `replay`), [`convert`] and [`format`](mod@format); [`counters`], the same commands for counter systems; [`views`], proofs with a solver; then what they
//! share: [`session`] (limits, interruption, memory), [`progress`], [`output`], [`diagnostics`], [`steps`] and [`story`]
//! (traces), [`stats`], [`words`].

mod arguments;
mod check;
mod choice;
mod convert;
mod counters;
mod diagnostics;
mod evidence;
mod exit;
mod explain;
mod format;
mod output;
mod progress;
mod reach;
mod schedule;
mod session;
mod stats;
mod steps;
mod story;
mod views;
mod words;

use allways::counters::is_counters;
use allways::{LoadError, Refuted, engines};
use allways_engines::meet::coverability::Method;
use arguments::{Arguments, Command};
use clap::Parser;
use diagnostics::Complaints;
use exit::Exit;
use output::{Output, stderr_colored, stdout_colored};
use std::any::Any;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::time::Instant;

/// Runs the program.
pub fn main() -> Exit {
    let started = Instant::now();
    guarded(|| run(started))
}

/// Runs something, and turns a panic into [`Exit::Bug`].
fn guarded(run: impl FnOnce() -> Exit) -> Exit {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
        let (what, place) = (message(panic.payload()), place.unwrap_or_default());
        output::complain(&format!(
            "allways: internal error: {what}{place}\n\
             This is a bug in allways, whatever its input. Please report it with the command and the input.\n"
        ));
    }));
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or(Exit::Bug)
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("unknown")
}

fn run(started: Instant) -> Exit {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and the version are errors to the parser, but not to the user. A reader that has gone needs neither.
            let _ = error.print();
            return if error.use_stderr() { Exit::BadInput } else { Exit::Success };
        }
    };
    let mut output = Output::new(stdout_colored(arguments.color));
    let complaints = Complaints { colored: stderr_colored(arguments.color), quiet: arguments.quiet };
    let mut context =
        Context { output: &mut output, complaints: &complaints, quiet: arguments.quiet, started };
    let outcome = match arguments.command {
        Command::Check(arguments) => {
            let theirs = counters::check(&arguments, &mut context);
            theirs.unwrap_or_else(|| check::run(&arguments, &mut context))
        }
        Command::Reach(arguments) => reach::run(&arguments, &mut context),
        Command::Certify(arguments) if is_counters(&arguments.file) => {
            counters::certify(&arguments, &mut context)
        }
        Command::Certify(arguments) => {
            let theirs = views::certify_views(&arguments, &mut context);
            theirs.unwrap_or_else(|| evidence::certify(&arguments, &mut context))
        }
        Command::Replay(arguments) if is_counters(&arguments.file) => {
            counters::replay(&arguments, &mut context)
        }
        Command::Replay(arguments) => evidence::replay(&arguments, &mut context),
        Command::Convert(arguments) => {
            let theirs = counters::convert(&arguments, &mut context);
            theirs.unwrap_or_else(|| convert::run(&arguments, &mut context))
        }
        Command::Fmt(arguments) => format::run(&arguments, &mut context),
        Command::Engines => {
            list_engines(&mut output);
            Ok(Exit::Success)
        }
    };
    let exit = outcome.unwrap_or_else(|failure| complaints.report(&failure));
    match output.finish() {
        Ok(()) => exit,
        Err(error) => exit.max(complaints.report(&Failure::Unwritable("standard output".into(), error))),
    }
}

fn list_engines(output: &mut Output) {
    let width = engines().iter().map(|engine| engine.name().len()).max().unwrap_or_default();
    output.emit(|out| {
        for engine in engines() {
            writeln!(out, "{:width$}  {}", engine.name(), engine.summary())?;
        }
        writeln!(out, "{:width$}  {}", allways::views::NAME, allways::views::SUMMARY)?;
        writeln!(out, "\nFor .spec and .tts files:\n")?;
        for method in Method::ALL {
            writeln!(out, "{:width$}  {}", method.name(), method.summary())?;
        }
        writeln!(out, "\nWithout --engine, {} answers.", allways::auto().name())
    });
}

/// What every command has at hand.
pub struct Context<'a> {
    /// Standard output.
    pub output: &'a mut Output,
    /// Standard error.
    pub complaints: &'a Complaints,
    /// Whether only verdicts are wanted.
    pub quiet: bool,
    /// When the program started.
    pub started: Instant,
}

/// Why a command has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The arguments make no sense together: what is wrong, and what to do.
    Usage(String, String),
    /// Input that cannot be used.
    Input(LoadError),
    /// A file of evidence that is none.
    NoEvidence(PathBuf, allways_evidence::BadEvidence),
    /// Output that cannot be written.
    Unwritable(PathBuf, io::Error),
    /// An engine whose evidence is rejected.
    Refuted(Refuted),
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        Failure::Input(error)
    }
}

impl From<Refuted> for Failure {
    fn from(refuted: Refuted) -> Failure {
        Failure::Refuted(refuted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn a_panic_is_a_bug() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Bug);
        assert_eq!(guarded(|| Exit::Unsafe), Exit::Unsafe);
        let _ = panic::take_hook();
    }

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
