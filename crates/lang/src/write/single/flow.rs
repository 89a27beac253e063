//! The shape of programs: which procedures there are, and blocks while they are put together.

use super::super::graph::{section, successor};
use super::super::names::Names;
use super::super::{Written, refuse};
use super::{Block, Exit, Statement};
use allways_model::program::{LocationId, Op, ProcedureId, Program};
use std::collections::{BTreeSet, HashMap};

/// The procedures that can be called from one, itself first.
pub fn reached(program: &Program, from: ProcedureId) -> Vec<ProcedureId> {
    let mut order = vec![from];
    let mut next = 0;
    while next < order.len() {
        for callee in callees(program, order[next]) {
            if !order.contains(&callee) {
                order.push(callee);
            }
        }
        next += 1;
    }
    order
}

/// Whether a procedure can be called while it runs.
pub fn recursive(program: &Program, procedure: ProcedureId) -> bool {
    callees(program, procedure).any(|callee| reached(program, callee).contains(&procedure))
}

fn callees(program: &Program, procedure: ProcedureId) -> impl Iterator<Item = ProcedureId> + '_ {
    let locations = locations(program, procedure).into_iter().map(|location| &program.locations[location]);
    locations.flat_map(|location| &location.edges).filter_map(|edge| match edge.op {
        Op::Call(callee, ..) => Some(callee),
        _ => None,
    })
}

/// The locations of a procedure that can be reached in it.
pub fn locations(program: &Program, procedure: ProcedureId) -> BTreeSet<LocationId> {
    let entry = program.procedures[procedure].entry;
    let mut reached = BTreeSet::from([entry]);
    let mut todo = vec![entry];
    while let Some(location) = todo.pop() {
        let next = program.locations[location].edges.iter().filter_map(successor);
        todo.extend(next.filter(|&to| reached.insert(to)));
    }
    reached
}

/// For each procedure, whether it has atomic sections.
pub fn with_sections(program: &Program) -> Vec<bool> {
    let mut atomic = vec![false; program.procedures.len()];
    for location in &program.locations {
        atomic[location.procedure.index()] |= location.edges.iter().any(|edge| edge.op == Op::AtomicBegin);
    }
    atomic
}

/// Makes sure that it is enough to know whether control is in an atomic section, and not in how many.
pub fn sections_are_flat(program: &Program, procedures: &[ProcedureId], atomic: &[bool]) -> Written<()> {
    for location in program.locations.iter().filter(|location| procedures.contains(&location.procedure)) {
        for begin in location.edges.iter().filter(|edge| edge.op == Op::AtomicBegin) {
            for inside in section(program, begin.to)?.inside {
                for edge in &program.locations[inside].edges {
                    if let Op::Call(callee, ..) = edge.op
                        && reached(program, callee).iter().any(|&procedure| atomic[procedure.index()])
                    {
                        let reason = "an atomic section calls a procedure that has one itself";
                        return refuse(edge.span, reason);
                    }
                }
            }
        }
    }
    Ok(())
}

/// A block, and its place in the text: a location, and which one of it.
type Placed = ((LocationId, usize), Block);

/// Blocks that are being put together. They are numbered in the order in which they are mentioned.
pub struct Pending {
    names: Names,
    labels: HashMap<LocationId, String>,
    numbers: HashMap<LocationId, usize>,
    blocks: Vec<Option<Placed>>,
}

impl Pending {
    /// No blocks so far; the names are those for labels, of which some have been given.
    pub fn new(names: Names, labels: HashMap<LocationId, String>) -> Pending {
        Pending { names, labels, numbers: HashMap::new(), blocks: Vec::new() }
    }

    /// What is done before the first location.
    pub fn start(&mut self, entry: LocationId, statements: Vec<Statement>) {
        self.blocks.push(None);
        let exit = Exit::Goto(vec![self.number(entry)]);
        let label = self.names.claim("start", "l");
        self.blocks[0] = Some(((LocationId(0), 0), Block { label, statements, exit }));
    }

    /// The block of a location.
    pub fn number(&mut self, location: LocationId) -> usize {
        let blocks = &mut self.blocks;
        *self.numbers.entry(location).or_insert_with(|| {
            blocks.push(None);
            blocks.len() - 1
        })
    }

    pub fn define(&mut self, location: LocationId, statements: Vec<Statement>, exit: Exit) {
        let number = self.number(location);
        let label = self.labels[&location].clone();
        self.blocks[number] = Some(((location, 0), Block { label, statements, exit }));
    }

    /// A further block of a location.
    pub fn add(&mut self, location: LocationId, statements: Vec<Statement>, exit: Exit) -> usize {
        let of = |block: &&Option<Placed>| block.as_ref().is_some_and(|((place, _), _)| *place == location);
        let number = self.blocks.iter().filter(of).count() + 1;
        let label = self.names.claim(&format!("{}_{number}", self.labels[&location]), "l");
        self.blocks.push(Some(((location, number), Block { label, statements, exit })));
        self.blocks.len() - 1
    }

    /// The blocks in the order of the text, one that is entered from one place only joined to what is there.
    pub fn blocks(mut self) -> Vec<Block> {
        let mut entered = vec![0; self.blocks.len()];
        for (_, block) in self.blocks.iter().flatten() {
            targets(&block.exit).iter().for_each(|&to| entered[to] += 1);
        }
        for number in 0..self.blocks.len() {
            while let Some((_, Block { exit: Exit::Goto(to), .. })) = &self.blocks[number]
                && let [to] = to[..]
                && to != number
                && entered[to] == 1
                && let Some((_, joined)) = self.blocks[to].take()
                && let Some((_, block)) = &mut self.blocks[number]
            {
                block.statements.extend(joined.statements);
                block.exit = joined.exit;
            }
        }
        let mut order: Vec<(usize, Placed)> = Vec::new();
        for (number, block) in self.blocks.into_iter().enumerate() {
            order.extend(block.map(|block| (number, block)));
        }
        order.sort_by_key(|(number, (place, _))| (*number != 0, *place));
        let renumbered: HashMap<usize, usize> =
            order.iter().enumerate().map(|(new, (number, _))| (*number, new)).collect();
        let mut blocks: Vec<Block> = order.into_iter().map(|(_, (_, block))| block).collect();
        for block in &mut blocks {
            match &mut block.exit {
                Exit::Goto(to) => to.iter_mut().for_each(|to| *to = renumbered[to]),
                Exit::If(_, yes, no) => (*yes, *no) = (renumbered[yes], renumbered[no]),
                Exit::Return(_) => {}
            }
        }
        blocks
    }
}

/// Where a block leads.
pub fn targets(exit: &Exit) -> Vec<usize> {
    match exit {
        Exit::Goto(to) => to.clone(),
        Exit::If(_, yes, no) => vec![*yes, *no],
        Exit::Return(_) => Vec::new(),
    }
}
