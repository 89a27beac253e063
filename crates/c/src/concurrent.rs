//! Which steps can meet: what other threads access while a thread is at a location.
//!
//! A thread that `main` creates waits at its start for a counter that is 0 at first, and only its creation raises it. So while
//! `main` is where no way from its entry has passed such a step, the thread has not moved; and where every way has passed a
//! guard that the thread has ended (it sets a flag in its last step, and nobody else does), it moves no more. Of several alike, each
//! counts itself in its last step, and the guard compares this with how many were created. In between a thread
//! *lives*. Two steps can be next to each other in a run only if both threads live: of `main` and a thread, where `main` is
//! where the thread lives; of two threads, if there is a place of `main` where both live. A thread that is started by
//! others than `main`, and whatever is not of this form, always lives.
//!
//! A step *sees* others if one of them accesses a shared slot that it accesses, one of the two writing, and they can meet.

use allways_model::program::reduction::reduce;
use allways_model::program::{
    Binary, Count, Edge, Expr, LocationId, Op, ProcedureId, Program, Slot, Target, TemplateId,
};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Accesses to a shared slot.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Access {
    read: bool,
    written: bool,
}

impl Access {
    /// Whether an access that writes or does not disturbs these or is disturbed by them.
    fn conflicts(self, writes: bool) -> bool {
        self.written || writes && self.read
    }

    fn add(&mut self, writes: bool) {
        self.written |= writes;
        self.read |= !writes;
    }
}

/// Threads by number of their template, as bits.
type Threads = u64;

/// Which steps can meet.
pub struct Concurrent {
    /// What the threads of each template access.
    accesses: Vec<Vec<Access>>,
    /// What `main` accesses where the threads of each template live.
    main_accesses: Vec<Vec<Access>>,
    /// Which threads live while `main` is at a location; everywhere else all.
    live: HashMap<LocationId, Threads>,
    /// With whom the threads of each template may meet, `main` aside.
    together: Vec<Threads>,
    /// Of which templates there may be more than one thread.
    many: Vec<bool>,
    /// The template whose body a procedure is, if it is one.
    bodies: HashMap<ProcedureId, usize>,
    main: Option<usize>,
}

/// The locations that the threads of a template may be at, those of procedures that they call among them.
pub fn locations_of(program: &Program, template: TemplateId) -> HashSet<LocationId> {
    let entry = program.procedures[program.templates[template].body].entry;
    let mut seen = HashSet::from([entry]);
    let mut todo = vec![entry];
    while let Some(location) = todo.pop() {
        for edge in &program.locations[location].edges {
            let callee = match edge.op {
                Op::Call(procedure, ..) => Some(program.procedures[procedure].entry),
                Op::Fork(to) => Some(to),
                _ => None,
            };
            todo.extend(callee.into_iter().chain([edge.to]).filter(|&next| seen.insert(next)));
        }
    }
    seen
}

/// How a thread's life is seen by `main`.
#[derive(Default)]
struct Life {
    /// The counter that it waits for at its start.
    created: Option<Slot>,
    /// What is written in its last step, and what `main` finds it to be when all threads that were created have ended.
    ended: Option<(Slot, Expr)>,
}

impl Concurrent {
    /// Which steps of a program can meet. Who lives when is easier to see in the [reduced](reduce) program, which has the same
    /// steps: there it is known which thread is joined.
    pub fn of(program: &Program) -> Concurrent {
        let templates: Vec<TemplateId> = (0..program.templates.len()).map(TemplateId).collect();
        let reached: Vec<HashSet<LocationId>> =
            templates.iter().map(|&template| locations_of(program, template)).collect();
        let many = program
            .templates
            .iter()
            .map(|template| template.spawned || template.count != Count::Fixed(1) || template.vanishes);
        let bodies = program.templates.iter().enumerate().map(|(number, template)| (template.body, number));
        let none = vec![Access::default(); program.shared_slots()];
        let mut concurrent = Concurrent {
            accesses: vec![none.clone(); templates.len()],
            main_accesses: vec![none; templates.len()],
            live: HashMap::new(),
            together: vec![Threads::MAX; templates.len()],
            many: many.collect(),
            bodies: bodies.collect(),
            main: program.templates.iter().position(|template| template.name == "main"),
        };
        for (accesses_of, reached) in concurrent.accesses.iter_mut().zip(&reached) {
            for edge in reached.iter().flat_map(|&location| &program.locations[location].edges) {
                edge.op.shared_accesses(&mut |slot, length, writes| {
                    accesses_of[slot..slot + length].iter_mut().for_each(|access| access.add(writes));
                });
            }
        }
        concurrent.main = concurrent.main.filter(|&main| {
            templates.len() <= Threads::BITS as usize
                && !concurrent.many[main]
                && program.events.is_empty()
                // What a procedure does, it may do wherever it is called.
                && !reached[main].iter().any(|&location| {
                    program.locations[location].edges.iter().any(|edge| matches!(edge.op, Op::Call(..) | Op::Fork(_)))
                })
        });
        match concurrent.main {
            Some(main) => concurrent.follow(program, &reduce(program).program, main, &reached),
            None => concurrent.main_accesses.clone_from(&concurrent.accesses),
        }
        concurrent
    }

    /// Follows who lives where `main` is.
    fn follow(&mut self, program: &Program, reduced: &Program, main: usize, reached: &[HashSet<LocationId>]) {
        let lives: Vec<Life> =
            (0..reached.len()).map(|thread| self.life(reduced, main, thread, reached)).collect();
        let always: Threads = lives.iter().enumerate().fold(0, |always, (thread, life)| {
            always | if life.created.is_none() && thread != main { 1 << thread } else { 0 }
        });
        let entry = program.procedures[program.templates[TemplateId(main)].body].entry;
        let mut todo = vec![(entry, always)];
        while let Some((location, threads)) = todo.pop() {
            let known = self.live.get(&location).copied();
            let both = known.unwrap_or(0) | threads;
            if known == Some(both) {
                continue;
            }
            self.live.insert(location, both);
            for edge in &reduced.locations[location].edges {
                todo.push((edge.to, passed(reduced, edge, &lives, both)));
            }
        }
        self.together = (0..reached.len())
            .map(|thread| {
                self.live.values().filter(|&&live| live >> thread & 1 == 1).fold(0, |all, live| all | live)
            })
            .collect();
        for (&location, &live) in &self.live {
            for edge in &program.locations[location].edges {
                edge.op.shared_accesses(&mut |slot, length, writes| {
                    for (thread, main_accesses) in self.main_accesses.iter_mut().enumerate() {
                        if live >> thread & 1 == 1 {
                            main_accesses[slot..slot + length]
                                .iter_mut()
                                .for_each(|access| access.add(writes));
                        }
                    }
                });
            }
        }
    }

    /// How the life of a thread is seen.
    fn life(&self, program: &Program, main: usize, thread: usize, reached: &[HashSet<LocationId>]) -> Life {
        let template = &program.templates[TemplateId(thread)];
        let nobody = Life::default();
        if thread == main {
            return nobody;
        }
        let entry = program.procedures[template.body].entry;
        let created = if template.spawned {
            // Started by a step of main's own, and nobody else's.
            let starts = |edge: &Edge| matches!(edge.op, Op::Spawn(spawned, _) if spawned.index() == thread);
            let others = (0..reached.len()).filter(|&other| other != main);
            let elsewhere = others
                .flat_map(|other| &reached[other])
                .any(|&location| program.locations[location].edges.iter().any(starts));
            return if elsewhere || template.count != Count::Fixed(0) {
                nobody
            } else {
                Life { created: Some(usize::MAX), ended: None }
            };
        } else {
            let [Edge { op: Op::Assign(places, values, Some(condition)), .. }] =
                &program.locations[entry].edges[..]
            else {
                return nobody;
            };
            let ([Target::Shared(slot)], [_]) =
                (&places.iter().map(|place| place.target.clone()).collect::<Vec<_>>()[..], &values[..])
            else {
                return nobody;
            };
            let waits = matches!(condition, Expr::Binary(Binary::Greater, left, right, _)
                if **left == Expr::Shared(*slot) && **right == Expr::Constant(0));
            let fewer = matches!(&values[0], Expr::Binary(Binary::Minus, left, right, _)
                if **left == Expr::Shared(*slot) && **right == Expr::Constant(1));
            let back = reached[thread]
                .iter()
                .flat_map(|&location| &program.locations[location].edges)
                .any(|edge| edge.to == entry);
            let initial = program
                .shared
                .iter()
                .find(|variable| variable.slot == *slot)
                .map(|variable| &variable.initial[..]);
            if !waits || !fewer || back || initial != Some(&[Some(0)][..]) {
                return nobody;
            }
            *slot
        };
        // Nobody but main raises the counter, and threads of this template take from it at their start.
        for (other, reached) in reached.iter().enumerate() {
            if other == main || !self.accesses[other][created].written {
                continue;
            }
            let elsewhere = reached
                .iter()
                .filter(|&&location| location != entry)
                .any(|&location| writes(program, location, created));
            if elsewhere || other != thread {
                return nobody;
            }
        }
        Life { created: Some(created), ended: self.end(program, main, thread, created, reached) }
    }

    /// The flag that a thread, and nobody else, sets from 0 to 1 in its last step; or the counter that threads of a template, and nobody
    /// else, raise by one in their last steps, and the one that `main` raises by one for each that it creates.
    fn end(
        &self,
        program: &Program,
        main: usize,
        thread: usize,
        created: Slot,
        reached: &[HashSet<LocationId>],
    ) -> Option<(Slot, Expr)> {
        let mut found = None;
        for edge in reached[main].iter().flat_map(|&location| &program.locations[location].edges) {
            let Some((slot, all)) = tested(edge) else { continue };
            let counts = match all {
                Expr::Shared(begun) => self.counts(program, (main, thread), (slot, created, *begun), reached),
                _ => !self.many[thread],
            };
            if !counts {
                continue;
            }
            let others = (0..reached.len()).filter(|&other| other != thread);
            let own = self.accesses[thread][slot].written
                && others.clone().all(|other| !self.accesses[other][slot].written);
            let last =
                reached[thread].iter().flat_map(|&location| &program.locations[location].edges).all(|edge| {
                    let mut writes = false;
                    edge.op.shared_accesses(&mut |first, length, written| {
                        writes |= written && (first..first + length).contains(&slot);
                    });
                    !writes || program.locations[edge.to].edges.is_empty()
                });
            let initial = program
                .shared
                .iter()
                .find_map(|variable| variable.initial.get(slot.checked_sub(variable.slot)?).copied());
            if own && last && initial == Some(Some(0)) {
                found = Some((slot, all.clone()));
            }
        }
        found
    }

    /// Whether threads of a template raise one counter by one wherever they write it, and `main`, and nobody else, another one
    /// just where it creates them, one at a time.
    fn counts(
        &self,
        program: &Program,
        (main, thread): (usize, usize),
        (ended, created, begun): (Slot, Slot, Slot),
        reached: &[HashSet<LocationId>],
    ) -> bool {
        let edges = |of: usize| reached[of].iter().flat_map(|&location| &program.locations[location].edges);
        let starts = program.shared.iter().any(|variable| {
            variable.slot == begun && variable.slots() == 1 && variable.initial[..] == [Some(0)]
        });
        let mut others = (0..reached.len()).filter(|&other| other != main);
        starts
            && others.all(|other| !self.accesses[other][begun].written)
            && edges(thread).all(|edge| !is_written(edge, ended) || adds_one(edge, ended))
            && edges(main).all(|edge| match (is_written(edge, created), is_written(edge, begun)) {
                (true, true) => adds_one(edge, created) && adds_one(edge, begun),
                (creates, counts) => creates == counts,
            })
    }

    /// Whether somebody else can see a step of a thread at a location of a procedure.
    pub fn sees(&self, here: ProcedureId, location: LocationId, op: &Op) -> bool {
        let mut seen = false;
        op.shared_accesses(&mut |slot, length, writes| {
            seen |= self.meets(here, location, slot..slot + length, writes);
        });
        seen
    }

    /// Whether somebody else may access one of these slots, so that one of the two writes, while a thread is about to do so at a
    /// location of a procedure.
    pub fn meets(&self, here: ProcedureId, location: LocationId, slots: Range<Slot>, writes: bool) -> bool {
        let conflict =
            |accesses: &[Access]| accesses[slots.clone()].iter().any(|access| access.conflicts(writes));
        let Some(&own) = self.bodies.get(&here) else {
            // Anybody may call it.
            return self.accesses.iter().any(|accesses| conflict(accesses));
        };
        let live = self.live.get(&location).copied().unwrap_or(Threads::MAX);
        self.accesses.iter().enumerate().any(|(other, all)| {
            let meets = match self.main {
                _ if other == own => self.many[own],
                Some(main) if own == main => live >> other & 1 == 1,
                Some(main) if other == main => true,
                Some(_) => self.together[own] >> other & 1 == 1,
                None => true,
            };
            meets && conflict(if Some(other) == self.main { &self.main_accesses[own] } else { all })
        })
    }

    /// Whether `main` is at a location, and no other thread lives.
    pub fn is_alone(&self, location: LocationId) -> bool {
        self.main.is_some() && self.live.get(&location) == Some(&0)
    }
}

/// Whether a step from a location writes a slot.
fn writes(program: &Program, location: LocationId, slot: Slot) -> bool {
    program.locations[location].edges.iter().any(|edge| is_written(edge, slot))
}

/// Whether a step writes a slot.
fn is_written(edge: &Edge, slot: Slot) -> bool {
    let mut found = false;
    edge.op.shared_accesses(&mut |first, length, written| {
        found |= written && (first..first + length).contains(&slot);
    });
    found
}

/// Whether a step that writes a slot stores one more there than it had.
fn adds_one(edge: &Edge, slot: Slot) -> bool {
    let Op::Assign(places, values, _) = &edge.op else { return false };
    let mut written = places.iter().zip(values).filter(|(place, _)| place.target == Target::Shared(slot));
    matches!((written.next(), written.next()), (Some((_, Expr::Binary(Binary::Plus, left, right, _))), None)
        if **left == Expr::Shared(slot) && **right == Expr::Constant(1))
}

/// The slot that a guard finds to be 1, or what another one is.
fn tested(edge: &Edge) -> Option<(Slot, &Expr)> {
    let Op::Guard(Expr::Binary(Binary::Equal, left, right, _), true) = &edge.op else { return None };
    match (&**left, &**right) {
        (Expr::Shared(slot), all @ (Expr::Constant(1) | Expr::Shared(_))) => Some((*slot, all)),
        _ => None,
    }
}

/// Who lives after a step of `main`.
fn passed(program: &Program, edge: &Edge, lives: &[Life], mut live: Threads) -> Threads {
    if let Op::Spawn(template, _) = edge.op {
        return live | 1 << template.index();
    }
    let tested = tested(edge);
    for (thread, life) in lives.iter().enumerate() {
        let Some(created) = life.created.filter(|&slot| slot < program.shared_slots()) else { continue };
        if is_written(edge, created) {
            live |= 1 << thread;
        } else if tested.is_some() && tested == life.ended.as_ref().map(|(slot, all)| (*slot, all)) {
            live &= !(1 << thread);
        }
    }
    live
}
