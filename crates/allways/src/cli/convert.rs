//! `allways convert`: a system in another notation.

use super::arguments::{Convert, Format};
use super::exit::Exit;
use super::{Context, Failure};
use allways::Watch;
use allways::load::load_rules;
use allways_lang::pds;
use std::fs;

/// Runs the command.
pub fn run(arguments: &Convert, context: &mut Context) -> Result<Exit, Failure> {
    let loaded = load_rules(&arguments.file, &Watch::none())?;
    context.complaints.remarks(&loaded.remarks);
    let text = match arguments.to {
        Format::Pds => pds::write(&loaded.system),
    };
    match &arguments.output {
        Some(path) => fs::write(path, text).map_err(|error| Failure::Unwritable(path.clone(), error))?,
        None => context.output.emit(|out| out.write_all(text.as_bytes())),
    }
    Ok(Exit::Success)
}
