//! Of a program that is too large to be read as a whole: what may lie on a short way to an assertion that fails.
//!
//! A statement is *of interest* if an assertion is there, or a variable or member is written there on which an assertion
//! directly depends, or it calls, or starts as a thread, a function with such a statement. A statement is kept if control may
//! get from it to one of interest, through calls and returns, but not through the next round of a loop that has already come by
//! such a statement. All others become ends of what is followed.
//!
//! Invariant: every run of what is left is the beginning of a run of the program. So a counterexample is real, and since runs
//! that come to an end of what is followed are never called safe, nothing is proved that does not hold. What is lost are
//! counterexamples that need more, such as a flag that is set in a later round.

mod flow;
mod targets;

use crate::library::{self, Flow as Addresses};
use crate::pointers::Pointers;
use crate::typed::{Expr, ExprKind, FunctionId, Span, Stmt, StmtKind, Unit};
use crate::walk;
use flow::Flow;
use std::collections::HashSet;

/// Programs with more expressions than this, once functions are inlined, are too large to be read as a whole.
pub const MOST_EXPRESSIONS: u64 = 6_700;

/// Calls are counted no deeper than this.
const MOST_DEEP: usize = 200;

/// Cuts a program if it has more expressions than so many; says whether it has.
pub fn cut(unit: &mut Unit, most: u64) -> bool {
    let mut pointers = Pointers::of(unit);
    let calls = Calls::of(unit, &mut pointers);
    if calls.inlined(unit) <= most {
        return false;
    }
    let bodies = keep(unit, &mut pointers, &calls);
    for (function, body) in unit.functions.iter_mut().zip(bodies) {
        function.body = body;
    }
    true
}

/// Which functions each function calls, and which it starts as threads.
struct Calls {
    called: Vec<Vec<FunctionId>>,
    started: Vec<Vec<FunctionId>>,
}

impl Calls {
    fn of(unit: &Unit, pointers: &mut Pointers) -> Calls {
        let mut calls = Calls { called: Vec::new(), started: Vec::new() };
        for function in &unit.functions {
            let (mut called, mut started) = (Vec::new(), Vec::new());
            walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
                let (calls, starts) = calls_of(unit, pointers, expr);
                called.extend(calls);
                started.extend(starts);
            });
            calls.called.push(called);
            calls.started.push(started);
        }
        calls
    }

    /// How many expressions there are in `main` and all threads when functions are inlined.
    fn inlined(&self, unit: &Unit) -> u64 {
        let own = |function: &crate::typed::Function| {
            let mut count = 0;
            walk::statements(function.body.as_deref().unwrap_or_default(), &mut |_| count += 1);
            count
        };
        let own: Vec<u64> = unit.functions.iter().map(own).collect();
        let mut all: Vec<Option<u64>> = vec![None; own.len()];
        let roots = main_of(unit).into_iter().chain(self.started.iter().flatten().copied());
        let roots: HashSet<FunctionId> = roots.collect();
        roots.iter().fold(0, |sum, root| sum.saturating_add(self.size(*root, &own, &mut all, 0)))
    }

    fn size(&self, function: FunctionId, own: &[u64], all: &mut Vec<Option<u64>>, depth: usize) -> u64 {
        if let Some(known) = all[function.0] {
            return known;
        }
        // Calls that are nested more deeply are not inlined.
        if depth > MOST_DEEP {
            return 0;
        }
        // A function that calls itself counts once.
        all[function.0] = Some(0);
        let called = &self.called[function.0];
        let size = called
            .iter()
            .fold(own[function.0], |sum, &callee| sum.saturating_add(self.size(callee, own, all, depth + 1)));
        all[function.0] = Some(size);
        size
    }
}

fn main_of(unit: &Unit) -> Option<FunctionId> {
    unit.functions.iter().position(|function| function.name == "main").map(FunctionId)
}

/// The functions that an expression, without its parts, calls, and those that it starts as threads.
fn calls_of(unit: &Unit, pointers: &mut Pointers, expr: &Expr) -> (Vec<FunctionId>, Vec<FunctionId>) {
    let ExprKind::Call(callee, arguments) = &expr.kind else { return Default::default() };
    let called = pointers.callees(callee);
    let mut started = Vec::new();
    for function in &called {
        if let Addresses::StartsThread { start, .. } = library::flow(&unit.functions[function.0].name)
            && let Some(start) = arguments.get(start)
        {
            let start = walk::through_casts(start);
            let start = if let ExprKind::AddressOf(function) = &start.kind { function } else { start };
            started.extend(pointers.started(start));
        }
    }
    (called, started)
}

/// The bodies that are left.
fn keep(unit: &Unit, pointers: &mut Pointers, calls: &Calls) -> Vec<Option<Vec<Stmt>>> {
    let targets = targets::Targets::of(unit, calls);
    let mut flows: Vec<Flow> =
        unit.functions.iter().map(|function| Flow::of(unit, pointers, &targets, function)).collect();
    let of_interest = of_interest(&flows, unit.functions.len());
    for flow in &mut flows {
        flow.leave_loops(&of_interest);
    }
    let returns = useful(unit, &mut flows, &of_interest, calls);
    let reached = reached(unit, &flows);
    let bodies = unit.functions.iter().zip(&flows).enumerate().map(|(number, (function, flow))| {
        let body = function.body.as_ref()?;
        let known = reached.contains(&FunctionId(number)) && (of_interest[number] || returns[number]);
        Some(if known { kept(body, flow) } else { vec![end(function.span)] })
    });
    bodies.collect()
}

/// Whether something of interest is in each function, or in what it calls or starts.
fn of_interest(flows: &[Flow], count: usize) -> Vec<bool> {
    let mut found = vec![false; count];
    loop {
        let next: Vec<bool> =
            flows.iter().map(|flow| flow.nodes.iter().any(|node| node.is_of_interest(&found))).collect();
        if next == found {
            return found;
        }
        found = next;
    }
}

/// Marks the nodes that are kept; says which functions something useful follows the return of.
fn useful(unit: &Unit, flows: &mut [Flow], of_interest: &[bool], calls: &Calls) -> Vec<bool> {
    let mut returns = vec![false; flows.len()];
    let threads: HashSet<FunctionId> = calls.started.iter().flatten().copied().collect();
    loop {
        let before = returns.clone();
        for (number, flow) in flows.iter_mut().enumerate() {
            flow.mark(of_interest, returns[number]);
            for node in &flow.nodes {
                let goes_on = node.next.iter().any(|&next| flow.nodes[next].useful);
                for &callee in node.calls.iter().filter(|&&callee| goes_on || node.needs(callee, of_interest))
                {
                    returns[callee.0] = true;
                    // Who waits for a thread needs its end.
                    if library::flow(&unit.functions[callee.0].name) == Addresses::Joins {
                        threads.iter().for_each(|thread| returns[thread.0] = true);
                    }
                }
            }
        }
        if returns == before {
            return returns;
        }
    }
}

/// The functions that are called or started by what is kept.
fn reached(unit: &Unit, flows: &[Flow]) -> HashSet<FunctionId> {
    let mut reached = HashSet::new();
    let mut todo: Vec<FunctionId> = main_of(unit).into_iter().collect();
    while let Some(function) = todo.pop() {
        if reached.insert(function) {
            let nodes = flows[function.0].nodes.iter().filter(|node| node.useful);
            todo.extend(nodes.flat_map(|node| node.calls.iter().chain(&node.starts)));
        }
    }
    reached
}

/// What is left of statements: one that is not useful becomes the end of what is followed, those behind it are left out.
fn kept(body: &[Stmt], flow: &Flow) -> Vec<Stmt> {
    let mut left: Vec<Stmt> = Vec::new();
    let mut ended = false;
    for stmt in body {
        let is_declared = matches!(stmt.kind, StmtKind::Declare(_, None));
        if is_declared || flow.is_useful(stmt) {
            ended &= is_declared;
            left.push(shortened(stmt, flow));
        } else if !ended {
            ended = true;
            left.push(end(stmt.span));
        }
    }
    left
}

/// What is left of a statement.
fn shortened(stmt: &Stmt, flow: &Flow) -> Stmt {
    let one = |stmt: &Stmt| match flow.is_useful(stmt) {
        true => Box::new(shortened(stmt, flow)),
        false => Box::new(end(stmt.span)),
    };
    let kind = match &stmt.kind {
        StmtKind::Block(body) => StmtKind::Block(kept(body, flow)),
        StmtKind::If(condition, then, other) => {
            StmtKind::If(condition.clone(), one(then), other.as_deref().map(one))
        }
        StmtKind::While(condition, body) => StmtKind::While(condition.clone(), one(body)),
        StmtKind::DoWhile(body, condition) => StmtKind::DoWhile(one(body), condition.clone()),
        StmtKind::For(condition, step, body) => StmtKind::For(condition.clone(), step.clone(), one(body)),
        StmtKind::Switch(value, body) => StmtKind::Switch(value.clone(), one(body)),
        StmtKind::Case(low, high, body) => StmtKind::Case(*low, *high, one(body)),
        StmtKind::Default(body) => StmtKind::Default(one(body)),
        StmtKind::Label(name, body) => StmtKind::Label(name.clone(), one(body)),
        kind => kind.clone(),
    };
    Stmt { kind, span: stmt.span }
}

/// An end of what is followed.
fn end(span: Span) -> Stmt {
    let why = "in a program as large as this one, only what leads to an assertion is followed";
    Stmt { kind: StmtKind::Beyond(why), span }
}
