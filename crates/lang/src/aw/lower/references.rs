//! Parameters that stand for variables: `proc take(ref bool flag)`.
//!
//! A procedure with such parameters is lowered once for each of the variables that it is called with; inside, the parameter is
//! another name for that variable. The indices of an element, `take(want[i])`, are evaluated when the procedure is called, and
//! are parameters in its place that nobody sees. Before that, the body is looked at once with variables that are thrown
//! away, so that a procedure that nobody calls is checked, too.

use super::super::ast::{self, ExprKind, Name, Routine, RoutineKind};
use super::super::names::Meaning;
use super::super::suggest::quote;
use super::declarations::type_words;
use super::parts::{Base, Of, Shape};
use super::{Found, Lowering, Summary};
use allways_model::program::{
    Edge, Expr, Location, LocationId, Op, Procedure, ProcedureId, Slot, Type, Value, Variable,
};

/// What tells references apart: the variable, which part of it, and how many indices lead there.
pub(super) type Key = (usize, usize, usize);

/// How many procedures may be made of those with references.
const MOST: usize = 1 << 12;

impl<'a> Lowering<'a, '_> {
    /// What the parameters of a routine stand for that are no values.
    pub(super) fn references_of(&mut self, routine: &'a Routine<'a>) -> Vec<Option<Of>> {
        let mut all = Vec::new();
        for parameter in routine.parameters.iter().filter(|parameter| parameter.reference) {
            if !matches!(routine.kind, RoutineKind::Procedure) {
                let message = format!(
                    "expected a value for the parameter {} of a task, found a reference",
                    quote(parameter.name.text)
                );
                self.error(parameter.name.span, message, None);
            }
            all.push(self.of_type(&parameter.ty));
        }
        all
    }

    /// Names for what the references of the body at hand stand for; and parameters for the indices that lead there.
    pub(super) fn declare_references(&mut self, routine: &'a Routine<'a>, references: &[Base]) {
        let parameters = routine.parameters.iter().filter(|parameter| parameter.reference);
        for (parameter, base) in parameters.zip(references) {
            let mut base = base.clone();
            for index in &mut base.indices {
                let ty = Type::Range(0, index.length as Value - 1);
                let slot = self.body.slots();
                let Some(variable) = self.new_variable(parameter.name, ty, None, vec![Some(0)], slot) else {
                    return;
                };
                let name = format!("#{}#{}", parameter.name.text, slot);
                self.body.add_part(parameter.name.span, Variable { name, ..variable });
                index.value = Err(Expr::Local(slot));
            }
            if self.not_in_this_block(parameter.name).is_some() {
                self.body.add_alias(parameter.name, base);
            }
        }
    }

    /// Looks at a body whose references stand for variables that are thrown away, and the procedure with them. What is left is a
    /// procedure that nobody calls.
    pub(super) fn check_body_with_references(&mut self, number: usize, routine: &'a Routine<'a>) {
        let (shared, slots) = (self.program.shared.len(), self.slots);
        let (locations, labels) = (self.program.locations.len(), self.program.labels.len());
        let marks = self.labels.len();
        let mut references = Vec::new();
        for of in self.heads[number].references.clone() {
            let shape = Shape { lengths: Vec::new(), of: of.unwrap_or(Of::Value(Type::Int, None)) };
            let first = self.program.shared.len();
            for leaf in self.leaves(&shape) {
                let slot: Slot = self.program.shared_slots();
                let initial = vec![Some(leaf.ty.default_value()); leaf.length.unwrap_or(1)];
                let Some(variable) = self.new_variable(routine.name, leaf.ty, leaf.length, initial, slot)
                else {
                    return;
                };
                self.program.shared.push(variable);
            }
            references.push(Base {
                path: String::new(),
                found: Found::Shared(first),
                offset: 0,
                indices: Vec::new(),
                shape,
            });
        }
        self.lower_body_for(number, number, routine, &references);
        self.program.shared.truncate(shared);
        self.slots = slots;
        self.program.locations.truncate(locations);
        self.program.labels.truncate(labels);
        // Control never gets to these.
        self.labels[marks..].iter_mut().for_each(|mark| mark.location = None);
        let procedure = ProcedureId(number);
        let entry = LocationId(locations);
        let span = routine.body.close;
        let op = if routine.result.is_some() { Op::NoResult } else { Op::Return(Vec::new()) };
        let edges = vec![Edge { op, to: entry, span }];
        self.program.locations.push(Location { procedure, edges, span });
        let Procedure { locals, parameters, results, .. } = std::mem::replace(
            &mut self.program.procedures[number],
            Procedure {
                name: routine.name.text.to_string(),
                locals: Vec::new(),
                parameters: 0,
                results: Vec::new(),
                entry,
                span: routine.name.span,
            },
        );
        let kept = &mut self.program.procedures[number];
        (kept.locals, kept.parameters, kept.results) = (locals, parameters, results);
        self.summaries[number] = Summary::default();
    }

    /// Lowers the procedures with references, each for all that it is called with.
    pub(super) fn lower_specialised(&mut self, routines: &[&'a Routine<'a>]) {
        let mut done = 0;
        while !self.diagnostics.has_errors() && done < self.specialised.len() {
            let (origin, references) = self.specialised[done].clone();
            self.lower_body_for(routines.len() + done, origin, routines[origin], &references);
            done += 1;
        }
        // Where there are errors, some are missing.
        let count = self.summaries.len();
        for summary in &mut self.summaries {
            summary.calls.retain(|call| call.callee < count);
        }
    }

    /// Gives a procedure that was made for some references a name that tells them.
    pub(super) fn name_specialised(&mut self, number: usize, origin: usize, references: &[Base]) {
        if number == origin {
            return;
        }
        let names: Vec<&str> =
            references.iter().map(|base| self.variable(base.found.plus(base.offset)).name.as_str()).collect();
        let name = format!("{}({})", self.program.procedures[origin].name, names.join(", "));
        self.program.procedures[number].name = name;
    }

    /// The procedure that is called with these references, and the indices that it gets for them.
    pub(super) fn specialise(
        &mut self,
        name: Name<'a>,
        callee: usize,
        arguments: &[&'a ast::Expr<'a>],
    ) -> Option<(usize, Vec<Expr>)> {
        let mut bases = Vec::new();
        for (argument, of) in arguments.iter().zip(self.heads[callee].references.clone()) {
            let base = self.reference(argument);
            bases.push(self.stands_for(argument, base?, &of?)?);
        }
        let mut indices = Vec::new();
        for index in bases.iter_mut().flat_map(|base| &mut base.indices) {
            let value = std::mem::replace(&mut index.value, Ok(0));
            indices.push(match value {
                Ok(value) => Expr::Constant(value as Value),
                Err(expr) => expr,
            });
        }
        if self.body.generic {
            return Some((callee, indices));
        }
        let key = |base: &Base| match base.found {
            Found::Shared(number) => (number, base.offset, base.indices.len()),
            _ => (usize::MAX, 0, 0),
        };
        let keys: Vec<Key> = bases.iter().map(key).collect();
        if let Some(&number) = self.numbers.get(&(callee, keys.clone())) {
            return Some((number, indices));
        }
        if self.specialised.len() == MOST {
            let message = format!("expected procedures with at most {MOST} different references, found more");
            return self.none(name.span, message, None);
        }
        let mut head = self.heads[callee].clone();
        let hidden = bases.iter().flat_map(|base| &base.indices);
        head.parameters.extend(hidden.map(|index| Some(Type::Range(0, index.length as Value - 1))));
        let number = self.heads.len();
        self.heads.push(head);
        self.numbers.insert((callee, keys), number);
        self.specialised.push((callee, bases));
        Some((number, indices))
    }

    /// The variable, or the part of one, that an argument stands for.
    fn reference(&mut self, argument: &'a ast::Expr<'a>) -> Option<(Name<'a>, Base)> {
        let (name, selectors) = match &argument.kind {
            ExprKind::Name(name) => (*name, &[][..]),
            ExprKind::Part(name, selectors) => (*name, &selectors[..]),
            _ => {
                let help = "the parameter is declared by `ref`: it stands for a shared variable".to_string();
                return self.none(argument.span, "expected a variable, found another expression", Some(help));
            }
        };
        let found = match (self.body.local(name.text), self.body.alias(name.text)) {
            (Some(_), _) => {
                let message = format!("expected a shared variable, found {}, a local one", quote(name.text));
                let help = "the parameter is declared by `ref`: it stands for a shared variable".to_string();
                return self.none(name.span, message, Some(help));
            }
            (None, Some(alias)) => Found::Alias(alias),
            (None, None) => match self.global(name, "a variable")? {
                Meaning::Shared(number) if self.holds_thread(number) => {
                    return self.misplaced_identity(name, "a variable with a number or a Boolean");
                }
                Meaning::Shared(number) | Meaning::Lock(number) => Found::Shared(number),
                meaning => {
                    self.misfit(name, "a variable", meaning, None);
                    return None;
                }
            },
        };
        self.note_read(name);
        let base = self.base(found);
        Some((name, self.select(name, base, selectors)?))
    }

    /// Whether what an argument stands for is what the parameter needs.
    fn stands_for(
        &mut self,
        argument: &'a ast::Expr<'a>,
        (name, base): (Name<'a>, Base),
        of: &Of,
    ) -> Option<Base> {
        let fits = match (&base.shape.of, of) {
            _ if !base.shape.lengths.is_empty() => false,
            (Of::Value(found, _), Of::Value(wanted, _)) => found == wanted,
            (Of::Structure(found), Of::Structure(wanted)) => found == wanted,
            _ => false,
        };
        if fits {
            return Some(base);
        }
        let wanted = match of {
            Of::Value(ty, _) => format!("a variable of type {}", type_words(*ty)),
            Of::Structure(_) => "a variable of the structure".to_string(),
        };
        let found = match &base.shape.of {
            _ if !base.shape.lengths.is_empty() => "an array".to_string(),
            Of::Value(ty, _) => format!("one of type {}", type_words(*ty)),
            Of::Structure(_) => "a structure".to_string(),
        };
        let message = format!("expected {wanted} for the reference, found {}, {found}", quote(name.text));
        self.none(argument.span, message, Some("a reference has the very type of its variable".to_string()))
    }
}
