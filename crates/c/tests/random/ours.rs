//! What a program of ours does, by the reference semantics.

use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use allways_c::{fuse, lower, read, sema, strings};
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Program, Value};

/// A run of more steps is given up.
const MOST_STEPS: usize = 200_000;

/// How a run ends.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// With this in `result`.
    Result(Value),
    /// Where it is not followed, or after too many steps.
    Beyond,
    /// Wrong: how.
    Wrong(String),
}

/// The program of a text as it is lowered, and with its steps joined; or why it is refused.
pub fn programs(text: &str) -> Result<[Program; 2], String> {
    let map = LineMap::identity(text.as_bytes());
    let messages = |errors: Vec<sema::CError>| {
        let lines: Vec<String> = errors.into_iter().map(|error| error.message).collect();
        lines.join("; ")
    };
    let unit = strings::analyse(text.as_bytes(), &map, DataModel::Lp64).map_err(messages)?;
    let mut plain = lower::lower(&unit, Default::default()).map_err(|error| error.message)?.program;
    fuse::forget_unreachable(&mut plain);
    let fused = read(text.as_bytes(), &map, DataModel::Lp64, Default::default()).map_err(messages)?.program;
    let mut both = [plain, fused];
    both.iter_mut().for_each(initialise);
    Ok(both)
}

/// Zero for what has any value at first: the programs do not read it.
pub fn initialise(program: &mut Program) {
    let locals = program.procedures.iter_mut().flat_map(|procedure| &mut procedure.locals);
    for variable in program.shared.iter_mut().chain(locals) {
        let least = variable.ty.bounds().map_or(0, |(low, high)| 0.clamp(low, high));
        variable.initial.iter_mut().for_each(|initial| *initial = initial.or(Some(least)));
    }
}

/// The slot of the variable `result`.
pub fn result(program: &Program) -> usize {
    let result = program.shared.iter().find(|variable| variable.name == "result");
    result.expect("every program has a global variable `result`").slot
}

/// Runs a program of one thread.
pub fn run(program: &Program) -> End {
    let initial = State::initial(program, &State::counts(program)).unwrap_or_default();
    let [state] = &initial[..] else { return End::Wrong(format!("{} initial states", initial.len())) };
    let mut state = state.clone();
    for _ in 0..MOST_STEPS {
        let mut found = steps(program, &state, 0);
        // A condition that has no value leads nowhere on both ways.
        if !found.is_empty() && found.iter().all(|step| matches!(step.outcome, Outcome::Beyond(_))) {
            return End::Beyond;
        }
        match (found.len(), found.pop()) {
            (0, _) if state.threads[0].ended(program) => return End::Result(state.shared[result(program)]),
            (1, Some(step)) => match step.outcome {
                Outcome::To(next) => state = next,
                Outcome::Wrong(violation) => return End::Wrong(format!("{violation:?}")),
                Outcome::Beyond(_) => return End::Beyond,
            },
            (count, _) => return End::Wrong(format!("{count} steps at {:?}", state.threads[0].top())),
        }
    }
    End::Beyond
}
