//! From an asynchronous program to a sequential one: the depth-first scheduler with at most K delays (DBS, section 5).
//!
//! What depth-first scheduling does is a traversal of a tree, which the call stack can do as well: `post` becomes a call. The
//! posted task must see the globals of the moment in which it would run, which is not yet known. So they are *guessed*, and the
//! guess is tested where the value becomes known. For each global g there are
//!
//! * `g_next[k]` (Ḡ in the paper): the value that the next task of round k will find;
//! * `g_guess` (ḡ?): what the task that runs will leave behind when it ends or yields;
//! * `g_start[k]`: what round k + 1 will start with, to be compared with what round k left.
//!
//! Section 5.2, about several rounds, is missing from our copy of the paper; it is reconstructed from its uses in section 5.3. A
//! task is delayed where it is about to run: it goes on to the next round, `round`, as long as `delays` allows.
//!
//! Only an execution whose guesses were all right counts, and that is known at its end. So that a violation can be believed,
//! it ends the execution too: the round in which it will happen is guessed at the start (`last`; one more than K for none).
//! What would run after the violation (later in that round, or in later rounds) is skipped; what runs before it is
//! completed, and its guesses tested. Then the sequential program goes wrong. Parts of tasks start in the order in which they
//! are scheduled, but a task is called while the part that posted it is not over; so a part of that round may be skipped
//! before anything has gone wrong, and from then on (`cut`) none of that round starts. Whatever can go wrong by itself, an index or a
//! range, becomes a question beforehand, since a wrong guess must not be a violation.
//!
//! Refused: globals of infinite type, which cannot be guessed; locks; properties that ask where tasks are.
//!
//! Invariant: at a location of the original program, the shared variables of the original, the local variables and the stack
//! down to the start of the task are those of an execution of the original program, provided that all guesses are right.

mod build;

use super::defined::{and, chooses, defined, equal, fits, not};
use super::{
    Binary, Count, Edge, Expr, LocationId, Op, Place, ProcedureId, Program, Slot, Span, Target, Type, Value,
};
use build::Builder;

/// Why a program has no sequential form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotSequential {
    /// What stands in the way.
    pub what: String,
    /// Where it is.
    pub span: Span,
}

/// The sequential program.
#[derive(Clone, Debug)]
pub struct Sequential {
    /// The program, with one thread.
    pub program: Program,
    /// Where that thread is when the execution has ended and all guesses were right.
    pub done: LocationId,
    /// For each shared slot of the original that is a variable of its text: the slot. It has the same here.
    pub globals: Vec<Slot>,
}

/// The sequential form of an asynchronous program, for so many delays.
pub fn sequential(program: &Program, delays: usize) -> Result<Sequential, NotSequential> {
    let refuse = |what: &str, span| Err(NotSequential { what: what.to_string(), span });
    let Some(token) = program.token() else {
        return refuse("only programs with tasks can be made sequential", Span::default());
    };
    for variable in &program.shared {
        match variable.ty {
            Type::Int => return refuse("its values cannot be guessed: give it a range", variable.span),
            Type::Lock => return refuse("locks cannot be guessed", variable.span),
            Type::Bool | Type::Range(..) => {}
        }
    }
    for never in &program.never {
        let mut at = false;
        never.expr.visit(&mut |expr| at |= matches!(expr, Expr::At(_)));
        if at {
            return refuse("a property that asks where tasks are cannot be kept", never.span);
        }
    }
    let Some(main) = program.templates.iter().position(|template| template.count == Count::Fixed(1)) else {
        return refuse("there is no `main`", Span::default());
    };
    let mut translation =
        Translation { original: program, builder: Builder::new(program, token, delays), main, done: None };
    translation.bodies()?;
    let Translation { builder, done, .. } = translation;
    let Some(done) = done else { return refuse("`main` never ends", program.templates[main].span) };
    let globals = builder.globals.iter().map(|global| global.slot).collect();
    Ok(Sequential { program: builder.program, done, globals })
}

struct Translation<'a> {
    original: &'a Program,
    builder: Builder,
    main: usize,
    done: Option<LocationId>,
}

type Done = Result<(), NotSequential>;

impl Translation<'_> {
    fn bodies(&mut self) -> Done {
        let main = self.original.templates[self.main].body;
        self.builder.exits(main);
        self.prologue(main);
        for location in LocationId::all(&self.original.locations) {
            for edge in &self.original.locations[location].edges {
                self.edge(location, edge)?;
            }
        }
        Ok(())
    }

    /// Guesses what all rounds start with, and in which one something will go wrong.
    fn prologue(&mut self, main: ProcedureId) {
        let entry = self.original.procedures[main].entry;
        let span = self.original.procedures[main].span;
        let b = &mut self.builder;
        let first = b.location(main, span);
        let mut at = first;
        for round in 0..=b.delays {
            let values = b.globals.iter().map(|global| global.any()).collect();
            let places = b.globals.iter().map(|global| b.next_place(global, round, span)).collect();
            at = b.step(at, Op::Assign(places, values, None), span);
        }
        let (mut places, mut values) = (Vec::new(), Vec::new());
        for global in &b.globals {
            places.push(b.place(global.guess, global.ty, span));
            values.push(b.next(global, 0));
            for round in 0..b.delays {
                places.push(b.place(global.start + round, global.ty, span));
                values.push(b.next(global, round + 1));
            }
        }
        let end = b.delays as Value + 1;
        places.push(b.place(b.last, Type::Range(0, end), span));
        values.push(Expr::Choose(0, end));
        at = b.step(at, Op::Assign(places, values, None), span);
        self.check_properties(main, at, entry, span);
        self.builder.program.procedures[main].entry = first;
    }

    fn edge(&mut self, from: LocationId, edge: &Edge) -> Done {
        let procedure = self.original.locations[from].procedure;
        let Edge { op, to, span } = edge;
        let (to, span) = (*to, *span);
        match op {
            Op::Skip => self.builder.edge(from, Op::Skip, to, span),
            Op::AtomicBegin | Op::AtomicEnd => {
                // Nobody else moves anyway. Properties are looked at after it.
                let inside = Value::from(matches!(op, Op::AtomicBegin));
                let place = self.builder.place(self.builder.inside, Type::Bool, span);
                let set = Op::Assign(vec![place], vec![Expr::Constant(inside)], None);
                let after = self.builder.step(from, set, span);
                self.check_properties(procedure, after, to, span);
            }
            Op::Guard(expr, expected) => {
                let at = self.provided(procedure, from, [(expr, None)], &[], span)?;
                self.builder.edge(at, Op::Guard(expr.clone(), *expected), to, span);
            }
            Op::Assert(expr) => {
                let at = self.provided(procedure, from, [(expr, None)], &[], span)?;
                self.builder.edge(at, Op::Guard(expr.clone(), true), to, span);
                self.builder.edge(
                    at,
                    Op::Guard(expr.clone(), false),
                    self.builder.wrong[procedure.index()],
                    span,
                );
            }
            Op::Beyond => return self.refused("a step that is not followed", span),
            Op::Error | Op::NoResult => {
                self.builder.edge(from, Op::Skip, self.builder.wrong[procedure.index()], span);
            }
            Op::Assign(places, values, _) if self.passes_token(places) => {
                self.pass_token(procedure, from, values[0] == Expr::Constant(1), to, span);
            }
            Op::Assign(_, _, Some(_)) => return self.refused("a constraint", span),
            Op::Assign(places, values, None) => {
                let typed = values.iter().zip(places).map(|(value, place)| (value, Some(place.ty)));
                let at = self.provided(procedure, from, typed, places, span)?;
                let after = self.builder.step(at, op.clone(), span);
                self.check_properties(procedure, after, to, span);
            }
            Op::Call(callee, arguments, places) => {
                let types = &self.original.procedures[*callee].locals;
                let typed = arguments.iter().zip(types).map(|(value, local)| (value, Some(local.ty)));
                let at = self.provided(procedure, from, typed, &[], span)?;
                for (place, result) in places.iter().zip(&self.original.procedures[*callee].results) {
                    let element =
                        matches!(place.target, Target::SharedElement(..) | Target::LocalElement(..));
                    if element || !contains(place.ty, *result) {
                        return self.refused("a result that may not fit where it is stored", span);
                    }
                }
                let returned = self.builder.step(at, op.clone(), span);
                self.unwind(procedure, returned, span);
                let after = self.builder.step(returned, self.builder.dying(false), span);
                self.check_properties(procedure, after, to, span);
            }
            Op::Return(results) => {
                let types = self.original.procedures[procedure].results.iter();
                let typed = results.iter().zip(types).map(|(value, ty)| (value, Some(*ty)));
                let at = self.provided(procedure, from, typed, &[], span)?;
                self.builder.edge(at, op.clone(), at, span);
            }
            Op::Spawn(template, arguments) => {
                let body = self.original.templates[*template].body;
                let types = &self.original.procedures[body].locals;
                let typed = arguments.iter().zip(types).map(|(value, local)| (value, Some(local.ty)));
                let at = self.provided(procedure, from, typed, &[], span)?;
                self.post(procedure, at, (body, arguments), to, span);
            }
            Op::Acquire(_) | Op::Release(_) => return self.refused("a lock", span),
            Op::Fork(_) | Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_) => {
                return self.refused("a thread", span);
            }
        }
        Ok(())
    }

    fn refused(&self, what: &str, span: Span) -> Done {
        Err(NotSequential { what: format!("{what} cannot be kept in a sequential program"), span })
    }

    /// ⟦post p e⟧: the globals, the guess and the round are kept aside while the task is called.
    fn post(
        &mut self,
        procedure: ProcedureId,
        from: LocationId,
        (body, arguments): (ProcedureId, &[Expr]),
        to: LocationId,
        span: Span,
    ) {
        let b = &mut self.builder;
        let kept = b.kept(procedure);
        let (save, restore) = b.save_and_restore(&kept, span);
        let at = b.step(from, save, span);
        let returned = b.step(at, Op::Call(body, arguments.to_vec(), Vec::new()), span);
        // A task that was skipped, or went wrong, leaves nothing to be tested.
        let place = b.place(b.over, Type::Bool, span);
        let skipped = b.step(returned, b.dying(true), span);
        let ended = b.step(returned, b.dying(false), span);
        let after = b.step(ended, b.guessed_right(), span);
        b.edge(skipped, Op::Assign(vec![place], vec![Expr::Constant(0)], None), after, span);
        b.edge(after, restore, to, span);
    }

    /// The end of a task, or one of the two halves of ⟦yield⟧; the second is also how a task starts.
    fn pass_token(
        &mut self,
        procedure: ProcedureId,
        from: LocationId,
        resumes: bool,
        to: LocationId,
        span: Span,
    ) {
        let ends = self.original.locations[to].edges.is_empty();
        let is_main = self.original.templates[self.main].body == procedure;
        let b = &mut self.builder;
        if resumes {
            b.resume(procedure, from, to, span);
        } else if !ends {
            b.edge(from, b.guessed_right(), to, span);
        } else if is_main {
            let end = b.end;
            b.edge(from, b.guessed_right(), end, span);
            b.epilogue(procedure, to, span);
            self.done = Some(to);
        } else {
            b.edge(from, Op::Return(Vec::new()), from, span);
        }
    }

    fn passes_token(&self, places: &[Place]) -> bool {
        matches!(places, [place] if place.target == Target::Shared(self.builder.round))
    }

    /// Goes to where a task that is over leaves a procedure, if the one that runs is.
    fn unwind(&mut self, procedure: ProcedureId, from: LocationId, span: Span) {
        let (over, die) = (self.builder.dying(true), self.builder.die[procedure.index()]);
        self.builder.edge(from, over, die, span);
    }

    /// A location that is reached if expressions have values and these fit, and indices are ones; else it goes wrong.
    fn provided<'e>(
        &mut self,
        procedure: ProcedureId,
        from: LocationId,
        values: impl IntoIterator<Item = (&'e Expr, Option<Type>)>,
        places: &[Place],
        span: Span,
    ) -> Result<LocationId, NotSequential> {
        let mut condition = Expr::Constant(1);
        let mut choice = false;
        for (value, ty) in values {
            let fit = ty.map_or(Expr::Constant(1), |ty| fits(value, ty));
            let one = and(defined(value), fit);
            choice |= one != Expr::Constant(1) && chooses(value);
            condition = and(condition, one);
        }
        for place in places {
            if let Target::SharedElement(_, length, index) | Target::LocalElement(_, length, index) =
                &place.target
            {
                let one = defined(&Expr::SharedElement(0, *length, Box::new(index.clone()), span));
                choice |= chooses(index);
                condition = and(condition, one);
            }
        }
        if choice {
            return Err(NotSequential {
                what: "a choice in an expression that may go wrong cannot be asked about beforehand"
                    .to_string(),
                span,
            });
        }
        if condition == Expr::Constant(1) {
            return Ok(from);
        }
        let wrong = self.builder.wrong[procedure.index()];
        self.builder.edge(from, Op::Guard(condition.clone(), false), wrong, span);
        Ok(self.builder.step(from, Op::Guard(condition, true), span))
    }

    /// Goes on if no property is violated.
    fn check_properties(&mut self, procedure: ProcedureId, from: LocationId, to: LocationId, span: Span) {
        let outside = not(Expr::Shared(self.builder.inside));
        let mut at = from;
        for never in &self.original.never {
            let wrong = self.builder.wrong[procedure.index()];
            // A property without a value is violated, too.
            let violated = and(defined(&never.expr), not(never.expr.clone()));
            let violated = and(outside.clone(), not(violated));
            self.builder.edge(at, Op::Guard(violated.clone(), true), wrong, never.span);
            at = self.builder.step(at, Op::Guard(violated, false), span);
        }
        self.builder.edge(at, Op::Skip, to, span);
    }
}

/// Whether all values of a type are values of another.
fn contains(outer: Type, inner: Type) -> bool {
    match (outer.bounds(), inner.bounds()) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some((low, high)), Some((least, greatest))) => low <= least && greatest <= high,
    }
}

/// All values of a finite type are equal to their guesses.
fn all_equal(pairs: impl Iterator<Item = (Expr, Expr)>) -> Expr {
    pairs.fold(Expr::Constant(1), |all, (left, right)| and(all, equal(left, right)))
}
