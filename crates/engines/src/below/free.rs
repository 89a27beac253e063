//! Every schedule, breadth first.
//!
//! States are numbered in the order in which they are found, so the queue of a breadth-first search is the set itself: the
//! states from `expanded` on. If nothing was left out for the sake of a bound, the set is exactly the reachable states and
//! its own invariant.

use crate::above::exact;
use crate::budget::{Budget, Progress};
use crate::engine::{Figures, Info, Outcome, PushdownEngine, Question, Setting};
use crate::store::{Disabled, Halt, Space, StateId};
use allways_evidence::{StopReason, Verdict};
use allways_model::pushdown::Pushdown;

/// How many states are expanded at a time.
const CHUNK: usize = 1024;

/// The engine; see the module.
pub struct Free;

impl PushdownEngine for Free {
    const INFO: Info = Info { lists_states: true, ..Info::new("free", "explores every schedule breadth first, up to --max-states and --max-depth; decides finite systems").knowing(&[Setting::MaxStates, Setting::MaxDepth, Setting::NoSymmetry]) };

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let mut space = Space::unobserved(system, question.kinds(system), question, budget);
        if let Some(depth) = question.max_depth {
            space.threads.limit_depth(depth);
        }
        let explored = explore(&mut space);
        let verdict = match explored
            .and_then(|()| if space.threads.cut() { Ok(None) } else { exact::invariant(&space).map(Some) })
        {
            Ok(None) => {
                let depth = question.max_depth.unwrap_or_default();
                Verdict::Unknown(StopReason::Bound(format!("stacks of at most {depth} symbols")))
            }
            Ok(Some(invariant)) => invariant.into(),
            Err(Halt::Bad(state)) => Verdict::from(space.trace(state)),
            Err(Halt::Stop(reason)) => Verdict::Unknown(reason),
        };
        let figures = Figures {
            concrete_states: Some(space.len()),
            images: space.images(),
            store_bytes: space.bytes(),
            ..Figures::default()
        };
        let exact = matches!(verdict, Verdict::Safe(_));
        Outcome::seen(verdict, space.visible(), exact, figures)
    }
}

/// Explores until no state is left, or a limit or a bad state is reached.
pub fn explore(space: &mut Space) -> Result<(), Halt> {
    space.alarm()?;
    let mut expanded = 0;
    let mut targets = Vec::new();
    while expanded < space.len() {
        let end = space.len().min(expanded + CHUNK);
        let chunk: Vec<StateId> = (expanded as StateId..end as StateId).collect();
        for thread in 0..space.threads.count() {
            targets.clear();
            space.image(thread, &chunk, Disabled::Blocks, Progress::default(), &mut targets)?;
        }
        expanded = end;
    }
    Ok(())
}
