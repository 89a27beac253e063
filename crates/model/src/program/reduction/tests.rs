//! Each rule on a small program made for it, above all what must stay. Random programs are in [`random`].

mod constants;
mod liveness;
mod locks;
mod random;
mod relevance;

use super::*;
use crate::program::*;

fn span(line: u32) -> Span {
    Span { line, ..Span::default() }
}

fn edge_at(op: Op, to: usize) -> Edge {
    Edge { op, to: LocationId(to), span: Span::default() }
}

fn variable(name: &str, ty: Type, initial: Option<Value>) -> Variable {
    Variable {
        name: name.to_string(),
        ty,
        slot: 0,
        length: None,
        initial: vec![initial],
        mixed: false,
        names: None,
        span: Span::default(),
    }
}

fn array(name: &str, ty: Type, length: usize) -> Variable {
    Variable {
        length: Some(length),
        initial: vec![Some(ty.default_value()); length],
        ..variable(name, ty, None)
    }
}

fn binary(operator: Binary, left: Expr, right: Expr) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right), Span::default())
}

/// Gives variables their slots.
fn laid_out(mut variables: Vec<Variable>) -> Vec<Variable> {
    let mut slot = 0;
    for variable in &mut variables {
        variable.slot = slot;
        slot += variable.slots();
    }
    variables
}

/// A program of procedures that are straight lines of steps. The first is the body of the only template.
struct Draft(Program);

impl Draft {
    fn new(shared: Vec<Variable>) -> Draft {
        let template = Template {
            name: "main".to_string(),
            body: ProcedureId(0),
            count: Count::Fixed(1),
            spawned: false,
            vanishes: false,
            uses_self: false,
            span: Span::default(),
        };
        Draft(Program { shared: laid_out(shared), templates: vec![template], ..Program::default() })
    }

    /// Adds a procedure; its first location is the number of locations before.
    fn procedure(mut self, locals: Vec<Variable>, parameters: usize, ops: Vec<Op>) -> Draft {
        let (number, first) = (self.0.procedures.len(), self.0.locations.len());
        let results = ops.iter().find_map(|op| match op {
            Op::Return(results) => Some(vec![Type::Int; results.len()]),
            _ => None,
        });
        self.0.procedures.push(Procedure {
            name: format!("p{number}"),
            locals: laid_out(locals),
            parameters,
            results: results.unwrap_or_default(),
            entry: LocationId(first),
            span: Span::default(),
        });
        let end = first + ops.len();
        for (index, op) in ops.into_iter().enumerate() {
            let edges = vec![edge_at(op, first + index + 1)];
            self.0.locations.push(Location { procedure: ProcedureId(number), edges, span: Span::default() });
        }
        assert_eq!(self.0.locations.len(), end);
        self.0.locations.push(Location {
            procedure: ProcedureId(number),
            edges: vec![],
            span: Span::default(),
        });
        self
    }

    /// Adds an edge.
    fn edge(mut self, from: usize, op: Op, to: usize) -> Draft {
        self.0.locations[from].edges.push(edge_at(op, to));
        self
    }

    fn reduce(&self) -> Reduction {
        reduce(&self.0)
    }
}

/// The reduction of a single thread.
fn line(shared: Vec<Variable>, locals: Vec<Variable>, ops: Vec<Op>) -> Reduction {
    Draft::new(shared).procedure(locals, 0, ops).reduce()
}

fn int(name: &str) -> Variable {
    variable(name, Type::Int, Some(0))
}

fn bool(name: &str) -> Variable {
    variable(name, Type::Bool, Some(0))
}

fn any(name: &str, ty: Type) -> Variable {
    variable(name, ty, None)
}

fn c(value: Value) -> Expr {
    Expr::Constant(value)
}

fn g(slot: Slot) -> Expr {
    Expr::Shared(slot)
}

fn l(slot: Slot) -> Expr {
    Expr::Local(slot)
}

fn place(target: Target, ty: Type) -> Place {
    Place { target, ty, span: Span::default() }
}

fn set(target: Target, ty: Type, value: Expr) -> Op {
    Op::Assign(vec![place(target, ty)], vec![value], None)
}

fn guard(expr: Expr) -> Op {
    Op::Guard(expr, true)
}

fn element(slot: Slot, length: usize, index: Expr) -> Expr {
    Expr::SharedElement(slot, length, Box::new(index), Span::default())
}

fn lock_at(slot: Slot, element: Option<(usize, Expr)>) -> LockPlace {
    LockPlace { slot, element, span: Span::default() }
}

fn op(reduction: &Reduction, location: usize) -> &Op {
    &reduction.program.locations[location].edges[0].op
}

/// The value that is assigned by the first edge of a location.
fn assigned(reduction: &Reduction, location: usize) -> &Expr {
    match op(reduction, location) {
        Op::Assign(_, values, _) => &values[0],
        other => panic!("not an assignment: {other:?}"),
    }
}
