//! `allways convert` between the notations of counter systems, and from programs to them.

use super::super::arguments::{Convert, Format};
use super::super::convert::put;
use super::super::exit::Exit;
use super::super::session::Session;
use super::super::{Context, Failure};
use allways::counters::{counted, is_counters, load};
use allways::load::Notation;
use allways::{Options, Watch};
use allways_lang::{spec, tts};
use allways_model::counters::Counters;

/// Runs `convert`, if it is from or to a counter system.
pub fn convert(arguments: &Convert, context: &mut Context) -> Option<Result<Exit, Failure>> {
    let to = matches!(arguments.to, Format::Spec | Format::Tts);
    let refuse =
        |what: &str| Some(Err(Failure::Usage(what.to_string(), "choose another format".to_string())));
    match (is_counters(&arguments.file), to, Notation::of(&arguments.file)) {
        (true, true, _) => Some(convert_counters(arguments, context)),
        (true, false, _) => refuse(".spec and .tts files can be converted to .spec and .tts only"),
        (false, true, Notation::Pds) => refuse("threads with stacks cannot be counted"),
        (false, true, _) if arguments.sequentialize.is_some() => {
            refuse("--sequentialize makes a program of a program")
        }
        (false, true, _) => Some(convert_program(arguments, context)),
        (false, false, _) => None,
    }
}

fn convert_counters(arguments: &Convert, context: &mut Context) -> Result<Exit, Failure> {
    let (system, remarks) = load(&arguments.file, None, &[], &Watch::none())?;
    context.complaints.remarks(&remarks);
    write(&system, arguments, context)
}

fn convert_program(arguments: &Convert, context: &mut Context) -> Result<Exit, Failure> {
    Session::heed_interruptions();
    let session = Session::new(context.started, arguments.limits, !context.quiet);
    let options = Options { threads: arguments.threads.clone().unwrap_or_default(), ..Options::default() };
    let loaded = allways::load(&arguments.file, &options, &Watch::none())?;
    context.complaints.remarks(&loaded.remarks);
    match session.watched(|watch| counted(&loaded, watch))? {
        Ok(system) => write(&system, arguments, context),
        Err(why) => {
            let help = "only threads of finitely many states can be counted; perhaps give more time";
            Err(Failure::Usage(format!("the threads cannot be counted: {why}"), help.to_string()))
        }
    }
}

fn write(system: &Counters, arguments: &Convert, context: &mut Context) -> Result<Exit, Failure> {
    let refused = |why| Failure::Usage(why, "only some systems can be written in both formats".to_string());
    let output = arguments.output.as_deref();
    if arguments.to == Format::Spec {
        put(&spec::write(system).map_err(refused)?, output, context)?;
        return Ok(Exit::Success);
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
    Ok(Exit::Success)
}
