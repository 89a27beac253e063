//! `allways fmt`: programs in one layout.

use super::arguments::Fmt;
use super::exit::Exit;
use super::{Context, Failure};
use crate::load::{LoadError, SourceDiagnostics, is_standard_input, read};
use crate::words;
use allways_engines::Budget;
use allways_lang::aw;
use std::fs;
use std::path::Path;

/// Runs the command. A file with errors is left as it is, and the others are formatted all the same.
pub fn run(arguments: &Fmt, context: &mut Context) -> Result<Exit, Failure> {
    let mut worst = Exit::Success;
    for file in &arguments.files {
        let exit = one(file, arguments.check, context);
        worst = worst.max(exit.unwrap_or_else(|failure| context.printer.report(&failure)));
    }
    Ok(worst)
}

fn one(file: &Path, check: bool, context: &mut Context) -> Result<Exit, Failure> {
    let source = read(file, &Budget::unlimited())?;
    let formatted = match aw::format(&source.text) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            return Err(LoadError::Faulty(Box::new(SourceDiagnostics { source, diagnostics })).into());
        }
    };
    let same = formatted.as_bytes() == &source.text[..];
    if check {
        if !same {
            context.output.emit(|out| writeln!(out, "{} is not formatted", words::path(file)));
        }
        return Ok(if same { Exit::Success } else { Exit::Otherwise });
    }
    if is_standard_input(file) {
        context.output.emit(|out| out.write_all(formatted.as_bytes()));
    } else if !same {
        fs::write(file, formatted).map_err(|error| Failure::Unwritable(file.to_path_buf(), error))?;
    }
    Ok(Exit::Success)
}
