//! `allways convert` between the notations of counter systems.

use super::super::arguments::{Convert, Format};
use super::super::exit::Exit;
use super::super::{Context, Failure};
use allways::Watch;
use allways::counters::{is_counters, load};
use allways_lang::{spec, tts};
use std::fs;
use std::path::Path;

/// Runs `convert`, if it is from or to a counter system.
pub fn convert(arguments: &Convert, context: &mut Context) -> Option<Result<Exit, Failure>> {
    let to = matches!(arguments.to, Format::Spec | Format::Tts);
    match (is_counters(&arguments.file), to) {
        (true, true) => Some(convert_counters(arguments, context)),
        (false, false) => None,
        _ => {
            let what = "only .spec and .tts files can be converted to .spec and .tts".to_string();
            Some(Err(Failure::Usage(what, "choose another format".to_string())))
        }
    }
}

fn convert_counters(arguments: &Convert, context: &mut Context) -> Result<Exit, Failure> {
    let (system, remarks) = load(&arguments.file, None, &[], &Watch::none())?;
    context.complaints.remarks(&remarks);
    let refused = |why| Failure::Usage(why, "only some systems can be written in both formats".to_string());
    let output = arguments.output.as_deref();
    if arguments.to == Format::Spec {
        put(&spec::write(&system).map_err(refused)?, output, context)?;
        return Ok(Exit::Success);
    }
    let written = tts::write(&system).map_err(refused)?;
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
    Ok(Exit::Success)
}

fn put(text: &str, path: Option<&Path>, context: &mut Context) -> Result<(), Failure> {
    match path {
        Some(path) => fs::write(path, text).map_err(|error| Failure::Unwritable(path.to_path_buf(), error)),
        None => {
            context.output.emit(|out| out.write_all(text.as_bytes()));
            Ok(())
        }
    }
}
