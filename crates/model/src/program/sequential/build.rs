//! The sequential program while it is built: its variables, and the steps that the translation adds.

use super::super::defined::{and, binary, equal, not, or};
use super::super::{
    Edge, Expr, Location, LocationId, Op, Place, ProcedureId, Program, Slot, Span, Target, Type, Value,
    Variable, slot_name,
};
use super::{Binary, all_equal};
use std::collections::HashMap;

/// A global of the original program: a shared variable, or an element of an array.
pub(super) struct Global {
    pub slot: Slot,
    pub ty: Type,
    /// The first slot of what the next task of each round will find.
    pub next: Slot,
    /// What the task that runs will leave behind.
    pub guess: Slot,
    /// The first slot of what each round but the first will start with.
    pub start: Slot,
}

impl Global {
    /// Any value.
    pub fn any(&self) -> Expr {
        let (low, high) = self.ty.bounds().unwrap_or_default();
        Expr::Choose(low, high)
    }
}

/// Local variables in which a procedure keeps values aside while it calls a task.
#[derive(Clone)]
pub(super) struct Kept {
    globals: Vec<Slot>,
    guesses: Vec<Slot>,
    round: Slot,
}

pub(super) struct Builder {
    pub program: Program,
    /// K.
    pub delays: usize,
    pub globals: Vec<Global>,
    /// The round of the task that runs; in the place of the token.
    pub round: Slot,
    /// How many delays there were.
    used: Slot,
    /// The round in which something will go wrong.
    pub last: Slot,
    /// Whether it has.
    error: Slot,
    /// Whether nothing more of that round is run.
    cut: Slot,
    /// Whether the task that runs is over: it went wrong, or is skipped.
    pub over: Slot,
    /// Whether control is in an atomic section.
    pub inside: Slot,
    /// For each procedure, where something has gone wrong, and where a task that is over leaves it.
    pub wrong: Vec<LocationId>,
    pub die: Vec<LocationId>,
    /// Where the guesses about rounds are tested.
    pub end: LocationId,
    kept: HashMap<ProcedureId, Kept>,
}

impl Builder {
    /// The program without steps, and with the variables of the translation.
    pub fn new(original: &Program, token: Slot, delays: usize) -> Builder {
        let mut program = original.clone();
        program.locations.iter_mut().for_each(|location| location.edges.clear());
        program.templates.retain(|template| !template.vanishes);
        program.never.clear();
        program.progress.clear();
        program.hints.clear();
        let rounds = Type::Range(0, delays as Value);
        for variable in program.shared.iter_mut().filter(|variable| variable.slot == token) {
            let (name, ty) = ("round".to_string(), rounds);
            *variable = Variable { name, ty, initial: vec![Some(0)], ..variable.clone() };
        }
        let mut globals = Vec::new();
        for variable in &original.shared {
            for slot in (variable.slot..variable.slot + variable.slots()).filter(|&slot| slot != token) {
                let name = slot_name(&original.shared, slot).replace(['[', ']'], "");
                let mut add = |suffix: &str, length| {
                    declare(&mut program.shared, format!("{name}_{suffix}"), variable.ty, length)
                };
                let next = add("next", Some(delays + 1));
                let guess = add("guess", None);
                let start = if delays == 0 { 0 } else { add("start", Some(delays)) };
                globals.push(Global { slot, ty: variable.ty, next, guess, start });
            }
        }
        let mut add = |name: &str, ty| declare(&mut program.shared, name.to_string(), ty, None);
        let used = add("delays", rounds);
        let last = add("last", Type::Range(0, delays as Value + 1));
        let (error, over) = (add("went_wrong", Type::Bool), add("over", Type::Bool));
        let (cut, inside) = (add("cut", Type::Bool), add("inside", Type::Bool));
        Builder {
            program,
            delays,
            globals,
            round: token,
            used,
            last,
            error,
            cut,
            over,
            inside,
            wrong: Vec::new(),
            die: Vec::new(),
            end: LocationId(0),
            kept: HashMap::new(),
        }
    }

    /// Adds to each procedure where it goes wrong and where it is left then.
    pub fn exits(&mut self, main: ProcedureId) {
        self.end = self.location(main, self.program.procedures[main].span);
        for number in ProcedureId::all(&self.program.procedures) {
            let procedure = &self.program.procedures[number];
            let (span, results) = (procedure.span, procedure.results.clone());
            let (wrong, die) = (self.location(number, span), self.location(number, span));
            self.wrong.push(wrong);
            self.die.push(die);
            // What was guessed not to go wrong here does not count.
            let expected =
                and(equal(Expr::Shared(self.round), Expr::Shared(self.last)), not(Expr::Shared(self.error)));
            let at = self.step(wrong, Op::Guard(expected, true), span);
            let places = [self.error, self.cut, self.over].map(|slot| self.place(slot, Type::Bool, span));
            self.edge(at, Op::Assign(places.to_vec(), vec![Expr::Constant(1); 3], None), die, span);
            if number == main {
                self.edge(die, Op::Skip, self.end, span);
            } else {
                let values = results.iter().map(|ty| Expr::Constant(ty.default_value())).collect();
                self.edge(die, Op::Return(values), die, span);
            }
        }
    }

    /// A new location.
    pub fn location(&mut self, procedure: ProcedureId, span: Span) -> LocationId {
        self.program.locations.push(Location { procedure, edges: Vec::new(), span });
        LocationId(self.program.locations.len() - 1)
    }

    pub fn edge(&mut self, from: LocationId, op: Op, to: LocationId, span: Span) {
        self.program.locations[from].edges.push(Edge { op, to, span });
    }

    /// An edge to a new location.
    pub fn step(&mut self, from: LocationId, op: Op, span: Span) -> LocationId {
        let to = self.location(self.program.locations[from].procedure, span);
        self.edge(from, op, to, span);
        to
    }

    pub fn place(&self, slot: Slot, ty: Type, span: Span) -> Place {
        Place { target: Target::Shared(slot), ty, span }
    }

    /// What the next task of a round will find.
    pub fn next(&self, global: &Global, round: usize) -> Expr {
        Expr::Shared(global.next + round)
    }

    pub fn next_place(&self, global: &Global, round: usize, span: Span) -> Place {
        self.place(global.next + round, global.ty, span)
    }

    /// Asks whether the task that runs is over.
    pub fn dying(&self, expected: bool) -> Op {
        Op::Guard(Expr::Shared(self.over), expected)
    }

    /// Goes on if the globals are as was guessed.
    pub fn guessed_right(&self) -> Op {
        let pairs = self.globals.iter().map(|global| (Expr::Shared(global.slot), Expr::Shared(global.guess)));
        Op::Guard(all_equal(pairs), true)
    }

    /// How a task starts, or goes on after a yield. It may be delayed. It is skipped if its round comes after the one that
    /// goes wrong, and may be in that round: then nothing more of it is run, and what goes wrong is the part of a task that
    /// started before and has not come to its end. Else it takes the globals that were foretold, and foretells those that it
    /// will leave.
    pub fn resume(&mut self, procedure: ProcedureId, from: LocationId, to: LocationId, span: Span) {
        let shared = |slot| Expr::Shared(slot);
        let more = |slot| binary(Binary::Plus, shared(slot), Expr::Constant(1));
        if self.delays > 0 {
            let rounds = Type::Range(0, self.delays as Value);
            let left = binary(Binary::Less, shared(self.used), Expr::Constant(self.delays as Value));
            let delayed = self.step(from, Op::Guard(left, true), span);
            let places = vec![self.place(self.used, rounds, span), self.place(self.round, rounds, span)];
            self.edge(delayed, Op::Assign(places, vec![more(self.used), more(self.round)], None), from, span);
        }
        let (round, last) = (shared(self.round), shared(self.last));
        let die = self.die[procedure.index()];
        let (over, cut) = (self.place(self.over, Type::Bool, span), self.place(self.cut, Type::Bool, span));
        let later = binary(Binary::Greater, round.clone(), last.clone());
        let skipped = self.step(from, Op::Guard(later, true), span);
        self.edge(skipped, Op::Assign(vec![over.clone()], vec![Expr::Constant(1)], None), die, span);
        let now = equal(round.clone(), last.clone());
        let skipped = self.step(from, Op::Guard(now.clone(), true), span);
        self.edge(skipped, Op::Assign(vec![over, cut], vec![Expr::Constant(1); 2], None), die, span);
        let before = binary(Binary::Less, round, last);
        let before = or(before, and(now, not(shared(self.cut))));
        let runs = self.step(from, Op::Guard(before, true), span);
        let guesses = self.globals.iter().map(|global| self.place(global.guess, global.ty, span)).collect();
        let any = self.globals.iter().map(Global::any).collect();
        let guessed = self.step(runs, Op::Assign(guesses, any, None), span);
        let (mut places, mut values) = (Vec::new(), Vec::new());
        for global in &self.globals {
            let (length, round) = (self.delays + 1, shared(self.round));
            places.push(self.place(global.slot, global.ty, span));
            values.push(Expr::SharedElement(global.next, length, Box::new(round.clone()), span));
            let target = Target::SharedElement(global.next, length, round);
            places.push(Place { target, ty: global.ty, span });
            values.push(shared(global.guess));
        }
        self.edge(guessed, Op::Assign(places, values, None), to, span);
    }

    /// The test of what was guessed about rounds; then the execution is over, or has gone wrong.
    pub fn epilogue(&mut self, main: ProcedureId, done: LocationId, span: Span) {
        if !self.program.locations[self.end].edges.is_empty() {
            return;
        }
        let (last, end) = (Expr::Shared(self.last), self.delays as Value + 1);
        let mut right = Expr::Constant(1);
        for round in 0..self.delays {
            let pairs = self
                .globals
                .iter()
                .map(|global| (Expr::Shared(global.start + round), self.next(global, round)));
            let after = binary(Binary::Less, last.clone(), Expr::Constant(round as Value + 1));
            right = and(right, or(after, all_equal(pairs)));
        }
        let tested = self.step(self.end, Op::Guard(right, true), span);
        let ran = equal(last, Expr::Constant(end));
        let ended = self.step(tested, Op::Guard(ran.clone(), true), span);
        let places = self.globals.iter().map(|global| self.place(global.slot, global.ty, span)).collect();
        let values = self.globals.iter().map(|global| self.next(global, self.delays)).collect();
        self.edge(ended, Op::Assign(places, values, None), done, span);
        let found = and(not(ran), Expr::Shared(self.error));
        let wrong = self.step(tested, Op::Guard(found, true), span);
        let nowhere = self.location(main, span);
        self.edge(wrong, Op::Error, nowhere, span);
    }

    /// The variables in which a procedure keeps values aside.
    pub fn kept(&mut self, procedure: ProcedureId) -> Kept {
        if let Some(kept) = self.kept.get(&procedure) {
            return kept.clone();
        }
        let shared = &self.program.shared;
        let names: Vec<String> = self
            .globals
            .iter()
            .map(|global| slot_name(shared, global.slot).replace(['[', ']'], ""))
            .collect();
        let locals = &mut self.program.procedures[procedure].locals;
        let mut keep = |suffix: &str| {
            let named = self.globals.iter().zip(&names);
            named.map(|(global, name)| declare(locals, format!("{name}_{suffix}"), global.ty, None)).collect()
        };
        let (globals, guesses) = (keep("before"), keep("guess_before"));
        let round = declare(locals, "round_before".to_string(), Type::Range(0, self.delays as Value), None);
        let kept = Kept { globals, guesses, round };
        self.kept.insert(procedure, kept.clone());
        kept
    }

    /// The steps that keep values aside and take them back.
    pub fn save_and_restore(&self, kept: &Kept, span: Span) -> (Op, Op) {
        let rounds = Type::Range(0, self.delays as Value);
        let globals =
            self.globals.iter().zip(&kept.globals).map(|(global, &aside)| (global.slot, aside, global.ty));
        let guesses =
            self.globals.iter().zip(&kept.guesses).map(|(global, &aside)| (global.guess, aside, global.ty));
        let (mut save, mut restore) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for (shared, aside, ty) in globals.chain(guesses).chain([(self.round, kept.round, rounds)]) {
            save.0.push(Place { target: Target::Local(aside), ty, span });
            save.1.push(Expr::Shared(shared));
            restore.0.push(self.place(shared, ty, span));
            restore.1.push(Expr::Local(aside));
        }
        (Op::Assign(save.0, save.1, None), Op::Assign(restore.0, restore.1, None))
    }
}

/// Adds a variable after the others.
fn declare(variables: &mut Vec<Variable>, name: String, ty: Type, length: Option<usize>) -> Slot {
    let slot = variables.last().map_or(0, |last| last.slot + last.slots());
    let initial = vec![Some(ty.default_value()); length.unwrap_or(1)];
    variables.push(Variable {
        name,
        ty,
        slot,
        length,
        initial,
        mixed: false,
        names: None,
        span: Span::default(),
    });
    slot
}
