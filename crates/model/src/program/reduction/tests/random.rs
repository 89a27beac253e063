//! Random programs, reduced and not: the same states as far as they matter, the same violations.

use super::super::*;
use super::{binary, edge_at, span, variable};
use crate::program::semantics::{Outcome, State, steps};
use crate::program::*;
use std::collections::HashSet;

/// A small generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn variables(&mut self, count: usize, prefix: &str, types: &[Type]) -> Vec<Variable> {
        let mut slot = 0;
        let mut variables = Vec::new();
        for index in 0..count {
            let ty = types[self.below(types.len())];
            let length = self.one_in(4).then_some(2);
            let any = ty.bounds().is_some() && self.one_in(3);
            let initial = (!any).then_some(ty.default_value());
            let mut variable = variable(&format!("{prefix}{index}"), ty, initial);
            variable.slot = slot;
            variable.length = length;
            variable.initial = vec![initial; length.unwrap_or(1)];
            slot += variable.slots();
            variables.push(variable);
        }
        variables
    }
}

/// What a random step may speak of.
struct Making {
    random: Random,
    shared: Vec<Variable>,
    locals: Vec<Variable>,
    spans: u32,
}

impl Making {
    fn span(&mut self) -> Span {
        self.spans += 1;
        span(self.spans)
    }

    fn expr(&mut self, depth: usize) -> Expr {
        let shared = self.random.one_in(2);
        let variables = if shared { &self.shared } else { &self.locals };
        let pick = self.random.below(if depth == 0 { 6 } else { 14 });
        match pick {
            0 => Expr::Constant(self.random.below(4) as Value - 1),
            1 if self.random.one_in(2) => Expr::Choose(0, self.random.below(2) as Value),
            1 if self.random.one_in(2) => Expr::This,
            1..=5 => {
                let variable = variables[self.random.below(variables.len())].clone();
                if variable.ty == Type::Lock {
                    return Expr::Constant(1);
                }
                match (variable.length, shared) {
                    (None, true) => Expr::Shared(variable.slot),
                    (None, false) => Expr::Local(variable.slot),
                    (Some(length), shared) => {
                        let (index, span) = (Box::new(self.index(depth)), self.span());
                        if shared {
                            Expr::SharedElement(variable.slot, length, index, span)
                        } else {
                            Expr::LocalElement(variable.slot, length, index, span)
                        }
                    }
                }
            }
            6 => Expr::Unary(Unary::Not, Box::new(self.expr(depth - 1))),
            7 => Expr::Unary(Unary::Minus, Box::new(self.expr(depth - 1))),
            8 => Expr::If(
                Box::new(self.expr(depth - 1)),
                Box::new(self.expr(depth - 1)),
                Box::new(self.expr(depth - 1)),
            ),
            _ => {
                let operators = [
                    Binary::And,
                    Binary::Or,
                    Binary::Equal,
                    Binary::Less,
                    Binary::Unequal,
                    Binary::Plus,
                    Binary::Minus,
                    Binary::Times,
                    Binary::Divide,
                    Binary::Remainder,
                ];
                let operator = operators[self.random.below(operators.len())];
                let mut made = binary(operator, self.expr(depth - 1), self.expr(depth - 1));
                if let Expr::Binary(.., span) = &mut made {
                    *span = self.span();
                }
                made
            }
        }
    }

    fn index(&mut self, depth: usize) -> Expr {
        match self.random.below(3) {
            0 => Expr::Constant(self.random.below(2) as Value),
            1 => Expr::Choose(0, 1),
            _ => self.expr(depth.saturating_sub(1)),
        }
    }

    fn place(&mut self) -> Place {
        let shared = self.random.one_in(2);
        let variables = if shared { &self.shared } else { &self.locals };
        let variables: Vec<Variable> =
            variables.iter().filter(|variable| variable.ty != Type::Lock).cloned().collect();
        let variable = &variables[self.random.below(variables.len())];
        let others = !shared && variable.mixed && self.random.one_in(2);
        let target = match (variable.length, shared) {
            (None, true) => Target::Shared(variable.slot),
            (None, false) if others => Target::Others(variable.slot),
            (None, false) => Target::Local(variable.slot),
            (Some(length), true) => Target::SharedElement(variable.slot, length, self.index(1)),
            (Some(length), false) => Target::LocalElement(variable.slot, length, self.index(1)),
        };
        Place { target, ty: variable.ty, span: self.span() }
    }

    fn assign(&mut self) -> Op {
        let count = 1 + self.random.below(2);
        let places: Vec<Place> = (0..count).map(|_| self.place()).collect();
        let values = (0..count).map(|_| self.expr(2)).collect();
        let constraint = self.random.one_in(5).then(|| {
            let next = |place: &Place| match place.target {
                Target::Shared(slot) => Expr::NextShared(slot),
                Target::Local(slot) => Expr::NextLocal(slot),
                _ => Expr::Constant(1),
            };
            binary(Binary::Equal, next(&places[0]), self.expr(1))
        });
        Op::Assign(places, values, constraint)
    }

    fn lock(&mut self) -> LockPlace {
        let locks: Vec<Slot> =
            self.shared.iter().filter(|variable| variable.ty == Type::Lock).map(|lock| lock.slot).collect();
        LockPlace { slot: locks[self.random.below(locks.len())], element: None, span: self.span() }
    }
}

/// A random program: procedures 0 and 1 are bodies, 2 and 3 are called, the latter with a result.
fn program(seed: u64) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..4 {
        random.below(2);
    }
    // An atomic section must not go on forever, so there is nothing beside it that does.
    let atomic = random.one_in(3);
    let mixed = !atomic && random.one_in(4);
    let types = [Type::Bool, Type::Bool, Type::Range(0, 2), Type::Range(1, 2), Type::Int];
    let types = if atomic { &types[..4] } else { &types };
    let mut shared = random.variables(3, "g", types);
    if random.one_in(2) {
        let mut lock = variable("m", Type::Lock, Some(0));
        lock.slot = shared.last().map_or(0, |last| last.slot + last.slots());
        shared.push(lock);
    }
    let locks = shared.last().is_some_and(|last| last.ty == Type::Lock);
    let mut program = Program {
        shared,
        events: vec!["e".to_string()],
        templates: (0..2)
            .map(|body| Template {
                name: format!("t{body}"),
                body: ProcedureId(body),
                count: Count::Fixed(1),
                spawned: body == 1,
                vanishes: false,
                uses_self: true,
                span: Span::default(),
            })
            .collect(),
        ..Program::default()
    };
    for number in 0..4 {
        let mut locals = random.variables(3, "l", types);
        locals[0].length = None;
        locals[0].initial.truncate(1);
        if mixed && number < 2 {
            locals[1].mixed = true;
            locals[1].length = None;
            locals[1].initial.truncate(1);
        }
        let mut slot = 0;
        for local in &mut locals {
            local.slot = slot;
            slot += local.slots();
        }
        program.procedures.push(Procedure {
            name: format!("p{number}"),
            locals,
            parameters: usize::from(number > 0),
            results: if number == 3 { vec![Type::Int] } else { vec![] },
            entry: LocationId(0),
            span: Span::default(),
        });
    }
    let mut making = Making { random, shared: program.shared.clone(), locals: vec![], spans: 0 };
    for number in 0..4 {
        making.locals = program.procedures[number].locals.clone();
        let (first, count) = (program.locations.len(), 2 + making.random.below(4));
        program.procedures[number].entry = LocationId(first);
        for _ in 0..count {
            let mut edges = Vec::new();
            for _ in 0..making.random.below(3) {
                let to = first + making.random.below(count);
                let op = match making.random.below(26) {
                    0 => Op::Skip,
                    1..=3 => Op::Guard(making.expr(2), making.random.one_in(2)),
                    4 => Op::Assert(making.expr(2)),
                    5 if making.random.one_in(3) => Op::Error,
                    6 if atomic => Op::AtomicBegin,
                    7 if atomic => Op::AtomicEnd,
                    8..=10 if (number < 2 || (number == 3 && !atomic)) && !mixed => {
                        Op::Call(ProcedureId(2), vec![making.expr(1)], vec![])
                    }
                    11..=13 if (number < 2 || (number == 2 && !atomic)) && !mixed => {
                        Op::Call(ProcedureId(3), vec![making.expr(1)], vec![making.place()])
                    }
                    14 if number == 0 && !atomic => Op::Spawn(TemplateId(1), vec![making.expr(1)]),
                    15 if number < 2 && !atomic => Op::Fork(LocationId(first + making.random.below(count))),
                    16 => Op::Broadcast(EventId(0)),
                    17..=18 if locks => Op::Acquire(making.lock()),
                    19 if locks => Op::Release(making.lock()),
                    _ => making.assign(),
                };
                let mut edge = edge_at(op, to);
                edge.span = making.span();
                edges.push(edge);
            }
            if making.random.one_in(12) {
                edges = vec![edge_at(Op::Wait(EventId(0)), first + making.random.below(count))];
            } else if number >= 2 && making.random.one_in(2) {
                let results = if number == 3 { vec![making.expr(2)] } else { vec![] };
                let mut edge = edge_at(Op::Return(results), program.locations.len());
                edge.span = making.span();
                edges.push(edge);
            }
            program.locations.push(Location { procedure: ProcedureId(number), edges, span: Span::default() });
        }
    }
    if making.random.one_in(3) {
        making.locals = making.shared.clone();
        let expr = loop {
            let expr = making.expr(1);
            let mut locals = false;
            expr.visit(&mut |part| {
                locals |= matches!(part, Expr::Local(_) | Expr::LocalElement(..) | Expr::This);
            });
            if !locals {
                break expr;
            }
        };
        let at = Expr::At(vec![LocationId(making.random.below(program.locations.len()))]);
        let expr = binary(Binary::And, binary(Binary::Less, Expr::Constant(0), at), expr);
        program.never.push(Never { name: None, expr, span: making.span() });
    }
    program
}

/// A state with everything set to 0 that does not matter.
fn project(reduction: &Reduction, mut state: State) -> State {
    let forget = |values: &mut [Value], matters: &[bool]| {
        values.iter_mut().zip(matters).for_each(|(value, matters)| *value *= Value::from(*matters));
    };
    forget(&mut state.shared, &reduction.shared);
    for frame in state.threads.iter_mut().flat_map(|thread| &mut thread.stack) {
        let live = match frame.calling {
            None => &reduction.live[frame.location.index()],
            Some(edge) => &reduction.live_on_return[&(frame.location, edge)],
        };
        forget(&mut frame.locals, live);
    }
    state
}

/// The reachable states and what else can be seen in them.
#[derive(Default, PartialEq, Eq, Debug)]
struct Seen {
    states: HashSet<State>,
    stuck: HashSet<State>,
    wrong: HashSet<Outcome>,
}

const MOST_STATES: usize = 400;

/// Explores a program, every state seen through a function. `None` if there are too many states.
fn explore(program: &Program, never: &Program, see: impl Fn(State) -> State) -> Option<Seen> {
    let mut seen = Seen::default();
    let mut todo: Vec<State> = State::initial(program, &[1, 1])?;
    for state in &mut todo {
        *state = see(state.clone());
    }
    while let Some(state) = todo.pop() {
        if !seen.states.insert(state.clone()) {
            continue;
        }
        if seen.states.len() > MOST_STATES {
            return None;
        }
        seen.wrong.extend(state.violated(never));
        let deep = state.threads.len() > 3 || state.threads.iter().any(|thread| thread.stack.len() > 3);
        if deep {
            continue;
        }
        if state.deadlocked(program) {
            seen.stuck.insert(state.clone());
        }
        for step in (0..state.threads.len()).flat_map(|thread| steps(program, &state, thread)) {
            match step.outcome {
                Outcome::To(next) => todo.push(see(next)),
                outcome => {
                    seen.wrong.insert(outcome);
                }
            }
        }
    }
    Some(seen)
}

#[test]
fn nothing_that_matters_changes() {
    let (mut compared, mut smaller, mut safe) = (0, 0, 0);
    for seed in 1..5000 {
        let program = program(seed);
        let Some(full) = explore(&program, &program, |state| state) else { continue };
        let reduction = reduce(&program);
        let projected = |states: &HashSet<State>| -> HashSet<State> {
            states.iter().map(|state| project(&reduction, state.clone())).collect()
        };
        let reduced = explore(&reduction.program, &program, |state| project(&reduction, state));
        let reduced = reduced.unwrap_or_else(|| panic!("seed {seed}: more states than before"));
        assert_eq!(reduced.wrong, full.wrong, "seed {seed}\n{program:#?}\n{reduction:#?}");
        assert_eq!(reduced.states, projected(&full.states), "seed {seed}\n{program:#?}\n{reduction:#?}");
        assert_eq!(reduced.stuck, projected(&full.stuck), "seed {seed}");
        let releases = |outcome: &Outcome| matches!(outcome, Outcome::Wrong(v) if v.kind == Wrong::Release);
        let locks = reduction.locks.contains(&true);
        assert!(!reduction.locks_are_safe || !full.wrong.iter().any(releases), "seed {seed}");
        for (location, here) in LocationId::each(&program.locations) {
            for (index, edge) in here.edges.iter().enumerate() {
                if let Op::Call(ProcedureId(2), ..) = edge.op {
                    let live = &reduction.live_on_return[&(location, index)];
                    assert_eq!(*live, reduction.live[edge.to.index()], "seed {seed}: as the encoding has it");
                }
            }
        }
        compared += 1;
        smaller += usize::from(reduced.states.len() < full.states.len());
        safe += usize::from(locks && reduction.locks_are_safe);
    }
    // The test says something only if there is something to compare.
    assert!(compared > 1000 && smaller > 300 && safe > 30, "{compared} {smaller} {safe}");
}
