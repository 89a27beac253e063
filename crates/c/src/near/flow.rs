//! The control flow of a function, as far as it matters which statement may come before which.

use super::calls_of;
use super::targets::Targets;
use crate::pointers::Pointers;
use crate::typed::{Expr, Function, FunctionId, Stmt, StmtKind, Unit};
use crate::walk;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A statement without parts, or the expression that decides how one goes on.
#[derive(Default)]
pub(super) struct Node {
    pub(super) calls: Vec<FunctionId>,
    pub(super) starts: Vec<FunctionId>,
    /// Whether something of interest is here itself.
    is_target: bool,
    pub(super) next: Vec<usize>,
    pub(super) useful: bool,
}

impl Node {
    /// Whether something of interest is here, or in a function that is called or started.
    pub(super) fn is_of_interest(&self, functions: &[bool]) -> bool {
        self.is_target || self.calls.iter().chain(&self.starts).any(|function| functions[function.0])
    }

    /// Whether something of interest here may come after the return of a function that is called here.
    pub(super) fn needs(&self, callee: FunctionId, functions: &[bool]) -> bool {
        let others = self.calls.iter().chain(&self.starts).filter(|&&other| other != callee);
        self.is_target || others.into_iter().any(|other| functions[other.0])
    }
}

/// The control flow of a function.
pub(super) struct Flow {
    pub(super) nodes: Vec<Node>,
    entry: usize,
    /// The nodes of each statement, labels left out.
    of: HashMap<*const Stmt, Range<usize>>,
}

/// The node that a return leads to.
const EXIT: usize = 0;

impl Flow {
    pub(super) fn of(unit: &Unit, pointers: &mut Pointers, targets: &Targets, function: &Function) -> Flow {
        let flow = Flow { nodes: vec![Node::default()], entry: EXIT, of: HashMap::new() };
        let mut building =
            Building { unit, pointers, targets, flow, labels: HashMap::new(), cases: Vec::new() };
        let entry = building.block(function.body.as_deref().unwrap_or_default(), EXIT, (EXIT, EXIT));
        Flow { entry, ..building.flow }
    }

    /// Forgets the ways back to the start of loops that contain something of interest.
    pub(super) fn leave_loops(&mut self, of_interest: &[bool]) {
        let back = self.back_edges();
        for (from, to) in back {
            let mut inside = HashSet::from([to]);
            let mut todo = vec![from];
            let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
            for (number, node) in self.nodes.iter().enumerate() {
                node.next.iter().for_each(|&next| before[next].push(number));
            }
            while let Some(node) = todo.pop() {
                if inside.insert(node) {
                    todo.extend(&before[node]);
                }
            }
            if inside.iter().any(|&node| self.nodes[node].is_of_interest(of_interest)) {
                self.nodes[from].next.retain(|&next| next != to);
            }
        }
    }

    /// Edges that lead back to where control came by.
    fn back_edges(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let (mut seen, mut open) = (vec![false; self.nodes.len()], vec![false; self.nodes.len()]);
        let mut path = vec![(self.entry, 0)];
        (seen[self.entry], open[self.entry]) = (true, true);
        while let Some((node, tried)) = path.last_mut() {
            let Some(&next) = self.nodes[*node].next.get(*tried) else {
                open[*node] = false;
                path.pop();
                continue;
            };
            *tried += 1;
            if open[next] {
                found.push((*node, next));
            } else if !seen[next] {
                (seen[next], open[next]) = (true, true);
                path.push((next, 0));
            }
        }
        found
    }

    /// Marks the nodes from which control may get to something of interest, or out of the function if that is useful.
    pub(super) fn mark(&mut self, of_interest: &[bool], returns: bool) {
        self.nodes[EXIT].useful |= returns;
        for node in &mut self.nodes {
            node.useful |= node.is_of_interest(of_interest);
        }
        loop {
            let mut changed = false;
            for number in 0..self.nodes.len() {
                let node = &self.nodes[number];
                if !node.useful && node.next.iter().any(|&next| self.nodes[next].useful) {
                    self.nodes[number].useful = true;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether anything in a statement is useful.
    pub(super) fn is_useful(&self, stmt: &Stmt) -> bool {
        let nodes = self.of.get(&std::ptr::from_ref(stmt)).cloned().unwrap_or_default();
        self.nodes[nodes].iter().any(|node| node.useful)
    }
}

struct Building<'a> {
    unit: &'a Unit,
    pointers: &'a mut Pointers,
    targets: &'a Targets,
    flow: Flow,
    labels: HashMap<String, usize>,
    /// Where the cases of the innermost `switch` are, and whether one is the default.
    cases: Vec<(Vec<usize>, bool)>,
}

/// Where `break` and `continue` lead.
type Exits = (usize, usize);

impl Building<'_> {
    fn node(&mut self, next: Vec<usize>) -> usize {
        self.flow.nodes.push(Node { next, ..Node::default() });
        self.flow.nodes.len() - 1
    }

    /// A node with what an expression does.
    fn does(&mut self, parts: &[&Expr], next: Vec<usize>) -> usize {
        let number = self.node(next);
        for expr in parts {
            walk::expression(expr, &mut |part| {
                let (calls, starts) = calls_of(self.unit, self.pointers, part);
                let is_target = self.targets.is_here(self.unit, part);
                let node = &mut self.flow.nodes[number];
                node.calls.extend(calls);
                node.starts.extend(starts);
                node.is_target |= is_target;
            });
        }
        number
    }

    fn label(&mut self, name: &str) -> usize {
        if let Some(&known) = self.labels.get(name) {
            return known;
        }
        let node = self.node(Vec::new());
        self.labels.insert(name.to_string(), node);
        node
    }

    fn block(&mut self, body: &[Stmt], next: usize, exits: Exits) -> usize {
        body.iter().rev().fold(next, |next, stmt| self.statement(stmt, next, exits))
    }

    /// The first node of a statement, behind which control goes on at a node.
    fn statement(&mut self, stmt: &Stmt, next: usize, exits: Exits) -> usize {
        // Nodes of labels are made where they are first met, and belong to no statement.
        walk::each_statement(std::slice::from_ref(stmt), &mut |stmt| {
            if let StmtKind::Label(name, _) | StmtKind::Goto(name) = &stmt.kind {
                self.label(name);
            }
        });
        let start = self.flow.nodes.len();
        let first = match &stmt.kind {
            StmtKind::Expr(expr) => self.does(&[expr], vec![next]),
            StmtKind::Declare(_, initial) => {
                let values: Vec<&Expr> = initial.iter().flat_map(|initial| walk::values(initial)).collect();
                self.does(&values, vec![next])
            }
            StmtKind::Asm(outputs, _) => self.does(&outputs.iter().collect::<Vec<_>>(), vec![next]),
            StmtKind::Empty | StmtKind::Beyond(_) => self.node(vec![next]),
            StmtKind::Return(value) => self.does(&value.iter().collect::<Vec<_>>(), vec![EXIT]),
            StmtKind::Block(body) => {
                let after = self.node(vec![next]);
                self.block(body, after, exits)
            }
            StmtKind::If(condition, then, other) => {
                let then = self.statement(then, next, exits);
                let other = other.as_ref().map_or(next, |other| self.statement(other, next, exits));
                self.does(&[condition], vec![then, other])
            }
            StmtKind::While(condition, body) => {
                let test = self.does(&[condition], vec![next]);
                let body = self.statement(body, test, (next, test));
                self.flow.nodes[test].next.push(body);
                test
            }
            StmtKind::DoWhile(body, condition) => {
                let test = self.does(&[condition], vec![next]);
                let body = self.statement(body, test, (next, test));
                self.flow.nodes[test].next.push(body);
                body
            }
            StmtKind::For(condition, step, body) => {
                let test = self.does(&condition.iter().collect::<Vec<_>>(), vec![next]);
                let step = self.does(&step.iter().collect::<Vec<_>>(), vec![test]);
                let body = self.statement(body, step, (next, step));
                self.flow.nodes[test].next.push(body);
                test
            }
            StmtKind::Switch(value, body) => {
                self.cases.push((Vec::new(), false));
                self.statement(body, next, (next, exits.1));
                let (mut cases, has_default) = self.cases.pop().unwrap_or_default();
                if !has_default {
                    cases.push(next);
                }
                self.does(&[value], cases)
            }
            StmtKind::Case(_, _, body) | StmtKind::Default(body) => {
                let body = self.statement(body, next, exits);
                if let Some((cases, has_default)) = self.cases.last_mut() {
                    cases.push(body);
                    *has_default |= matches!(stmt.kind, StmtKind::Default(_));
                }
                body
            }
            StmtKind::Label(name, body) => {
                let body = self.statement(body, next, exits);
                let label = self.label(name);
                self.flow.nodes[label].next.push(body);
                label
            }
            StmtKind::Goto(name) => {
                let label = self.label(name);
                self.node(vec![label])
            }
            StmtKind::Break => self.node(vec![exits.0]),
            StmtKind::Continue => self.node(vec![exits.1]),
        };
        self.flow.of.insert(std::ptr::from_ref(stmt), start..self.flow.nodes.len());
        first
    }
}
