//! Why a program makes progress: all its reachable states, with ranks, and the checker that tests them.
//!
//! For each [`Goal`], some states are *pending*: what was promised to the thread is still to come. If it is promised once, these
//! are the states that are reached without having been at the label; if again and again, all states that are not there. Each
//! pending state has a rank, and for some ranks a *helpful* thread is named, such that
//!
//! 1. no step from a pending state to a pending one raises the rank;
//! 2. where a helpful thread is named, it can move in each state of the rank, and each of its steps lowers the rank or comes to
//!    the label;
//! 3. where none is named, each step lowers the rank or comes to the label, and some thread can move.
//!
//! That is a proof: in a run that stays pending the rank falls until it stays the same for ever, by 1. Then it is one with a
//! helpful thread, by 3, which can always move and never does, by 2: the run is not fair. Nor does a run end while something is
//! pending, by 2 and 3. (And there is no other way: if a goal is always reached, then in each strongly connected component of
//! the pending states some thread can always move and always leaves it, or else a fair run would stay; components in
//! topological order are such ranks.)
//!
//! That no thread gets stuck is shown by a number for each thread and state: if the thread cannot move and has not ended, some
//! step wakes it, or leads to a state with a smaller number; and it is 0 only where the thread can move or has ended.
//!
//! The checker runs the program by its own semantics, without reduction and encoding, from the initial states on, and looks each
//! state up: one that is not listed has no rank. So what is listed beside the reachable states does no harm. It also sees that
//! nothing goes wrong in any state: the certificate is one of safety, too.

use crate::listed::{Listed, show};
use crate::{Rejection, StopReason};
use allways_model::program::progress::{Goal, wakes};
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Program, Violation};
use std::collections::BTreeMap;

/// All reachable states of a program, with ranks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranking {
    /// The states.
    pub states: Listed,
    /// The ranks for each of [`Program::goals`], in that order.
    pub goals: Vec<Ranks>,
    /// For each thread, how far each state is from one in which it can move or has ended, or a step that wakes it; none if that was
    /// not asked.
    pub escapes: Vec<Vec<u32>>,
}

/// The ranks of pending states.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranks {
    /// The rank of each state; none of those in which nothing is pending.
    pub of_states: Vec<Option<u32>>,
    /// For some ranks, the helpful thread.
    pub helpful: BTreeMap<u32, usize>,
}

/// What is asked of a program with a fixed number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The program.
    pub program: &'a Program,
    /// How many threads of each template there are.
    pub counts: &'a [usize],
    /// Whether deadlocks are to be avoided.
    pub deadlock: bool,
    /// Whether threads that are stuck are to be avoided.
    pub stuck: bool,
}

/// How many steps there are between two looks whether to stop.
const LOOK: usize = 256;

/// Accepts a ranking, or says why not.
pub fn check(
    asked: &Asked<'_>,
    ranking: &Ranking,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<(), Rejection> {
    let Asked { program, counts, .. } = *asked;
    let goals = program.goals(counts);
    if ranking.goals.len() != goals.len() {
        let what = format!("ranks for {} goals are needed, not for {}", goals.len(), ranking.goals.len());
        return Err(Rejection::Malformed(what));
    }
    let full = |length: usize| length == ranking.states.len();
    if !ranking.goals.iter().all(|ranks| full(ranks.of_states.len()))
        || !ranking.escapes.iter().all(|escapes| full(escapes.len()))
    {
        return Err(Rejection::Malformed("there must be a rank for each state".to_string()));
    }
    if asked.stuck && ranking.escapes.len() != counts.iter().sum::<usize>() {
        return Err(Rejection::Malformed("there must be a line `escape` for each thread".to_string()));
    }
    let Some(initial) = State::initial(program, counts) else {
        let why = "there are too many initial states".to_string();
        return Err(Rejection::Stopped(StopReason::GaveUp(why)));
    };
    let Some(like) = initial.first().cloned() else { return Ok(()) };
    let mut visit = Visit { ranking, reached: vec![false; ranking.states.len()], todo: Vec::new() };
    for state in &initial {
        let number = visit.reach(state)?;
        for (goal, ranks) in goals.iter().zip(&ranking.goals) {
            let there = program.progress[goal.property].is_reached(&state.threads[goal.thread]);
            if !there && ranks.of_states[number].is_none() {
                return Err(no_rank(goal, state));
            }
        }
    }
    let mut taken = 0;
    while let Some(number) = visit.todo.pop() {
        let state = ranking.states.get(number, &like);
        match state.violated(program) {
            None | Some(Outcome::To(_)) => {}
            Some(Outcome::Wrong(violation)) => return Err(wrong(violation)),
            Some(Outcome::Beyond(span)) => return Err(beyond(span.line)),
        }
        let mut moves = Vec::new();
        let mut enabled = vec![false; state.threads.len()];
        for (thread, enabled) in enabled.iter_mut().enumerate() {
            for step in steps(program, &state, thread) {
                taken += 1;
                if taken % LOOK == 0
                    && let Some(reason) = stop()
                {
                    return Err(Rejection::Stopped(reason));
                }
                *enabled = true;
                match step.outcome {
                    Outcome::To(to) => {
                        moves.push(Move { thread, edge: step.edge, number: visit.reach(&to)?, to });
                    }
                    Outcome::Wrong(violation) => return Err(wrong(violation)),
                    Outcome::Beyond(span) => return Err(beyond(span.line)),
                }
            }
        }
        let all_ended = state.threads.iter().all(|thread| thread.ended(program));
        if asked.deadlock && moves.is_empty() && !all_ended {
            return Err(Rejection::Violated("no thread can move, although not all have ended".to_string()));
        }
        let here = Here { program, number, state: &state, moves: &moves, enabled: &enabled };
        for (goal, ranks) in goals.iter().zip(&ranking.goals) {
            here.test_goal(goal, ranks)?;
        }
        if asked.stuck {
            for (thread, escapes) in ranking.escapes.iter().enumerate() {
                here.test_escape(thread, escapes)?;
            }
        }
    }
    Ok(())
}

/// Which states were reached.
struct Visit<'a> {
    ranking: &'a Ranking,
    reached: Vec<bool>,
    todo: Vec<usize>,
}

impl Visit<'_> {
    /// The number of a state that is reached.
    fn reach(&mut self, state: &State) -> Result<usize, Rejection> {
        let Some(number) = self.ranking.states.find(state) else {
            return Err(Rejection::NotClosed(format!(
                "the state {} can be reached, and is missing",
                show(state)
            )));
        };
        if !std::mem::replace(&mut self.reached[number], true) {
            self.todo.push(number);
        }
        Ok(number)
    }
}

struct Move {
    thread: usize,
    edge: usize,
    number: usize,
    to: State,
}

/// A state, and what can happen there.
struct Here<'a> {
    program: &'a Program,
    number: usize,
    state: &'a State,
    moves: &'a [Move],
    enabled: &'a [bool],
}

impl Here<'_> {
    fn test_goal(&self, goal: &Goal, ranks: &Ranks) -> Result<(), Rejection> {
        let eventually = &self.program.progress[goal.property];
        let there = |state: &State| eventually.is_reached(&state.threads[goal.thread]);
        let Some(rank) = ranks.of_states[self.number] else {
            // What is promised again and again is pending wherever the thread is not.
            return if eventually.again && !there(self.state) {
                Err(no_rank(goal, self.state))
            } else {
                Ok(())
            };
        };
        let fault = |what: &str| {
            Err(Rejection::NotClosed(format!("{}: in {}, {what}", said(goal), show(self.state))))
        };
        let helpful = ranks.helpful.get(&rank).copied();
        match helpful {
            Some(thread) if !self.enabled.get(thread).copied().unwrap_or(false) => {
                return fault(&format!(
                    "thread {thread} cannot move, which should be helpful at rank {rank}"
                ));
            }
            None if self.moves.is_empty() => return fault("no thread can move"),
            _ => {}
        }
        for step in self.moves.iter().filter(|step| !there(&step.to)) {
            let Some(after) = ranks.of_states[step.number] else { return Err(no_rank(goal, &step.to)) };
            let may_stay = helpful.is_some_and(|helpful| helpful != step.thread);
            if after > rank || after == rank && !may_stay {
                let by = format!("a step of thread {} leads from rank {rank} to rank {after}", step.thread);
                return fault(&by);
            }
        }
        Ok(())
    }

    fn test_escape(&self, thread: usize, escapes: &[u32]) -> Result<(), Rejection> {
        if self.enabled[thread] || self.state.threads[thread].ended(self.program) {
            return Ok(());
        }
        let escapes_by = |step: &Move| {
            escapes[step.number] < escapes[self.number]
                || wakes(self.program, self.state, (step.thread, step.edge), &step.to, thread)
        };
        if self.moves.iter().any(escapes_by) {
            return Ok(());
        }
        Err(Rejection::NotClosed(format!(
            "thread {thread} may be stuck in {}: no step brings it nearer to one of its own",
            show(self.state)
        )))
    }
}

fn said(goal: &Goal) -> String {
    format!("property {}, thread {}", goal.property, goal.thread)
}

fn no_rank(goal: &Goal, state: &State) -> Rejection {
    Rejection::NotClosed(format!("{}: {} has no rank", said(goal), show(state)))
}

fn wrong(violation: Violation) -> Rejection {
    let Violation { kind, line, column } = violation;
    Rejection::Violated(format!("the program goes wrong in line {line}, column {column} ({})", kind.word()))
}

fn beyond(line: u32) -> Rejection {
    let why = format!("line {line}: a single step does too much to be followed");
    Rejection::Stopped(StopReason::GaveUp(why))
}
