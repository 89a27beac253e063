//! `allways convert`: a system in another notation.

use super::arguments::{Convert, Format};
use super::exit::Exit;
use super::session::Session;
use super::{Context, Failure};
use allways::flatten::{NotFlat, flatten};
use allways::load::{Notation, load_program, load_rules};
use allways::{LoadError, Options, Remarks, System, Watch, load};
use allways_lang::diagnostic::{Diagnostics, Severity};
use allways_lang::{pds, write};
use allways_model::notation::{show_pattern, show_state};
use allways_model::program::Span;
use allways_model::program::sequential::{NotSequential, sequential};
use allways_model::property::Pattern;
use allways_model::pushdown::Explicit;
use std::fs;
use std::path::Path;

/// Runs the command.
pub fn run(arguments: &Convert, context: &mut Context) -> Result<Exit, Failure> {
    let file = &arguments.file;
    let program_to_program = Notation::of(file) != Notation::Pds && arguments.to != Format::Pds;
    if arguments.sequentialize.is_some() && !program_to_program {
        let what = "--sequentialize makes a program of a program".to_string();
        return Err(Failure::Usage(what, "give --to aw, bp, c or boogie".to_string()));
    }
    match (Notation::of(file), arguments.to) {
        (Notation::Pds, Format::Pds) => {
            let (system, remarks) = load_rules(file, &Watch::none())?;
            context.complaints.remarks(&remarks);
            put(&pds::write(&system), arguments.output.as_deref(), context)?;
        }
        (Notation::Pds, _) => {
            let what = "rules say nothing of variables and statements, so they have no program".to_string();
            return Err(Failure::Usage(what, "only programs can be converted to programs".to_string()));
        }
        (_, Format::Pds) => return rules(arguments, context),
        (_, _) if arguments.threads.is_some() => {
            let what = "--threads is for --to pds: a program keeps the numbers that it states".to_string();
            return Err(Failure::Usage(what, "leave it out".to_string()));
        }
        (_, to) => {
            let (mut program, remarks) = load_program(file, &Watch::none())?;
            context.complaints.remarks(&remarks);
            if let Some(delays) = arguments.sequentialize {
                let sequential = sequential(&program, delays as usize);
                program = match sequential {
                    Ok(sequential) => sequential.program,
                    Err(NotSequential { what, span }) => return Err(at(&what, span, remarks).into()),
                };
            }
            let text = match to {
                Format::C => write::c(&program),
                Format::Boogie => write::boogie(&program),
                Format::Bp => write::bp(&program),
                _ => write::aw(&program),
            };
            let text = text.map_err(|refusal| refused(refusal, remarks))?;
            put(&text, arguments.output.as_deref(), context)?;
        }
    }
    Ok(Exit::Success)
}

fn refused(refusal: write::Refusal, remarks: Remarks) -> LoadError {
    at(&refusal.reason, refusal.span, remarks)
}

fn at(what: &str, span: Span, remarks: Remarks) -> LoadError {
    let mut diagnostics = Diagnostics::default();
    let span = span.start as usize..span.end as usize;
    diagnostics.add(Severity::Error, span, || (what.to_string(), None));
    LoadError::Faulty(Box::new(Remarks { diagnostics, ..remarks }))
}

/// Writes the rules of a program, where they start, and what they must avoid.
fn rules(arguments: &Convert, context: &mut Context) -> Result<Exit, Failure> {
    Session::heed_interruptions();
    let session = Session::new(context.started, arguments.limits, !context.quiet);
    let threads = arguments.threads.clone().unwrap_or_default();
    let loaded = load(&arguments.file, &Options { threads, ..Options::default() }, &Watch::none())?;
    context.complaints.remarks(&loaded.remarks);
    let System::Program(encoded) = &loaded.system else { return Ok(Exit::Success) };
    let property = encoded.property(false);
    let bad: Vec<_> = property.bad.iter().filter_map(|pattern| pattern.shared).collect();
    let flat = match session.watched(|watch| flatten(&**encoded, &bad, watch)) {
        Ok(flat) => flat,
        Err(NotFlat::Refuted(refuted)) => return Err(refuted.into()),
        Err(NotFlat::Unknown(why)) => {
            let help = "only finite programs have finitely many rules; perhaps give --threads or more time";
            return Err(Failure::Usage(format!("the rules cannot be written down: {why}"), help.to_string()));
        }
    };
    put(&pds::write(&flat.system), arguments.output.as_deref(), context)?;
    let (init, spec) = beside(&flat.system, flat.shared.first().copied());
    match &arguments.output {
        Some(path) => {
            put(&format!("{init}\n"), Some(&path.with_extension("init")), context)?;
            put(&format!("{spec}\n"), Some(&path.with_extension("spec")), context)?;
        }
        None => context.output.emit(|out| writeln!(out, "# --init '{init}' --target '{spec}'")),
    }
    Ok(Exit::Success)
}

/// What is written beside the rules: the initial state, and what must never be seen.
fn beside(system: &Explicit, bad: Option<u32>) -> (String, String) {
    let pattern = Pattern { shared: bad, tops: vec![None; system.threads.len()] };
    (show_state(system, &system.initial), show_pattern(system, &pattern))
}

/// Writes a text to a file, or to standard output.
pub(super) fn put(text: &str, path: Option<&Path>, context: &mut Context) -> Result<(), Failure> {
    match path {
        Some(path) => fs::write(path, text).map_err(|error| Failure::Unwritable(path.to_path_buf(), error)),
        None => {
            context.output.emit(|out| out.write_all(text.as_bytes()));
            Ok(())
        }
    }
}
