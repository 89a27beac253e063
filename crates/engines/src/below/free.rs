//! Every schedule, breadth first.
//!
//! States are numbered in the order in which they are found, so the queue of a breadth-first search is the set itself: the
//! states from `expanded` on. If nothing was left out for the sake of a bound, the set is exactly the reachable states and
//! its own invariant.

use crate::above::exact;
use crate::engine::{Engine, Figures, Progress, Question, Report, Watch};
use crate::store::{Disabled, Halt, Space, StateId};
use allways_evidence::{StopReason, Verdict};
use allways_model::pushdown::Pushdown;

/// How many states are expanded at a time.
const CHUNK: usize = 1024;

/// So many that it pays to use a second core.
const MANY: usize = 1 << 12;

/// The engine; see the module.
pub struct Free;

impl Engine for Free {
    fn name(&self) -> &'static str {
        "free"
    }

    fn summary(&self) -> &'static str {
        "explores every schedule breadth first, up to --max-states and --max-depth; decides finite systems"
    }

    fn run(&self, system: &dyn Pushdown, question: &Question, watch: &Watch) -> Report {
        let mut space = Space::new(system, question.kinds(system), question, watch);
        if let Some(depth) = question.max_depth {
            space.threads.limit_depth(depth);
        }
        let explored = explore(&mut space, question.cores.unwrap_or(1));
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
        Report { verdict, visible: space.observed().visible(), exact, figures, engine: None }
    }
}

/// Explores until no state is left, or a limit or a bad state is reached.
pub fn explore(space: &mut Space, cores: usize) -> Result<(), Halt> {
    space.alarm()?;
    let mut expanded = 0;
    let mut targets = Vec::new();
    let several = cores > 1 && space.threads.kinds().trivial();
    while expanded < space.len() {
        if several && space.len() - expanded >= MANY {
            let next = space.expand_on_two_cores(expanded as StateId)? as usize;
            if next > expanded {
                expanded = next;
                continue;
            }
            // The next state has a move that does not fit the packing; the way on one core widens it.
        }
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
