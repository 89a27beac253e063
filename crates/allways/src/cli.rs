//! The command line: arguments in, one verdict line out, and an exit code that means one thing.
//!
//! It parses, shows progress and renders; what is decided is decided by the library. Read in this order: `exit` and
//! `arguments`, what users see first; the commands `check`, `cluster`, `reach`, `evidence` (`certify` and `replay`), `test`, `serve`,
//! `convert`, `format`, `graph` and `manners`; then what they share: `session` (limits, interruption, memory), `progress`, `output`,
//! `diagnostics`.

mod arguments;
mod check;
mod cluster;
mod convert;
mod diagnostics;
mod evidence;
mod exit;
mod format;
mod graph;
mod manners;
mod native;
mod output;
mod progress;
mod reach;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod test;

pub use exit::Exit;

use crate::check::CheckError;
use crate::load::LoadError;
use allways_engines::engine::{Setting, Takes};
use allways_engines::table::NoEngine;
use allways_engines::{Engines, EvidenceRejected};
use arguments::{Arguments, Command};
use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, FromArgMatches};
use diagnostics::{DiagnosticPrinter, Unanswered};
use output::{Output, stderr_colored, stdout_colored};
use std::any::Any;
use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs the program with these engines, on the arguments of the process.
pub fn main(engines: &Engines) -> Exit {
    let started = Instant::now();
    guarded(|| run(started, std::env::args_os(), engines, None))
}

/// Runs the program with these engines, on these arguments after its name, and writes to `out` in place of standard output.
pub fn run_with(
    arguments: impl IntoIterator<Item = impl Into<OsString>>,
    engines: &Engines,
    out: Box<dyn Write>,
) -> Exit {
    let arguments = arguments.into_iter().map(Into::into);
    run(Instant::now(), std::iter::once("allways".into()).chain(arguments), engines, Some(out))
}

/// Runs something, and turns a panic into [`Exit::Bug`].
fn guarded(run: impl FnOnce() -> Exit) -> Exit {
    panic::set_hook(Box::new(|panic| {
        // What carries the records of workers panics when another process is lost, which is told as what it is.
        if panic.location().is_some_and(|place| place.file().contains("timely_communication")) {
            return;
        }
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

fn run(
    started: Instant,
    arguments: impl Iterator<Item = OsString>,
    engines: &Engines,
    out: Option<Box<dyn Write>>,
) -> Exit {
    let given: Vec<OsString> = arguments.collect();
    let parsed = command(engines).try_get_matches_from(&given);
    let arguments = match parsed.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and the version are errors to the parser, but not to the user. A reader that has gone needs neither.
            let _ = error.print();
            return if error.use_stderr() { Exit::BadInput } else { Exit::Success };
        }
    };
    if arguments.verbose {
        tell_events();
    }
    let mut output = match out {
        Some(out) => Output::to(out, false),
        None => Output::new(stdout_colored(arguments.color)),
    };
    let printer = DiagnosticPrinter { colored: stderr_colored(arguments.color), quiet: arguments.quiet };
    // GitHub sets it to `true` in every step of a workflow.
    let annotates = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    let mut context = Context {
        output: &mut output,
        printer: &printer,
        engines,
        quiet: arguments.quiet,
        started,
        annotates,
        width: output::width(),
    };
    let outcome = match arguments.command {
        Command::Check(arguments) if arguments.watch => manners::watch(&arguments, &mut context),
        Command::Check(arguments) => check::run(&arguments, &mut context),
        Command::Cluster(arguments) => cluster::run(&arguments, &given, &mut context),
        Command::Reach(arguments) => reach::run(&arguments, &mut context)
            .or_else(|failure| Ok(context.fail(&arguments.file, arguments.search.json, &failure))),
        Command::Certify(arguments) => evidence::recheck(&arguments, &mut context)
            .or_else(|failure| Ok(context.fail(&arguments.file, arguments.json, &failure))),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => serve::run(&arguments, &mut context),
        #[cfg(feature = "lsp")]
        Command::Lsp => language_server(),
        Command::Test(arguments) => test::run(&arguments, &mut context),
        Command::Replay(arguments) => evidence::walk(&arguments, &mut context),
        Command::Convert(arguments) => convert::run(&arguments, &mut context),
        Command::Fmt(arguments) => format::run(&arguments, &mut context),
        Command::Graph(arguments) => graph::run(&arguments, &mut context),
        Command::New(arguments) => manners::new(&arguments, &mut context),
        Command::Completions(arguments) => manners::completions(&arguments, &mut context),
        Command::Man(arguments) => manners::man(&arguments, &mut context),
        Command::Engines => {
            list_engines(engines, &mut output);
            Ok(Exit::Success)
        }
    };
    let exit = outcome.unwrap_or_else(|failure| printer.report(&failure));
    match output.finish() {
        Ok(()) => exit,
        Err(error) => exit.max(printer.report(&Failure::Unwritable("standard output".into(), error))),
    }
}

/// The arguments, with the names of these engines.
fn command(engines: &Engines) -> clap::Command {
    let names: Vec<&'static str> = engines.iter().map(|engine| engine.info().name).collect();
    let named = |command: clap::Command| {
        let names = PossibleValuesParser::new(names.clone());
        command.mut_arg("engine", |argument| argument.value_parser(names).hide_possible_values(true))
    };
    // The last of repeated options counts, so that a wrapper's can be changed.
    let command = Arguments::command().args_override_self(true);
    command.mut_subcommand("check", named).mut_subcommand("cluster", named).mut_subcommand("reach", named)
}

/// Serves an editor until it is done.
#[cfg(feature = "lsp")]
fn language_server() -> Result<Exit, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::Unwritable("standard output".into(), error))?;
    let failed = |error| LoadError::Unreadable { path: "standard input".into(), error };
    crate::lsp::run(program).map_err(failed)?;
    Ok(Exit::Success)
}

/// Writes the events of the engines to standard error.
fn tell_events() {
    let events = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_timer(tracing_subscriber::fmt::time::uptime())
        .with_max_level(tracing::Level::DEBUG)
        .with_target(false)
        .with_level(false)
        .with_ansi(false);
    // It was set before if the program is run twice in one process.
    let _ = events.try_init();
}

fn list_engines(engines: &Engines, output: &mut Output) {
    let width = engines.iter().map(|engine| engine.info().name.len()).max().unwrap_or_default();
    let groups = [
        ("", vec![Takes::All, Takes::Pushdown]),
        ("\nFor programs (.aw, .bp):\n\n", vec![Takes::Programs]),
        (
            "\nFor counter systems (.spec, .tts), and for programs with any number of threads:\n\n",
            vec![Takes::Countable],
        ),
        ("\nFor counter systems:\n\n", vec![Takes::Counters]),
    ];
    output.emit(|out| {
        for (title, takes) in groups {
            write!(out, "{title}")?;
            for engine in engines.iter().filter(|engine| takes.contains(&engine.info().takes)) {
                writeln!(out, "{:width$}  {}", engine.info().name, engine.info().summary)?;
            }
        }
        writeln!(
            out,
            "\nWithout --engine, {} answers. Options that only some engines know:\n",
            engines.auto().info().name
        )?;
        for setting in Setting::ALL {
            let able = engines.iter().filter(|engine| engine.info().settings.contains(&setting));
            let able: Vec<&str> = able.map(|engine| engine.info().name).collect();
            writeln!(out, "{}: {}", setting, able.join(", "))?;
        }
        Ok(())
    });
}

/// What every command has at hand.
struct Context<'a> {
    /// Standard output.
    pub output: &'a mut Output,
    /// Standard error.
    pub printer: &'a DiagnosticPrinter,
    /// The engines that there are.
    pub engines: &'a Engines,
    /// Whether only verdicts are wanted.
    pub quiet: bool,
    /// When the program started.
    pub started: Instant,
    /// Whether what is found is said once more as annotations of a pull request.
    pub annotates: bool,
    /// How many columns a trace may take.
    pub width: usize,
}

impl Context<'_> {
    /// Says why there is no answer for a file, with `json` on standard output, too.
    fn fail(&mut self, file: &Path, json: bool, failure: &Failure) -> Exit {
        let exit = self.printer.report(failure);
        if json {
            self.output.json(&Unanswered::new(file, failure));
        }
        exit
    }
}

/// Why a command has no answer.
#[derive(Debug)]
enum Failure {
    /// The arguments make no sense together: what is wrong, and what to do.
    Usage(String, String),
    /// Input that cannot be used.
    Input(LoadError),
    /// A file of evidence that is none.
    NoEvidence(PathBuf, allways_evidence::BadEvidence),
    /// Output that cannot be written.
    Unwritable(PathBuf, io::Error),
    /// An engine whose evidence is rejected.
    Rejected(EvidenceRejected),
}

impl Failure {
    /// The same, and says of which file, where nothing in it does.
    fn about(self, file: &Path) -> Failure {
        match self {
            Failure::Usage(what, help) => Failure::Usage(format!("{}: {what}", file.display()), help),
            other => other,
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        Failure::Input(error)
    }
}

impl From<EvidenceRejected> for Failure {
    fn from(rejected: EvidenceRejected) -> Failure {
        Failure::Rejected(rejected)
    }
}

impl From<NoEngine> for Failure {
    fn from(error: NoEngine) -> Failure {
        Failure::Usage(error.what, error.help)
    }
}

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Failure {
        match error {
            CheckError::Input(error) => error.into(),
            CheckError::Unsupported(error) => error.into(),
            CheckError::Rejected(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Bug);
        assert_eq!(guarded(|| Exit::Unsafe), Exit::Unsafe);
        let _ = panic::take_hook();
    }

    #[test]
    fn arguments_are_consistent() {
        command(&Engines::default()).debug_assert();
    }
}
