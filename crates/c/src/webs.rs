//! Local variables apart, while values are followed: a temporary is used for many things, one after the other.
//!
//! A *web* is a set of writes of a local variable, with the reads that they reach, such that no read is reached by a write of
//! another web (Muchnick, *Advanced compiler design and implementation*, 16.3). Invariant: renaming every web to a variable of
//! its own changes no run. An analysis that looks at variables as a whole sees more in the program with the webs apart;
//! [`join`] gives the variables their old names. What is accessed as an array, or without being written, is left together.

use allways_model::program::{Expr, Op, Place, ProcedureId, Program, Slot, Target, Variable};
use std::collections::HashMap;

/// The work that is done for one program at most, in steps looked at.
const MOST_WORK: usize = 1 << 24;

/// The old slots of the new variables, by procedure.
pub struct Apart {
    old: Vec<HashMap<Slot, Slot>>,
}

/// A use of a local variable: a location and the number of an edge there.
type Use = (usize, usize);

/// Gives each web of a local variable a slot of its own.
pub fn split(program: &mut Program) -> Apart {
    let mut apart = Apart { old: vec![HashMap::new(); program.procedures.len()] };
    let mut locations: Vec<Vec<usize>> = vec![Vec::new(); program.procedures.len()];
    for (number, location) in program.locations.iter().enumerate() {
        locations[location.procedure.index()].push(number);
    }
    let mut around = Around::new(program);
    for (number, locations) in locations.iter().enumerate() {
        let procedure = ProcedureId(number);
        for (slot, writes) in written(program, procedure, locations) {
            let found = around.webs(program, slot, &writes);
            for web in found.into_iter().flatten().skip(1) {
                let new = fresh(program, procedure, slot);
                apart.old[number].insert(new, slot);
                for (location, edge) in web.writes {
                    rename(&mut program.locations[location].edges[edge].op, slot, new, true);
                }
                for (location, edge) in web.reads {
                    rename(&mut program.locations[location].edges[edge].op, slot, new, false);
                }
            }
        }
    }
    apart
}

/// Gives the variables their old slots.
pub fn join(program: &mut Program, apart: &Apart) {
    for location in &mut program.locations {
        let old = &apart.old[location.procedure.index()];
        if old.is_empty() {
            continue;
        }
        for edge in &mut location.edges {
            let new = |slot: Slot| old.get(&slot).copied().unwrap_or(slot);
            each_local(&mut edge.op, &mut |slot, _| *slot = new(*slot));
        }
    }
    for (procedure, old) in apart.old.iter().enumerate() {
        let locals = &mut program.procedures[ProcedureId(procedure)].locals;
        locals.truncate(locals.len() - old.len());
    }
}

/// A local variable like another.
fn fresh(program: &mut Program, procedure: ProcedureId, slot: Slot) -> Slot {
    let locals = &mut program.procedures[procedure].locals;
    let next = locals.last().map_or(0, |last| last.slot + last.slots());
    let like = locals.iter().find(|variable| variable.slot == slot).cloned();
    if let Some(like) = like {
        locals.push(Variable { slot: next, ..like });
    }
    next
}

/// The local variables of a procedure that may be taken apart, and where they are written.
fn written(program: &Program, procedure: ProcedureId, locations: &[usize]) -> Vec<(Slot, Vec<Use>)> {
    let described = &program.procedures[procedure];
    let mut writes: HashMap<Slot, Vec<Use>> = HashMap::new();
    let plain = described.locals.iter().skip(described.parameters).filter(|local| local.length.is_none());
    for local in plain {
        writes.insert(local.slot, Vec::new());
    }
    for &location in locations {
        for (number, edge) in program.locations[location].edges.iter().enumerate() {
            if matches!(edge.op, Op::Fork(_) | Op::Call(..)) {
                // What a call leaves comes back later; these stay as they are.
                for place in edge.op.places() {
                    if let Target::Local(slot) = place.target {
                        writes.remove(&slot);
                    }
                }
            }
            let elements = |expr: &Expr, writes: &mut HashMap<Slot, Vec<Use>>| {
                expr.visit(&mut |part| {
                    if let Expr::LocalElement(first, length, ..) = part {
                        (*first..first + length).for_each(|slot| drop(writes.remove(&slot)));
                    }
                });
            };
            edge.op.expressions().for_each(|expr| elements(expr, &mut writes));
            for place in edge.op.places() {
                match place.target {
                    Target::LocalElement(first, length, _) => {
                        (first..first + length).for_each(|slot| drop(writes.remove(&slot)));
                    }
                    Target::Others(slot) => drop(writes.remove(&slot)),
                    Target::Local(slot) => {
                        if let Some(writes) = writes.get_mut(&slot) {
                            writes.push((location, number));
                        }
                    }
                    Target::Shared(_) | Target::SharedElement(..) => {}
                }
            }
        }
    }
    let mut writes: Vec<(Slot, Vec<Use>)> =
        writes.into_iter().filter(|(_, writes)| writes.len() > 1).collect();
    writes.sort_by_key(|(slot, _)| *slot);
    writes
}

/// Writes that belong together, and the reads that they reach.
#[derive(Clone, Default)]
struct Web {
    writes: Vec<Use>,
    reads: Vec<Use>,
}

/// What is known of all variables before one of them is looked at.
struct Around {
    /// The edges that lead to each location.
    into: Vec<Vec<Use>>,
    /// Where each local variable of each procedure is read.
    reads: HashMap<(ProcedureId, Slot), Vec<Use>>,
    /// By location and edge, which local variables are used, and whether they are written.
    used: Vec<Vec<Vec<(Slot, bool)>>>,
    /// By location, its number among those where the variable that is looked at is live.
    number: Vec<Option<usize>>,
    /// How many steps were looked at.
    work: usize,
}

impl Around {
    fn new(program: &mut Program) -> Around {
        let mut into = vec![Vec::new(); program.locations.len()];
        let mut reads: HashMap<(ProcedureId, Slot), Vec<Use>> = HashMap::new();
        let mut used = Vec::with_capacity(program.locations.len());
        for (location, described) in program.locations.iter_mut().enumerate() {
            let procedure = described.procedure;
            let mut here = Vec::with_capacity(described.edges.len());
            for (number, edge) in described.edges.iter_mut().enumerate() {
                let mut found = Vec::new();
                each_local(&mut edge.op, &mut |slot, write| found.push((*slot, write)));
                found.sort_unstable();
                found.dedup();
                for &(slot, _) in found.iter().filter(|(_, write)| !write) {
                    reads.entry((procedure, slot)).or_default().push((location, number));
                }
                if !matches!(edge.op, Op::Return(_)) {
                    into[edge.to.index()].push((location, number));
                }
                here.push(found);
            }
            used.push(here);
        }
        let number = vec![None; program.locations.len()];
        Around { into, reads, used, number, work: 0 }
    }

    /// The webs of a variable; the first is that of its initial value. None if that takes too long.
    ///
    /// Two writes that reach a location from which a read is reached reach this read both. So the locations where the variable
    /// is live belong to one web each, and so do two of them if a step leads from one to the other and does not write.
    fn webs(&mut self, program: &Program, slot: Slot, writes: &[Use]) -> Option<Vec<Web>> {
        let procedure = program.locations[writes.first()?.0].procedure;
        let entry = program.procedures[procedure].entry;
        let reads = self.reads.get(&(procedure, slot)).cloned().unwrap_or_default();
        let (mut live, mut parent): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut todo: Vec<usize> = reads.iter().map(|&(location, _)| location).collect();
        while let Some(location) = todo.pop() {
            if self.number[location].is_some() {
                continue;
            }
            self.number[location] = Some(live.len());
            parent.push(live.len());
            live.push(location);
            self.work += 1 + self.into[location].len();
            if self.work > MOST_WORK {
                break;
            }
            let through = |&&(from, edge): &&Use| !self.used[from][edge].contains(&(slot, true));
            todo.extend(self.into[location].iter().filter(through).map(|&(from, _)| from));
        }
        for &location in &live {
            for &(from, edge) in &self.into[location] {
                if !self.used[from][edge].contains(&(slot, true))
                    && let (Some(from), Some(to)) = (self.number[from], self.number[location])
                {
                    let (from, to) = (find(&mut parent, from), find(&mut parent, to));
                    parent[from.max(to)] = from.min(to);
                }
            }
        }
        let mut web_at = |location: usize| self.number[location].map(|number| find(&mut parent, number));
        let mut webs = vec![Web::default()];
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        if let Some(web) = web_at(entry.index()) {
            numbers.insert(web, 0);
        }
        for &(location, edge) in writes {
            let web = web_at(program.locations[location].edges[edge].to.index());
            // A write that nobody reads is a web of its own.
            let number = web.map_or(webs.len(), |web| *numbers.entry(web).or_insert(webs.len()));
            if number == webs.len() {
                webs.push(Web::default());
            }
            webs[number].writes.push((location, edge));
        }
        for &(location, edge) in &reads {
            if let Some(&number) = web_at(location).and_then(|web| numbers.get(&web)) {
                webs[number].reads.push((location, edge));
            }
        }
        live.iter().for_each(|&location| self.number[location] = None);
        (self.work <= MOST_WORK).then_some(webs)
    }
}

fn find(parent: &mut [usize], mut web: usize) -> usize {
    while parent[web] != web {
        parent[web] = parent[parent[web]];
        web = parent[web];
    }
    web
}

fn rename(op: &mut Op, old: Slot, new: Slot, writes: bool) {
    each_local(op, &mut |slot, write| {
        if *slot == old && write == writes {
            *slot = new;
        }
    });
}

/// Calls a function with each local variable of a step, and whether it is written.
fn each_local(op: &mut Op, see: &mut dyn FnMut(&mut Slot, bool)) {
    fn inside(expr: &mut Expr, see: &mut dyn FnMut(&mut Slot, bool)) {
        match expr {
            Expr::Local(slot) | Expr::OtherLocal(slot) => see(slot, false),
            // The value after the step is the one that it writes.
            Expr::NextLocal(slot) => see(slot, true),
            Expr::SharedElement(_, _, part, _) | Expr::LocalElement(_, _, part, _) | Expr::Unary(_, part) => {
                inside(part, see);
            }
            Expr::Binary(_, left, right, _) => {
                inside(left, see);
                inside(right, see);
            }
            Expr::If(condition, then, other) => {
                inside(condition, see);
                inside(then, see);
                inside(other, see);
            }
            _ => {}
        }
    }
    let (places, values): (&mut [Place], &mut [Expr]) = match op {
        Op::Assign(places, values, constraint) => {
            constraint.iter_mut().for_each(|expr| inside(expr, see));
            (places, values)
        }
        Op::Call(_, values, places) => (places, values),
        Op::Return(values) | Op::Spawn(_, values) => (&mut [], values),
        Op::Guard(expr, _) | Op::Assert(expr) => (&mut [], std::slice::from_mut(expr)),
        Op::Acquire(lock) | Op::Release(lock) => {
            lock.element.iter_mut().for_each(|(_, index)| inside(index, see));
            (&mut [], &mut [])
        }
        _ => (&mut [], &mut []),
    };
    values.iter_mut().for_each(|expr| inside(expr, see));
    for place in places {
        match &mut place.target {
            Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) => inside(index, see),
            Target::Local(slot) | Target::Others(slot) => see(slot, true),
            Target::Shared(_) => {}
        }
    }
}
