//! `allways fmt`: programs in one layout.

use super::arguments::Fmt;
use super::exit::Exit;
use super::{Context, Failure};
use crate::load::{LoadError, SourceDiagnostics, read};
use crate::words;
use allways_engines::Budget;
use allways_lang::aw;
use allways_model::task::Source;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

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
    let piped = file.as_os_str() == "-";
    let source = if piped { standard_input()? } else { read(file, &Budget::unlimited())? };
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
        return Ok(if same { Exit::Success } else { Exit::Unknown });
    }
    if piped {
        context.output.emit(|out| out.write_all(formatted.as_bytes()));
    } else if !same {
        fs::write(file, formatted).map_err(|error| Failure::Unwritable(file.to_path_buf(), error))?;
    }
    Ok(Exit::Success)
}

fn standard_input() -> Result<Source, Failure> {
    let mut bytes = Vec::new();
    let path = "standard input";
    let unreadable = |error| LoadError::Unreadable { path: path.into(), error };
    io::stdin().lock().read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(Source { name: path.to_string(), text: Arc::new(bytes) })
}
