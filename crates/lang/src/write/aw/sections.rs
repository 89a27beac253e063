//! Atomic sections, and assignments with constraints, which become some.

use super::super::graph::{Section, ends, section};
use super::super::variables::Sort;
use super::super::{Written, refuse};
use super::Writer;
use super::body::{Body, Next, Within, joined};
use allways_model::program::{Edge, Expr, LocationId, Op, Place, Program, Slot, Span, Target, Type};
use std::collections::HashSet;

/// For each procedure, whether it has an atomic section or calls another that has.
pub(super) fn with_sections(program: &Program) -> Vec<bool> {
    let mut callers = vec![Vec::new(); program.procedures.len()];
    let mut todo = Vec::new();
    for location in &program.locations {
        for edge in &location.edges {
            match edge.op {
                Op::Call(callee, ..) => callers[callee.index()].push(location.procedure),
                Op::AtomicBegin | Op::Assign(_, _, Some(_)) => todo.push(location.procedure),
                _ => {}
            }
        }
    }
    let mut atomic = vec![false; program.procedures.len()];
    while let Some(procedure) = todo.pop() {
        if !std::mem::replace(&mut atomic[procedure.index()], true) {
            todo.extend(&callers[procedure.index()]);
        }
    }
    atomic
}

impl Writer<'_> {
    /// The section that begins at a location, unless there have been too many.
    pub fn section(&mut self, begin: LocationId) -> Written<Section> {
        let section = section(self.program, begin)?;
        self.budget = self.budget.saturating_sub(section.inside.len());
        if self.budget == 0 {
            let reason = "atomic sections overlap so much that the text would be too long";
            return refuse(self.program.locations[begin].span, reason);
        }
        Ok(section)
    }

    /// Whether a section may contain this: in `.aw`, no call of something that has a section itself.
    fn fits_in_section(&self, edge: &Edge) -> Written<()> {
        match edge.op {
            Op::Call(callee, ..) if self.atomic[callee.index()] => {
                refuse(edge.span, "an atomic section calls a procedure that has one itself")
            }
            _ => Ok(()),
        }
    }
}

impl Body<'_, '_> {
    /// An atomic section and what comes after it.
    pub fn section(&mut self, begin: &Edge, next: Next) -> Written<Vec<String>> {
        let program = self.writer.program;
        let section = self.writer.section(begin.to)?;
        for &location in &section.inside {
            program.locations[location]
                .edges
                .iter()
                .try_for_each(|edge| self.writer.fits_in_section(edge))?;
        }
        let number = self.sections;
        self.sections += 1;
        let end =
            self.writer.label_names.claim(&format!("end_{}", self.writer.labels[begin.to.index()]), "l");
        let exit = match section.exits.len() {
            0 | 1 => None,
            count => Some(self.fresh("exit", Type::Range(0, count as i64 - 1))),
        };
        if let Some(&waits) = section.exits.iter().find(|&&exit| self.writer.waits(exit))
            && exit.is_some()
        {
            let reason = "an atomic section ends in several places, at one of which the thread waits";
            return refuse(program.locations[waits].span, reason);
        }
        let within = Within { number, exits: section.exits, exit, end };
        let mut order = section.inside;
        order.retain(|&location| location != begin.to);
        let mut lines = Vec::new();
        if ends(program, begin.to) {
            // There is nothing inside.
            lines.extend(self.exit(begin.to, Next::End, &within));
        } else {
            order.insert(0, begin.to);
            lines = self.statements(&order, Some(&within))?;
        }
        if self.ends_used.contains(&number) {
            lines.push(format!("{}: skip;", within.end));
        }
        let mut all = joined("atomic {", lines, "}");
        match (&within.exit, &within.exits[..]) {
            (None, []) => {}
            (None, [only, ..]) => {
                let jump = self.jump(*only, next, None)?;
                append(&mut all, &jump);
            }
            (Some(exit), exits) => {
                for (index, &to) in exits.iter().enumerate() {
                    let word = if index == 0 { "choose" } else { "or" };
                    let jump = self.jump(to, next, None)?;
                    let mut lines = vec![format!("assume {} == {index};", self.locals.slots[*exit])];
                    append(&mut lines, &jump);
                    all.extend(joined(&format!("{word} {{"), lines, "}"));
                }
            }
        }
        Ok(all)
    }

    /// An assignment whose result must satisfy a constraint.
    pub fn constrained(
        &mut self,
        places: &[Place],
        values: &[Expr],
        constraint: &Expr,
        span: Span,
    ) -> Written<Vec<String>> {
        if constraint.is_about_others() {
            return refuse(span, "a constraint reads the local variables of other threads");
        }
        let mut assigned = HashSet::new();
        for place in places {
            match place.target {
                Target::Shared(slot) => assigned.insert((true, slot)),
                Target::Local(slot) => assigned.insert((false, slot)),
                _ => return self.constrained_before(places, values, constraint, span),
            };
        }
        // An element that is assigned, and read by an index, has no old value that could be saved by its name.
        let mut hidden = false;
        let mut read = |of: bool, first: Slot, length: usize| {
            hidden |= assigned
                .iter()
                .any(|&(shared, slot)| shared == of && (first..first + length).contains(&slot));
        };
        constraint.visit(&mut |part| match part {
            Expr::SharedElement(first, length, ..) => read(true, *first, *length),
            Expr::LocalElement(first, length, ..) => read(false, *first, *length),
            _ => {}
        });
        if hidden {
            return self.constrained_before(places, values, constraint, span);
        }
        let (mut names, mut saved) = (Vec::new(), Vec::new());
        let after = self.afterwards(constraint, &assigned, &mut names, &mut saved);
        let mut lines = Vec::new();
        if !names.is_empty() {
            lines.push(format!("{} = {};", names.join(", "), saved.join(", ")));
        }
        lines.push(self.assignment(places, values, span)?);
        lines.push(format!("assume {};", self.writer.expression(&after, &self.locals, Sort::Bool, span)?));
        Ok(lines)
    }

    /// An assignment to more than plain variables, with a constraint on what was before: whether it holds is remembered, since the
    /// assignment goes wrong even where it does not.
    fn constrained_before(
        &mut self,
        places: &[Place],
        values: &[Expr],
        constraint: &Expr,
        span: Span,
    ) -> Written<Vec<String>> {
        let mut after = false;
        constraint.visit(&mut |part| after |= matches!(part, Expr::NextShared(_) | Expr::NextLocal(_)));
        if after {
            return refuse(span, "a constraint is about more than plain variables");
        }
        let slot = self.saved((true, Slot::MAX), "condition", Type::Bool);
        let name = self.locals.slots[slot].clone();
        let condition = self.writer.expression(constraint, &self.locals, Sort::Bool, span)?;
        Ok(vec![
            format!("{name} = {condition};"),
            self.assignment(places, values, span)?,
            format!("assume {name};"),
        ])
    }

    /// A constraint as seen after the assignment. Old values of what was assigned are in variables, which are named
    /// together with what they save.
    fn afterwards(
        &mut self,
        expr: &Expr,
        assigned: &HashSet<(bool, Slot)>,
        names: &mut Vec<String>,
        saved: &mut Vec<String>,
    ) -> Expr {
        if let Some(key @ (shared, slot)) = variable(expr).filter(|key| assigned.contains(key)) {
            let variables = if shared { &self.writer.shared } else { &self.locals };
            let (name, ty) = (variables.slots[slot].clone(), variables.types[slot]);
            let old = self.saved(key, &name, ty);
            let old_name = self.locals.slots[old].clone();
            if !names.contains(&old_name) {
                names.push(old_name);
                saved.push(name);
            }
            return Expr::Local(old);
        }
        let mut part = |expr: &Expr| Box::new(self.afterwards(expr, assigned, names, saved));
        match expr {
            Expr::Unary(operator, operand) => Expr::Unary(*operator, part(operand)),
            Expr::Binary(operator, left, right, span) => {
                Expr::Binary(*operator, part(left), part(right), *span)
            }
            Expr::If(condition, then, other) => Expr::If(part(condition), part(then), part(other)),
            Expr::NextShared(slot) => Expr::Shared(*slot),
            Expr::NextLocal(slot) => Expr::Local(*slot),
            expr => expr.clone(),
        }
    }
}

/// Which variable an expression is: whether it is shared, and its slot.
fn variable(expr: &Expr) -> Option<(bool, Slot)> {
    match expr {
        Expr::Shared(slot) => Some((true, *slot)),
        Expr::Local(slot) => Some((false, *slot)),
        _ => None,
    }
}

/// Adds something to the last line.
pub(super) fn append(lines: &mut Vec<String>, text: &str) {
    match lines.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last != "}" => *last += &format!(" {text}"),
        _ => lines.push(text.to_string()),
    }
}
