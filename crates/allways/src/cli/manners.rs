//! What makes a command line pleasant: completions of a shell, manual pages, a program to start from, and checks that are repeated
//! when a file changes.

use super::arguments::{Check, Completions, Man, New};
use super::exit::Exit;
use super::session::Session;
use super::{Context, Failure, check, command};
use crate::words;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The program that `new` writes.
const STARTER: &str = include_str!("starter.aw");

/// How often files are looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Prints the completions of a shell.
pub fn completions(arguments: &Completions, context: &mut Context) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(context.engines), "allways", &mut script);
    context.output.emit(|out| out.write_all(&script));
    Ok(Exit::Success)
}

/// Writes manual pages: of the program to standard output, or of all commands to a folder.
pub fn man(arguments: &Man, context: &mut Context) -> Result<Exit, Failure> {
    let command = command(context.engines).disable_help_subcommand(true);
    match &arguments.folder {
        Some(folder) => {
            let written = clap_mangen::generate_to(command, folder);
            written.map_err(|error| Failure::Unwritable(folder.clone(), error))?;
        }
        None => context.output.emit(|out| {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            out.write_all(&page)
        }),
    }
    Ok(Exit::Success)
}

/// Writes a program to start from; never over one that is there.
pub fn new(arguments: &New, context: &mut Context) -> Result<Exit, Failure> {
    let path = match arguments.name.extension() {
        Some(ending) if ending == "aw" => arguments.name.clone(),
        _ => PathBuf::from(format!("{}.aw", arguments.name.display())),
    };
    let unwritable = |error: io::Error| Failure::Unwritable(path.clone(), error);
    let mut file = File::create_new(&path).map_err(unwritable)?;
    let name = path.with_extension("").display().to_string();
    file.write_all(STARTER.replace("NAME", &name).as_bytes()).map_err(unwritable)?;
    let shown = words::path(&path);
    context.output.emit(|out| writeln!(out, "{shown} is written; next: allways check {shown}"));
    Ok(Exit::Success)
}

/// Checks, and again whenever a file has changed, until it is interrupted.
pub fn watch(arguments: &Check, context: &mut Context) -> Result<Exit, Failure> {
    Session::heed_interruptions();
    loop {
        let seen = stamps(arguments);
        // What is wrong with one state of a file is said, and may be right in the next.
        if let Err(failure) = check::run(arguments, context) {
            context.printer.report(&failure);
        }
        context.output.emit(|out| out.flush());
        context.printer.note("waiting for a change; Ctrl-C ends it");
        while stamps(arguments) == seen {
            if Session::is_interrupted() {
                return Ok(Exit::Interrupted);
            }
            thread::sleep(LOOK);
        }
        context.started = Instant::now();
    }
}

/// When the files, and those beside them that are read with them, were changed, and how long they are.
fn stamps(arguments: &Check) -> Vec<Option<(SystemTime, u64)>> {
    let beside = ["init", "spec", "prop"];
    let files = arguments.files.iter().flat_map(|file| {
        std::iter::once(file.clone()).chain(beside.into_iter().map(|ending| file.with_extension(ending)))
    });
    let stamp = |file: PathBuf| {
        let metadata = fs::metadata(file).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    files.map(stamp).collect()
}
