//! From a program to its [`Code`]: which procedures there are, their variables, and their blocks.

use super::super::graph::{branch, successor};
use super::super::names::Names;
use super::super::variables::{Sort, Variables};
use super::super::{Written, refuse, without_progress};
use super::flow::{self, Pending};
use super::{Code, Declared, Exit, Routine, Statement, declare, kept, only_thread};
use allways_model::program::defined::{and, defined, not, or};
use allways_model::program::{
    Edge, Expr, Location, LocationId, Op, Place, Procedure, ProcedureId, Program, Slot, Span, Target, Type,
    Wrong,
};
use std::collections::{BTreeSet, HashMap};

/// The code of a program with one thread. Of the names, those of helpers are taken already.
pub fn lower(program: &Program, mut names: Names) -> Written<Code> {
    without_progress(program)?;
    let main = only_thread(program)?;
    let (shared, mut declared) = declare(&program.shared, |name| names.claim(name, "v"))?;
    let mut shared = shared;
    let reached = flow::reached(program, main);
    let atomic = flow::with_sections(program);
    let looks = !program.never.is_empty() && reached.iter().any(|&procedure| atomic[procedure.index()]);
    if looks {
        flow::sections_are_flat(program, &reached, &atomic)?;
    }
    let inside = looks.then(|| {
        let name = names.claim("in_atomic", "v");
        declared.push(Declared { name: name.clone(), ty: Type::Bool, length: None });
        shared.add(name, Type::Bool)
    });
    let mut called: HashMap<ProcedureId, String> = HashMap::new();
    for &procedure in &reached {
        called.insert(procedure, names.claim(&program.procedures[procedure].name, "f"));
    }
    let mut routines = Vec::new();
    // The body of the thread was reached first.
    for &number in reached.iter().rev() {
        let procedure = &program.procedures[number];
        let mut taken = names.part();
        let (locals, declared) = declare(&procedure.locals, |name| taken.claim(name, "v"))?;
        let mut lowering = Lowering {
            program,
            number,
            procedure,
            main: number == main,
            shared: &shared,
            called: &called,
            inside,
            sections: atomic[number.index()],
            locals,
            declared,
            names: taken,
            spare: Vec::new(),
            statements: Vec::new(),
            assigned: None,
        };
        let blocks = lowering.blocks()?;
        let recursive = flow::recursive(program, number);
        let parameters = if number == main { 0 } else { procedure.parameters };
        let Lowering { locals, declared, mut names, .. } = lowering;
        let incoming = declared[..parameters].iter().map(|one| names.claim(&format!("{}_in", one.name), "v"));
        let incoming = incoming.collect();
        let results = procedure.results.iter().map(|&ty| (names.claim("result", "v"), ty)).collect();
        routines.push(Routine {
            name: called[&number].clone(),
            main: number == main,
            recursive,
            locals,
            declared,
            parameters,
            incoming,
            results,
            blocks,
            span: procedure.span,
        });
    }
    Ok(Code { shared, declared, routines })
}

/// A procedure that is being lowered.
pub struct Lowering<'a> {
    pub program: &'a Program,
    number: ProcedureId,
    pub procedure: &'a Procedure,
    pub main: bool,
    pub shared: &'a Variables,
    pub called: &'a HashMap<ProcedureId, String>,
    /// The variable that says whether control is in an atomic section, if that matters.
    pub inside: Option<Slot>,
    /// Whether this procedure has sections.
    pub sections: bool,
    pub locals: Variables,
    declared: Vec<Declared>,
    names: Names,
    /// Variables that are not in the program, and whether the step at hand uses them.
    spare: Vec<(Slot, bool)>,
    /// The statements of the block at hand.
    pub statements: Vec<Statement>,
    /// While a constraint is looked at: what will be assigned.
    pub assigned: Option<Vec<(Place, Expr)>>,
}

impl Lowering<'_> {
    fn blocks(&mut self) -> Written<Vec<super::Block>> {
        let entry = self.procedure.entry;
        let order = flow::locations(self.program, self.number);
        let mut names = self.names.part();
        let labels = self.labels(&order, &mut names);
        let mut graph = Pending::new(names, labels);
        self.initial_values()?;
        let statements = std::mem::take(&mut self.statements);
        graph.start(entry, statements);
        for &location in &order {
            self.location(location, &mut graph)?;
        }
        Ok(graph.blocks())
    }

    fn labels(&self, order: &BTreeSet<LocationId>, names: &mut Names) -> HashMap<LocationId, String> {
        let mut labels: HashMap<LocationId, String> = HashMap::new();
        for label in self.program.labels.iter().filter(|label| order.contains(&label.location)) {
            labels.entry(label.location).or_insert_with(|| names.claim(&label.name, "l"));
        }
        for &location in order {
            labels.entry(location).or_insert_with(|| names.claim(&format!("l{location}"), "l"));
        }
        labels
    }

    /// Gives each variable its initial value: at the start of the thread, the shared ones as well.
    fn initial_values(&mut self) -> Written<()> {
        if self.main {
            for variable in &self.program.shared {
                for (index, initial) in variable.initial.iter().enumerate() {
                    let target = Target::Shared(variable.slot + index);
                    self.initial_value(target, kept(variable.ty), *initial, variable.span);
                }
            }
            if let Some(inside) = self.inside {
                self.initial_value(Target::Shared(inside), Type::Bool, Some(0), self.procedure.span);
            }
        }
        let parameters = if self.main { 0 } else { self.procedure.parameters };
        for local in &self.procedure.locals[parameters..] {
            for (index, initial) in local.initial.iter().enumerate() {
                self.initial_value(Target::Local(local.slot + index), local.ty, *initial, local.span);
            }
        }
        if self.main { self.look() } else { Ok(()) }
    }

    fn initial_value(&mut self, target: Target, ty: Type, initial: Option<i64>, span: Span) {
        self.spare.iter_mut().for_each(|(_, used)| *used = false);
        let value = match initial {
            Some(value) => Expr::Constant(value),
            None => self.any(ty.bounds().unwrap_or_default(), ty),
        };
        self.statements.push(Statement::Set(Place { target, ty, span }, value));
    }

    fn location(&mut self, location: LocationId, graph: &mut Pending) -> Written<()> {
        let Location { edges, span, .. } = &self.program.locations[location];
        self.spare.iter_mut().for_each(|(_, used)| *used = false);
        let exit = match &edges[..] {
            [] => {
                if self.main {
                    self.leave_section(*span)?;
                } else {
                    self.statements.push(Statement::Assume(Expr::Constant(0)));
                }
                self.leave()
            }
            [edge] => self.edge(edge, graph)?,
            edges => match branch(edges) {
                Some((condition, yes, no)) => {
                    let condition = self.value(condition, Sort::Bool, *span)?;
                    Exit::If(condition, graph.number(yes), graph.number(no))
                }
                None => {
                    let mut targets = Vec::new();
                    for edge in edges {
                        self.spare.iter_mut().for_each(|(_, used)| *used = false);
                        let exit = self.edge(edge, graph)?;
                        targets.push(graph.add(location, std::mem::take(&mut self.statements), exit));
                    }
                    Exit::Goto(targets)
                }
            },
        };
        graph.define(location, std::mem::take(&mut self.statements), exit);
        Ok(())
    }

    /// Leaves the procedure, with results that nobody looks at.
    pub fn leave(&self) -> Exit {
        let results = self.procedure.results.iter().filter(|_| !self.main);
        Exit::Return(results.map(|ty| Expr::Constant(ty.default_value())).collect())
    }

    fn edge(&mut self, edge: &Edge, graph: &mut Pending) -> Written<Exit> {
        if let Op::Return(results) = &edge.op {
            return self.returns(results, edge.span);
        }
        self.step(&edge.op, edge.span)?;
        Ok(match successor(edge) {
            Some(to) => Exit::Goto(vec![graph.number(to)]),
            None => self.leave(),
        })
    }

    /// A local variable for a value that is needed in this step only.
    pub fn spare(&mut self, ty: Type) -> Slot {
        let locals = &self.locals;
        let free = self.spare.iter_mut().find(|(slot, used)| !used && locals.types[*slot] == ty);
        if let Some((slot, used)) = free {
            *used = true;
            return *slot;
        }
        let name = self.names.claim("value", "v");
        self.declared.push(Declared { name: name.clone(), ty, length: None });
        let slot = self.locals.add(name, ty);
        self.spare.push((slot, true));
        slot
    }

    /// Any value between these, in a variable of a type that has no other values or is all integers.
    pub fn any(&mut self, (low, high): (i64, i64), ty: Type) -> Expr {
        let slot = self.spare(if ty == Type::Bool { ty } else { Type::Range(low, high) });
        self.statements.push(Statement::Choose(slot, low, high));
        Expr::Local(slot)
    }

    /// Asserts the properties, if they can be seen here.
    pub fn look(&mut self) -> Written<()> {
        for never in &self.program.never {
            let expr = self.chosen(&never.expr, Sort::Bool, never.span)?;
            let mut holds = and(defined(&expr), not(expr));
            if let Some(inside) = self.inside {
                holds = or(Expr::Shared(inside), holds);
            }
            self.assert(holds, Wrong::Never.word(), never.span);
        }
        Ok(())
    }

    /// Refuses something.
    pub fn refused<T>(&self, what: &str, span: Span) -> Written<T> {
        refuse(span, format!("{what}, and only one thread can be written"))
    }
}
