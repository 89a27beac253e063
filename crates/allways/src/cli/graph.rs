//! `allways graph`: the states of a program, or its control flow, as a picture.

use super::arguments::{Graph, Picture, Shown};
use super::evidence::Destination;
use super::exit::Exit;
use super::session::Session;
use super::{Context, Failure};
use crate::graph::{self, Wanted, dot, svg};
use crate::load::{LoadError, Options, load};
use crate::words;
use allways_engines::Budget;
use allways_model::task::{Instance, Model, Task};

/// How many states are looked at for each that is drawn by itself.
const TIMES: usize = 100;

/// Runs the command.
pub fn run(arguments: &Graph, context: &mut Context) -> Result<Exit, Failure> {
    let session = Session::new(context.started, arguments.limits, false);
    let destination = Destination::new(arguments.output.as_deref())?;
    let options = Options {
        threads: arguments.threads.clone().unwrap_or_default(),
        definitions: arguments.definitions.iter().cloned().collect(),
        deadlock: arguments.deadlock,
        ..Options::default()
    };
    let file = arguments.file.clone();
    let loaded = session.reading(move || load(file, &options, &Budget::unlimited()))?;
    context.printer.diagnostics(&loaded.diagnostics);
    let task = loaded.task;
    let name = words::path(&arguments.file);
    let drawn = session.budgeted(|budget| {
        let stop = || budget.check().is_err();
        let shown = arguments.max_states;
        let wanted = Wanted { stop: &stop, shown, most: shown.saturating_mul(TIMES) };
        drawn(&task, &name, arguments.of, wanted)
    })?;
    let named =
        arguments.output.as_ref().and_then(|path| path.extension()).is_some_and(|ending| ending == "svg");
    let picture = arguments.to.unwrap_or(if named { Picture::Svg } else { Picture::Dot });
    let text = match picture {
        Picture::Dot => dot::dot(&drawn),
        Picture::Svg => svg::svg(&drawn),
    };
    match arguments.output {
        Some(_) => destination.write(|out| out.write_all(text.as_bytes()).map(|()| true), context)?,
        None => context.output.emit(|out| out.write_all(text.as_bytes())),
    }
    Ok(Exit::Success)
}

/// The graph of a task.
fn drawn(task: &Task, name: &str, of: Shown, wanted: Wanted<'_>) -> Result<graph::Graph, Failure> {
    Ok(match (&task.model, of) {
        (Model::Program(program), Shown::Control) => {
            graph::of_control(name, program, &task.source.text, wanted.shown)
        }
        (Model::Program(program), Shown::States | Shown::Abstract) => {
            let threads = task.threads_of(program, &Instance::Few(1)).map_err(LoadError::from)?;
            let counts = threads.map(|threads| threads.running).unwrap_or_default();
            let source = &task.source.text;
            let drawn = if of == Shown::States { graph::of_program } else { graph::program_tops };
            drawn(name, program, source, &counts, task.property.deadlock, wanted)
        }
        (Model::Rules(rules), Shown::States) => graph::of_rules(name, &**rules, &task.property, wanted),
        (Model::Rules(rules), Shown::Abstract) => graph::rule_tops(name, &**rules, &task.property, wanted),
        (Model::Rules(_), Shown::Control) => {
            let what = "rules have no control flow".to_string();
            return Err(Failure::Usage(what, "leave out --of".to_string()));
        }
        (Model::Counters(_), _) => {
            let what = "graph is for programs and rules".to_string();
            return Err(Failure::Usage(what, "`allways check` answers about counter systems".to_string()));
        }
    })
}
