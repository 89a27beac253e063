//! Parts of variables: elements of arrays, which may have several dimensions, and members of structures.
//!
//! A structure is laid out as one variable for each of its members, an array of structures as one array for each, and an
//! array of several dimensions as one array, row after row. So `nodes[i].next` is an element of the array `nodes[4].next`,
//! which is called so wherever its elements are spoken of: the numbers in its name are its dimensions.
//!
//! Each index is looked at by itself: one that is none of its dimension makes the whole index one that is none, and never
//! that of an element in another row.

use super::super::ast::{self, Name, Selector, TypeName};
use super::super::names::{Meaning, Sort};
use super::super::suggest::{did_you_mean, quote};
use super::super::{MAX_LENGTH, MAX_SLOTS};
use super::{Found, Lowering, Mode};
use crate::cursor::range;
use crate::diagnostic::Severity;
use allways_model::program::defined::chooses;
use allways_model::program::{Binary, Expr, LockPlace, Place, Slot, Span, Target, Type, Value, Variable};
use std::collections::HashSet;
use std::sync::Arc;

/// What a variable, an element or a member is.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The dimensions of an array; none of anything else.
    pub lengths: Vec<usize>,
    pub of: Of,
}

/// What is declared, or what the elements of an array are.
#[derive(Clone, Debug)]
pub(super) enum Of {
    /// A value, and what its values are called if they have names.
    Value(Type, Option<Arc<[String]>>),
    /// A structure, by its place in the list of these.
    Structure(usize),
}

/// A structure.
pub(super) struct Structure<'a> {
    members: Vec<(Name<'a>, Shape)>,
    /// How many variables it is laid out as.
    variables: usize,
    /// How many slots these take.
    slots: usize,
    /// Whether there is a lock in it.
    locks: bool,
}

/// One of the variables that something is laid out as.
pub(super) struct Leaf {
    /// What is added to the name.
    pub suffix: String,
    pub ty: Type,
    pub names: Option<Arc<[String]>>,
    pub length: Option<usize>,
}

/// Where a name leads, or a name and some selectors after it.
#[derive(Clone, Debug)]
pub(super) struct Base {
    /// What has been selected so far, without indices.
    pub path: String,
    /// The first variable that what has the name is laid out as.
    pub found: Found,
    /// Which variable it is, counted from that one; of a structure, the first.
    pub offset: usize,
    pub indices: Vec<Index>,
    /// What is left to be selected from.
    pub shape: Shape,
}

/// An index of a dimension: which one if that is known, and it is one.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub value: Result<usize, Expr>,
    pub length: usize,
    pub span: Span,
}

/// A variable or an element of an array.
pub(super) struct Part {
    shared: bool,
    /// The first slot.
    slot: Slot,
    pub ty: Type,
    /// Of an element whose number is not known, the length of the array and the index.
    element: Option<(usize, Expr)>,
}

/// Makes an initial value of an expression, or of nothing, for something of a type; the last says whether it is that of several
/// elements.
type One<'o, 'a, L, T> = &'o mut dyn FnMut(&mut L, Option<&'a ast::Expr<'a>>, Type, bool) -> Option<T>;

impl Part {
    /// Its value.
    pub fn value(self, span: Span) -> Expr {
        match (self.shared, self.element) {
            (true, None) => Expr::Shared(self.slot),
            (false, None) => Expr::Local(self.slot),
            (true, Some((length, index))) => Expr::SharedElement(self.slot, length, Box::new(index), span),
            (false, Some((length, index))) => Expr::LocalElement(self.slot, length, Box::new(index), span),
        }
    }

    /// Where a value is stored in it.
    pub fn place(self, span: Span) -> Place {
        let target = match (self.shared, self.element) {
            (true, None) => Target::Shared(self.slot),
            (false, None) => Target::Local(self.slot),
            (true, Some((length, index))) => Target::SharedElement(self.slot, length, index),
            (false, Some((length, index))) => Target::LocalElement(self.slot, length, index),
        };
        Place { target, ty: self.ty, span }
    }

    /// The lock that it is.
    pub fn lock(self, span: Span) -> LockPlace {
        LockPlace { slot: self.slot, element: self.element, span }
    }

    /// Its slot, if that is known.
    pub fn slot(&self) -> Option<Slot> {
        self.element.is_none().then_some(self.slot)
    }
}

impl<'a> Lowering<'a, '_> {
    pub(super) fn declare_structure(&mut self, structure: &'a ast::Structure<'a>) {
        let mut members: Vec<(Name<'a>, Shape)> = Vec::new();
        let mut seen = HashSet::new();
        let mut complete = true;
        for (ty, declarators) in &structure.members {
            let of = self.of_type(ty);
            for declarator in declarators {
                let (name, lengths) = (declarator.name, self.lengths_of(declarator));
                if !seen.insert(name.text) {
                    let message = format!("the member {} is declared twice", quote(name.text));
                    self.error(name.span, message, None);
                    complete = false;
                }
                match (&of, lengths) {
                    (Some(of), Some(lengths)) => members.push((name, Shape { lengths, of: of.clone() })),
                    _ => complete = false,
                }
            }
        }
        let (mut variables, mut slots, mut locks) = (0, 0_usize, false);
        for (_, shape) in &members {
            let (inner, each, lock) = match &shape.of {
                Of::Value(ty, _) => (1, 1, *ty == Type::Lock),
                Of::Structure(number) => {
                    let inner = &self.structures[*number];
                    (inner.variables, inner.slots, inner.locks)
                }
            };
            variables += inner;
            slots = slots.saturating_add(each.saturating_mul(shape.lengths.iter().product()));
            locks |= lock;
        }
        if slots > MAX_SLOTS {
            let message =
                format!("expected at most {MAX_SLOTS} variables and elements of arrays, found more");
            return self.error(structure.name.span, message, None);
        }
        if complete {
            self.globals.settle(structure.name, Meaning::Structure(self.structures.len()));
            self.structures.push(Structure { members, variables, slots, locks });
        }
    }

    /// What a declaration with this type declares.
    pub(super) fn of_type(&mut self, ty: &'a TypeName<'a>) -> Option<Of> {
        match ty {
            TypeName::Lock => Some(Of::Value(Type::Lock, None)),
            TypeName::Named(name) => match self.global(*name, "a type")? {
                Meaning::Structure(number) => {
                    self.globals.touch(name.text);
                    Some(Of::Structure(number))
                }
                _ => Some(Of::Value(self.type_of(ty)?, self.names_of(ty))),
            },
            _ => Some(Of::Value(self.type_of(ty)?, None)),
        }
    }

    /// The dimensions of an array; none if this is no array.
    pub(super) fn lengths_of(&mut self, declarator: &'a ast::Declarator<'a>) -> Option<Vec<usize>> {
        let mut lengths = Vec::new();
        let mut product = 1_usize;
        for expr in &declarator.lengths {
            let value = self.constant_number(expr, "the length of an array")?;
            let fits = |length: &usize| (1..=MAX_LENGTH).contains(length);
            let Some(length) = usize::try_from(value).ok().filter(fits) else {
                let message = format!("expected a length from 1 to {MAX_LENGTH}, found {value}");
                return self.none(expr.span, message, None);
            };
            product = product.saturating_mul(length);
            lengths.push(length);
        }
        if product > MAX_LENGTH {
            let message = format!("expected an array of at most {MAX_LENGTH} elements, found {product}");
            return self.none(declarator.name.span, message, None);
        }
        Some(lengths)
    }

    /// The variables that something is laid out as, whose names say all dimensions.
    pub(super) fn all_leaves(&self, shape: &Shape) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.add_leaves(shape, "", 1, false, &mut leaves);
        leaves
    }

    /// The variables that something is laid out as.
    pub(super) fn leaves(&self, shape: &Shape) -> Vec<Leaf> {
        let mut leaves = self.all_leaves(shape);
        // The name of an array of one dimension does not say how long it is.
        if let (Of::Value(..), [_], [leaf]) = (&shape.of, &shape.lengths[..], &mut leaves[..]) {
            leaf.suffix.clear();
        }
        leaves
    }

    fn add_leaves(&self, shape: &Shape, suffix: &str, elements: usize, array: bool, leaves: &mut Vec<Leaf>) {
        let mut suffix = suffix.to_string();
        shape.lengths.iter().for_each(|length| suffix += &format!("[{length}]"));
        let elements = elements.saturating_mul(shape.lengths.iter().product());
        let array = array || !shape.lengths.is_empty();
        match &shape.of {
            Of::Value(ty, names) => {
                let length = array.then_some(elements);
                leaves.push(Leaf { suffix, ty: *ty, names: names.clone(), length });
            }
            Of::Structure(number) => {
                for (name, member) in &self.structures[*number].members {
                    self.add_leaves(member, &format!("{suffix}.{}", name.text), elements, array, leaves);
                }
            }
        }
    }

    /// Whether something fits into what there is room for; says so if not.
    pub(super) fn has_room(&mut self, name: Name<'a>, shape: &Shape) -> Option<()> {
        let Of::Structure(number) = shape.of else { return Some(()) };
        let elements: usize = shape.lengths.iter().product();
        if self.structures[number].slots.saturating_mul(elements) <= MAX_SLOTS {
            return Some(());
        }
        let message = format!("expected at most {MAX_SLOTS} variables and elements of arrays, found more");
        self.none(name.span, message, None)
    }

    /// Whether there are locks in what is declared.
    pub(super) fn has_locks(&self, of: &Of) -> bool {
        match of {
            Of::Value(ty, _) => *ty == Type::Lock,
            Of::Structure(number) => self.structures[*number].locks,
        }
    }

    /// The initial values of what something is laid out as, in the order of the slots of each variable.
    pub(super) fn initial_parts<T: Clone>(
        &mut self,
        initial: Option<&'a ast::Initial<'a>>,
        shape: &Shape,
        one: One<'_, 'a, Self, T>,
    ) -> Option<Vec<Vec<T>>> {
        self.initial_elements(initial, &shape.lengths, &shape.of, false, one)
    }

    fn initial_elements<T: Clone>(
        &mut self,
        initial: Option<&'a ast::Initial<'a>>,
        lengths: &[usize],
        of: &Of,
        all: bool,
        one: One<'_, 'a, Self, T>,
    ) -> Option<Vec<Vec<T>>> {
        if let [length, inner @ ..] = lengths {
            let of_all = match initial {
                Some(ast::Initial::All(value, _)) => Some(&**value),
                other => other,
            };
            let Some(ast::Initial::Each(values, span)) = initial else {
                let element = self.initial_elements(of_all, inner, of, true, one)?;
                return Some(element.into_iter().map(|values| repeated(&values, *length)).collect());
            };
            let elements: Vec<_> =
                values.iter().map(|value| self.initial_elements(Some(value), inner, of, all, one)).collect();
            self.as_many(values.len(), Some(*length), *span)?;
            let mut parts: Vec<Vec<T>> = Vec::new();
            for element in elements {
                let element = element?;
                parts.resize(element.len(), Vec::new());
                parts.iter_mut().zip(element).for_each(|(part, values)| part.extend(values));
            }
            return Some(parts);
        }
        match (of, initial) {
            (_, Some(ast::Initial::All(_, span))) => {
                let help = "`{e for all}` is the value of all elements of an array".to_string();
                self.none(*span, "expected the value of something that is no array", Some(help))
            }
            (Of::Value(_, _), Some(ast::Initial::Each(values, span))) => {
                self.as_many(values.len(), None, *span)?;
                None
            }
            (Of::Value(ty, _), Some(ast::Initial::One(value))) => {
                Some(vec![vec![one(self, Some(value), *ty, all)?]])
            }
            (Of::Value(ty, _), None) => Some(vec![vec![one(self, None, *ty, all)?]]),
            (Of::Structure(number), initial) => self.initial_members(*number, initial, all, one),
        }
    }

    fn initial_members<T: Clone>(
        &mut self,
        structure: usize,
        initial: Option<&'a ast::Initial<'a>>,
        all: bool,
        one: One<'_, 'a, Self, T>,
    ) -> Option<Vec<Vec<T>>> {
        let members: Vec<Shape> =
            self.structures[structure].members.iter().map(|(_, shape)| shape.clone()).collect();
        let is_lock = |shape: &Shape| matches!(shape.of, Of::Value(Type::Lock, _));
        let mut values = match initial {
            Some(ast::Initial::Each(values, span)) => {
                let expected = members.iter().filter(|member| !is_lock(member)).count();
                if values.len() != expected {
                    let plural = if expected == 1 { "" } else { "s" };
                    let message = format!(
                        "expected {expected} value{plural}, one for each member, found {}",
                        values.len()
                    );
                    return self.none(*span, message, None);
                }
                values.iter()
            }
            Some(ast::Initial::One(value)) if !matches!(value.kind, ast::ExprKind::Any) => {
                let help = "the values of its members stand in braces: `= {1, true}`".to_string();
                return self.none(value.span, "expected the values of a structure", Some(help));
            }
            _ => [].iter(),
        };
        let same = initial.filter(|initial| matches!(initial, ast::Initial::One(_)));
        let mut parts = Vec::new();
        for member in &members {
            let initial = if is_lock(member) { None } else { values.next().or(same) };
            parts.extend(self.initial_elements(initial, &member.lengths, &member.of, all, one)?);
        }
        Some(parts)
    }

    /// Where a variable leads.
    pub(super) fn base(&self, found: Found) -> Base {
        if let Found::Alias(number) = found {
            return self.body.aliases[number].base.clone();
        }
        let shape = self.shapes_of(found).cloned().unwrap_or_else(|| {
            let variable = self.variable(found);
            let lengths = variable.length.into_iter().collect();
            Shape { lengths, of: Of::Value(variable.ty, variable.names.clone()) }
        });
        Base { path: String::new(), found, offset: 0, indices: Vec::new(), shape }
    }

    fn shapes_of(&self, found: Found) -> Option<&Shape> {
        match found {
            Found::Shared(number) => self.shapes.get(&number),
            Found::Local(number) => self.body.shapes.get(&number),
            Found::LocalOf(procedure, number) => self.local_shapes.get(&(procedure, number)),
            Found::Alias(_) => None,
        }
    }

    /// What selectors lead to.
    pub(super) fn select(
        &mut self,
        name: Name<'a>,
        mut base: Base,
        selectors: &'a [Selector<'a>],
    ) -> Option<Base> {
        base.path = name.text.to_string();
        for selector in selectors {
            match selector {
                Selector::Index(index) => {
                    if base.shape.lengths.is_empty() {
                        let message =
                            format!("expected an array, found {}, which is none", quote(&base.path));
                        return self.none(name.span, message, None);
                    }
                    let length = base.shape.lengths.remove(0);
                    let value = self.index(index, length)?;
                    base.indices.push(Index { value, length, span: index.span });
                }
                Selector::Member(member) => {
                    self.member(&mut base, *member)?;
                    base.path = format!("{}.{}", base.path, member.text);
                }
            }
        }
        Some(base)
    }

    /// Goes to a member of a structure.
    fn member(&mut self, base: &mut Base, member: Name<'a>) -> Option<()> {
        let path = base.path.clone();
        let path = path.as_str();
        let structure = match base.shape.of {
            Of::Structure(number) if base.shape.lengths.is_empty() => number,
            Of::Structure(_) => {
                let message =
                    format!("expected a structure before `.`, found {}, an array of them", quote(path));
                let help = "a member of an element is written `a[i].x`".to_string();
                return self.none(member.span, message, Some(help));
            }
            Of::Value(..) => {
                let message =
                    format!("expected a structure before `.`, found {}, which is none", quote(path));
                return self.none(member.span, message, None);
            }
        };
        let mut offset = base.offset;
        for (name, shape) in &self.structures[structure].members {
            if name.text == member.text {
                let shape = shape.clone();
                (base.offset, base.shape) = (offset, shape);
                return Some(());
            }
            offset += match shape.of {
                Of::Value(..) => 1,
                Of::Structure(number) => self.structures[number].variables,
            };
        }
        let Lowering { diagnostics, structures, .. } = self;
        diagnostics.add(Severity::Error, range(member.span), || {
            let names = structures[structure].members.iter().map(|(name, _)| name.text);
            let message = format!("expected a member of {}, found {}", quote(path), quote(member.text));
            (message, did_you_mean(member.text, names))
        });
        None
    }

    /// The one variable or element that something is; `expected` says what for.
    pub(super) fn part(&mut self, name: Name<'a>, base: Base, expected: &str) -> Option<Part> {
        if !base.shape.lengths.is_empty() {
            let message = format!("expected {expected}, found the array {}", quote(&base.path));
            let element = if expected == "a lock" { "m[i]" } else { "a[i]" };
            return self.none(name.span, message, Some(format!("an element is written `{element}`")));
        }
        let Of::Value(ty, _) = base.shape.of else {
            let message = format!("expected {expected}, found the structure {}", quote(&base.path));
            let help = "its members are used one by one: `x.next`".to_string();
            return self.none(name.span, message, Some(help));
        };
        let variable = self.variable(base.found.plus(base.offset));
        let (slot, length) = (variable.slot, variable.length);
        let shared = matches!(base.found, Found::Shared(_));
        let (slot, element) = match (self.flat(base.indices)?, length) {
            (Some(Ok(offset)), _) => (slot + offset, None),
            (Some(Err(index)), Some(length)) => (slot, Some((length, index))),
            _ => (slot, None),
        };
        Some(Part { shared, slot, ty, element })
    }

    /// The place of an element in an array whose rows lie one after the other. The inner `None`: it is no array.
    fn flat(&mut self, indices: Vec<Index>) -> Option<Option<Result<usize, Expr>>> {
        if indices.len() < 2 {
            return Some(indices.into_iter().next().map(|index| index.value));
        }
        let mut stride: usize = indices.iter().map(|index| index.length).product();
        let (mut known, mut sum, mut inside): (usize, Option<Expr>, Option<Expr>) = (0, None, None);
        for (number, Index { value, length, span }) in indices.into_iter().enumerate() {
            stride /= length;
            let index = match value {
                Ok(value) => {
                    known += value * stride;
                    continue;
                }
                Err(index) => index,
            };
            // If all others are sound and the first is not, so is the sum.
            if number > 0 && !self.is_within(&index, length) {
                if chooses(&index) {
                    let help = "a choice is made in a step of its own, before".to_string();
                    return self.none(span, "expected an index without choices, found `*`", Some(help));
                }
                let least = binary(Binary::LessEqual, Expr::Constant(0), index.clone(), span);
                let most = binary(Binary::Less, index.clone(), Expr::Constant(length as Value), span);
                inside = Some(both(inside, binary(Binary::And, least, most, span), Binary::And, span));
            }
            let index = match stride {
                1 => index,
                stride => binary(Binary::Times, index, Expr::Constant(stride as Value), span),
            };
            sum = Some(both(sum, index, Binary::Plus, span));
        }
        let Some(sum) = sum else { return Some(Some(Ok(known))) };
        let sum = match known {
            0 => sum,
            known => binary(Binary::Plus, sum, Expr::Constant(known as Value), Span::default()),
        };
        Some(Some(Err(match inside {
            Some(inside) => Expr::If(Box::new(inside), Box::new(sum), Box::new(Expr::Constant(-1))),
            None => sum,
        })))
    }

    /// Whether an index cannot be but one of a dimension.
    fn is_within(&self, index: &Expr, length: usize) -> bool {
        let of = |variables: &[Variable], slot: Slot| {
            let after = variables.partition_point(|variable| variable.slot <= slot);
            let variable = after.checked_sub(1).and_then(|last| variables.get(last));
            variable.and_then(|variable| variable.ty.bounds())
        };
        let bounds = match index {
            Expr::Shared(slot) => of(&self.program.shared, *slot),
            Expr::Local(slot) if self.mode == Mode::Body => of(&self.body.locals, *slot),
            _ => None,
        };
        bounds.is_some_and(|(low, high)| 0 <= low && high < length as Value)
    }

    /// The index of an element: which one, if that is known and it exists.
    fn index(&mut self, index: &'a ast::Expr<'a>, length: usize) -> Option<Result<usize, Expr>> {
        let lowered = self.of_sort(index, Sort::Number, "as an index")?;
        let Expr::Constant(value) = lowered else { return Some(Err(lowered)) };
        if let Some(offset) = usize::try_from(value).ok().filter(|&offset| offset < length) {
            return Some(Ok(offset));
        }
        let message = format!("expected an index from 0 to {}, found {value}", length - 1);
        self.warn(index.span, message, Some("a violation, if this is ever executed".to_string()));
        Some(Err(lowered))
    }
}

fn binary(operator: Binary, left: Expr, right: Expr, span: Span) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right), span)
}

/// Something, after what was there before.
fn both(before: Option<Expr>, next: Expr, operator: Binary, span: Span) -> Expr {
    match before {
        Some(before) => binary(operator, before, next, span),
        None => next,
    }
}

fn repeated<T: Clone>(values: &[T], times: usize) -> Vec<T> {
    values.iter().cycle().take(values.len() * times).cloned().collect()
}
