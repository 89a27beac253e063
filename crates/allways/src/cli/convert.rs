//! `allways convert`: a system in another notation.

use super::arguments::{Convert, Format};
use super::exit::Exit;
use super::session::Session;
use super::{Context, Failure};
use crate::flatten::{NotFlat, counted, flatten};
use crate::load::{LoadError, Notation, Options, load, load_rules};
use allways_engines::Budget;
use allways_lang::{pds, spec, tts, write};
use allways_model::counters::Counters;
use allways_model::notation::{show_pattern, show_state};
use allways_model::program::Program;
use allways_model::program::sequential::{NotSequential, sequential};
use allways_model::property::Pattern;
use allways_model::pushdown::{Explicit, Shared};
use allways_model::task::{Model, Task};
use std::fs;
use std::path::Path;

/// Runs the command.
pub fn run(arguments: &Convert, context: &mut Context) -> Result<Exit, Failure> {
    Session::heed_interruptions();
    let session = Session::new(context.started, arguments.limits, !context.quiet);
    let to_program = matches!(arguments.to, Format::Aw | Format::Bp | Format::C | Format::Boogie);
    let usage = |what: &str, help: &str| Err(Failure::Usage(what.to_string(), help.to_string()));
    let is_rules = Notation::of(&arguments.file, &Options::default()).ending == "pds";
    if is_rules && arguments.to == Format::Pds && arguments.sequentialize.is_none() {
        // Rules without an initial state can be written as well.
        let (system, diagnostics) = load_rules(&arguments.file, &Budget::unlimited())?;
        context.printer.diagnostics(&diagnostics);
        put(&pds::write(&system), arguments.output.as_deref(), context)?;
        return Ok(Exit::Success);
    }
    if is_rules && to_program && arguments.sequentialize.is_none() {
        let what = "rules say nothing of variables and statements, so they have no program";
        return usage(what, "only programs can be converted to programs");
    }
    if is_rules && arguments.sequentialize.is_none() {
        return usage("threads with stacks cannot be counted", "choose another format");
    }
    let sequentialize = "--sequentialize makes a program of a program";
    if is_rules || arguments.sequentialize.is_some() && !to_program {
        return usage(sequentialize, "give --to aw, bp, c or boogie");
    }
    let options = Options {
        threads: arguments.threads.clone().unwrap_or_default(),
        definitions: arguments.definitions.iter().cloned().collect(),
        ..Options::default()
    };
    let loaded = load(&arguments.file, &options, &Budget::unlimited())?;
    context.printer.diagnostics(&loaded.diagnostics);
    let task = loaded.task;
    match (&task.model, arguments.to) {
        (Model::Counters(_), _) if arguments.sequentialize.is_some() => {
            return usage(sequentialize, "give --to aw, bp, c or boogie");
        }
        (Model::Counters(counters), Format::Spec | Format::Tts) => {
            put_counters(counters, arguments, context)?;
        }
        (Model::Program(program), to) if !program.progress.is_empty() && to != Format::Aw => {
            let what = "`eventually` is written in the .aw language only".to_string();
            return Err(LoadError::at(&task.source, program.progress[0].span, what).into());
        }
        (Model::Counters(_), _) => {
            let what = ".spec and .tts files can be converted to .spec and .tts only";
            return usage(what, "choose another format");
        }
        (_, Format::Spec | Format::Tts) => {
            let counters = session.budgeted(|budget| counted(&task, budget)).map_err(not_flat)?;
            put_counters(&counters, arguments, context)?;
        }
        (_, Format::Pds) => put_rules(&task, &session, arguments, context)?,
        (_, _) if arguments.threads.is_some() => {
            return usage(
                "--threads is for --to pds: a program keeps the numbers that it states",
                "leave it out",
            );
        }
        (Model::Program(program), _) => {
            let text = program_text(program, &task, arguments)?;
            put(&text, arguments.output.as_deref(), context)?;
        }
        (Model::Rules(_), _) => return usage(sequentialize, "give --to aw, bp, c or boogie"),
    }
    Ok(Exit::Success)
}

fn program_text(program: &Program, task: &Task, arguments: &Convert) -> Result<String, LoadError> {
    let sequential = match arguments.sequentialize {
        Some(delays) => match sequential(program, delays as usize) {
            Ok(sequential) => Some(sequential.program),
            Err(NotSequential { what, span }) => return Err(LoadError::at(&task.source, span, what)),
        },
        None => None,
    };
    let program = sequential.as_ref().unwrap_or(program);
    let text = match arguments.to {
        Format::C => write::c(program),
        Format::Boogie => write::boogie(program),
        Format::Bp => write::bp(program),
        _ => write::aw(program),
    };
    text.map_err(|refusal| LoadError::at(&task.source, refusal.span, refusal.reason))
}

fn not_flat(error: NotFlat) -> Failure {
    match error {
        NotFlat::Input(error) => error.into(),
        NotFlat::Rejected(rejected) => rejected.into(),
        NotFlat::Unknown(why) => {
            Failure::Usage(format!("it cannot be written down: {why}"), "perhaps give more time".to_string())
        }
    }
}

/// Writes the rules of a program, where they start, and what they must avoid.
fn put_rules(
    task: &Task,
    session: &Session,
    arguments: &Convert,
    context: &mut Context,
) -> Result<(), Failure> {
    let flat = session.budgeted(|budget| flatten(task, budget)).map_err(not_flat)?;
    let output = arguments.output.as_deref();
    put(&pds::write(&flat.system), output, context)?;
    let (init, spec) = beside(&flat.system, flat.shared.first().copied());
    match output {
        Some(path) => {
            put(&format!("{init}\n"), Some(&path.with_extension("init")), context)?;
            put(&format!("{spec}\n"), Some(&path.with_extension("spec")), context)?;
        }
        None => context.output.emit(|out| writeln!(out, "# --init '{init}' --target '{spec}'")),
    }
    Ok(())
}

/// What is written beside the rules: the initial state, and what must never be seen.
fn beside(system: &Explicit, bad: Option<Shared>) -> (String, String) {
    let pattern = Pattern { shared: bad, tops: vec![None; system.threads.len()] };
    (show_state(system, &system.initial), show_pattern(system, &pattern))
}

fn put_counters(system: &Counters, arguments: &Convert, context: &mut Context) -> Result<(), Failure> {
    let refused = |why| Failure::Usage(why, "only some systems can be written in both formats".to_string());
    let output = arguments.output.as_deref();
    if arguments.to == Format::Spec {
        return put(&spec::write(system).map_err(refused)?, output, context);
    }
    let written = tts::write(system).map_err(refused)?;
    put(&written.tts, output, context)?;
    match output {
        Some(path) => {
            put(&written.init, Some(&path.with_extension("init")), context)?;
            put(&written.prop, Some(&path.with_extension("prop")), context)?;
        }
        None => {
            let (init, prop) =
                (written.init.trim_end(), written.prop.trim_end().replace('\n', "' --target '"));
            context.output.emit(|out| writeln!(out, "# --init '{init}' --target '{prop}'"));
        }
    }
    Ok(())
}

/// Writes a text to a file, or to standard output.
fn put(text: &str, path: Option<&Path>, context: &mut Context) -> Result<(), Failure> {
    match path {
        Some(path) => fs::write(path, text).map_err(|error| Failure::Unwritable(path.to_path_buf(), error)),
        None => {
            context.output.emit(|out| out.write_all(text.as_bytes()));
            Ok(())
        }
    }
}
