//! Runs without progress, and rankings, as text: what follows the first line.
//!
//! Both are about a program with so many threads of each template, and their states are [its own](crate::listed::text_of).

use super::lines::{BadEvidence, Line, Lines};
use crate::lasso::{Halt, Lasso, LassoStep};
use crate::listed::text_of;
use crate::ranking::{Ranking, Ranks};
use allways_model::program::semantics::{Frame, State, Thread};
use allways_model::program::{LocationId, Program, TemplateId, Value, slot_name};
use std::io::{self, Write};

/// How many numbers stand on a line.
const BESIDE: usize = 24;

pub(super) fn write_lasso(program: &Program, lasso: &Lasso, out: &mut dyn Write) -> io::Result<()> {
    write_names(program, out)?;
    let cycle = match lasso.halt {
        Halt::Stuck { thread } => {
            writeln!(out, "stuck {thread}")?;
            None
        }
        Halt::Starved { property, thread, cycle } => {
            writeln!(out, "starved {property} {thread}")?;
            Some(cycle)
        }
    };
    writeln!(out, "state {}", text_of(&lasso.initial))?;
    for (index, step) in lasso.steps.iter().enumerate() {
        if cycle == Some(index) {
            writeln!(out, "cycle")?;
        }
        writeln!(out, "step {} {} {}", step.thread, step.edge, text_of(&step.state))?;
    }
    writeln!(out, "end {}", lasso.steps.len())
}

pub(super) fn read_lasso(
    program: &Program,
    counts: &[usize],
    lines: &mut Lines<'_>,
) -> Result<Lasso, BadEvidence> {
    const WHAT: &str = "`stuck THREAD` or `starved PROPERTY THREAD`";
    const EXPECTED: &str = "`step`, `cycle` or `end`";
    let like = threads(program, counts);
    let mut line = lines.next(WHAT)?;
    let starved = match line.word(WHAT)? {
        "stuck" => None,
        "starved" => Some(line.number::<usize>("the number of a property, counted from 0")?),
        _ => return Err(line.expected(WHAT)),
    };
    let thread = read_thread(&mut line, &like)?;
    line.end()?;
    let mut line = lines.next("`state STATE`, where the run starts")?;
    if line.word("`state STATE`")? != "state" {
        return Err(line.expected("`state STATE`, where the run starts"));
    }
    let initial = read_state(&mut line, &like)?;
    let (mut steps, mut cycle) = (Vec::new(), None);
    loop {
        let mut line = lines.next(EXPECTED)?;
        match line.word(EXPECTED)? {
            "step" => {
                let thread = read_thread(&mut line, &like)?;
                let edge = line.number("the number of an edge, counted from 0")?;
                steps.push(LassoStep { thread, edge, state: read_state(&mut line, &like)? });
            }
            "cycle" if cycle.is_none() && starved.is_some() => {
                line.end()?;
                cycle = Some(steps.len());
            }
            "end" => {
                line.count("steps", steps.len())?;
                let halt = match starved {
                    None => Halt::Stuck { thread },
                    Some(property) => Halt::Starved { property, thread, cycle: cycle.unwrap_or(steps.len()) },
                };
                return Ok(Lasso { halt, initial, steps });
            }
            _ => return Err(line.expected(EXPECTED)),
        }
    }
}

pub(super) fn write_ranking(
    program: &Program,
    counts: &[usize],
    ranking: &Ranking,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_names(program, out)?;
    let like = threads(program, counts);
    for number in 0..ranking.states.len() {
        writeln!(out, "state {}", text_of(&ranking.states.get(number, &like)))?;
    }
    for (goal, ranks) in program.goals(counts).iter().zip(&ranking.goals) {
        writeln!(out, "goal {} {}", goal.property, goal.thread)?;
        for some in ranks.of_states.chunks(BESIDE) {
            write!(out, "ranks")?;
            some.iter().try_for_each(|rank| match rank {
                Some(rank) => write!(out, " {rank}"),
                None => write!(out, " -"),
            })?;
            writeln!(out)?;
        }
        for (rank, thread) in &ranks.helpful {
            writeln!(out, "helpful {rank} {thread}")?;
        }
    }
    for (thread, escapes) in ranking.escapes.iter().enumerate() {
        writeln!(out, "escape {thread}")?;
        for some in escapes.chunks(BESIDE) {
            write!(out, "steps")?;
            some.iter().try_for_each(|steps| write!(out, " {steps}"))?;
            writeln!(out)?;
        }
    }
    writeln!(out, "end {}", ranking.states.len())
}

pub(super) fn read_ranking(
    program: &Program,
    counts: &[usize],
    lines: &mut Lines<'_>,
) -> Result<Ranking, BadEvidence> {
    const EXPECTED: &str = "`state`, `goal`, `ranks`, `helpful`, `escape`, `steps` or `end`";
    let like = threads(program, counts);
    let goals = program.goals(counts);
    let mut ranking = Ranking::default();
    loop {
        let mut line = lines.next(EXPECTED)?;
        match (line.word(EXPECTED)?, ranking.goals.last_mut(), ranking.escapes.last_mut()) {
            ("state", None, None) => {
                let state = read_state(&mut line, &like)?;
                if !ranking.states.insert(&state).1 {
                    return Err(line.bad_here("the state is listed twice".to_string()));
                }
            }
            ("goal", _, None) => {
                let number: (usize, usize) = (
                    line.number("the number of a property, counted from 0")?,
                    line.number("the number of a thread, counted from 0")?,
                );
                line.end()?;
                let next = goals.get(ranking.goals.len()).map(|goal| (goal.property, goal.thread));
                if next != Some(number) {
                    let next =
                        next.map_or("none".to_string(), |(property, thread)| format!("{property} {thread}"));
                    return Err(line.bad_here(format!("the next goal should be {next}")));
                }
                ranking.goals.push(Ranks::default());
            }
            ("ranks", Some(ranks), None) => {
                while !line.rest().is_empty() {
                    ranks.of_states.push(match line.word("a rank, or `-`")? {
                        "-" => None,
                        word => Some(word.parse().map_err(|_| line.expected("a rank, or `-`"))?),
                    });
                }
            }
            ("helpful", Some(ranks), None) => {
                let rank = line.number("a rank")?;
                ranks.helpful.insert(rank, read_thread(&mut line, &like)?);
                line.end()?;
            }
            ("escape", ..) => {
                let expected = format!("thread {}", ranking.escapes.len());
                if line.number::<usize>(&expected)? != ranking.escapes.len() {
                    return Err(line.expected(&expected));
                }
                line.end()?;
                ranking.escapes.push(Vec::new());
            }
            ("steps", _, Some(escapes)) => {
                while !line.rest().is_empty() {
                    escapes.push(line.number("a number of steps")?);
                }
            }
            ("end", ..) => {
                line.count("states", ranking.states.len())?;
                return Ok(ranking);
            }
            _ => return Err(line.expected(EXPECTED)),
        }
    }
}

/// A comment that says what stands where in a state.
fn write_names(program: &Program, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "# state:")?;
    (0..program.shared_slots()).try_for_each(|slot| write!(out, " {}", slot_name(&program.shared, slot)))?;
    writeln!(out, " | for each thread its location and variables, and those of its callers")
}

/// The threads, without stacks.
fn threads(program: &Program, counts: &[usize]) -> State {
    let mut threads = Vec::new();
    for (template, &count) in counts.iter().enumerate() {
        for this in 0..count {
            let (template, id) = (TemplateId(template), threads.len());
            threads.push(Thread { template, id, this: this as Value, stack: Vec::new() });
        }
    }
    State { shared: vec![0; program.shared_slots()], threads }
}

fn read_thread(line: &mut Line<'_>, like: &State) -> Result<usize, BadEvidence> {
    let expected = "the number of a thread, counted from 0";
    let thread = line.number(expected)?;
    if thread < like.threads.len() { Ok(thread) } else { Err(line.expected(expected)) }
}

/// The rest of a line: a state with these threads and as many shared values.
fn read_state(line: &mut Line<'_>, like: &State) -> Result<State, BadEvidence> {
    let mut state = State { shared: Vec::new(), threads: Vec::new() };
    for _ in &like.shared {
        state.shared.push(line.value()?);
    }
    for thread in &like.threads {
        if line.word("`|` before each thread")? != "|" {
            return Err(line.expected("`|` before each thread"));
        }
        let mut stack = Vec::new();
        let more = |line: &Line<'_>| !line.rest().is_empty() && !line.rest().starts_with('|');
        while more(line) {
            if !stack.is_empty() && line.word("`/`")? != "/" {
                return Err(line.expected("`/` before the next frame"));
            }
            let expected = "a location, perhaps with `@` and an edge";
            let word = line.word(expected)?;
            let (location, calling) = match word.split_once('@') {
                Some((location, edge)) => {
                    (location.parse(), Some(edge.parse().map_err(|_| line.expected(expected))?))
                }
                None => (word.parse(), None),
            };
            let location = LocationId(location.map_err(|_| line.expected(expected))?);
            let mut locals = Vec::new();
            while more(line) && !line.rest().starts_with('/') {
                locals.push(line.value()?);
            }
            stack.push(Frame { location, calling, locals });
        }
        stack.reverse();
        let Thread { template, id, this, .. } = *thread;
        state.threads.push(Thread { template, id, this, stack });
    }
    line.end()?;
    Ok(state)
}
