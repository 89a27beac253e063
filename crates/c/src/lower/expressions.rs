//! Values of expressions: steps for what has an effect or needs a step of its own, and an expression of the model for the
//! rest.
//!
//! Truth values of the model and numbers are told apart: a comparison is a truth value, and where C wants a number it is
//! `condition ? 1 : 0`.

use super::moves::guarded;
use super::places::{Target, binary};
use super::{FUNCTIONS, Lowering, Model, Result, refuse};
use crate::slots::{self, INT};
use crate::typed::{Binary, Expr, ExprKind, Int, Type, Unary};
use crate::walk;
use allways_model::program::{Binary as Operator, Op, Slot, Span, Type as Values, Unary as Sign, Value};

/// A truth value as a number.
pub(super) fn number(truth: Model) -> Model {
    Model::If(Box::new(truth), Box::new(Model::Constant(1)), Box::new(Model::Constant(0)))
}

/// Whether a number is not zero.
pub(super) fn truth(number: Model) -> Model {
    match number {
        Model::If(condition, then, other) if *then == Model::Constant(1) && *other == Model::Constant(0) => {
            *condition
        }
        Model::Constant(value) => Model::Constant(Value::from(value != 0)),
        // Of a choice among many numbers only this matters.
        Model::Choose(low, high) if low <= 0 && 0 <= high && low < high => Model::Choose(0, 1),
        number => binary(Operator::Unequal, number, Model::Constant(0)),
    }
}

/// The opposite of a truth value.
pub(super) fn not(truth: Model) -> Model {
    match truth {
        Model::Unary(Sign::Not, inner) => *inner,
        Model::Constant(value) => Model::Constant(Value::from(value == 0)),
        truth => Model::Unary(Sign::Not, Box::new(truth)),
    }
}

/// How many shared slots an expression reads.
pub(super) fn reads(expr: &Model) -> usize {
    let mut count = 0;
    expr.visit(&mut |part| {
        count += usize::from(matches!(part, Model::Shared(_) | Model::SharedElement(..)));
    });
    count
}

/// Whether an expression has choices, so that it has one value where it stands and may have another elsewhere.
pub(super) fn chooses(expr: &Model) -> bool {
    let mut chooses = false;
    expr.visit(&mut |part| chooses |= matches!(part, Model::Choose(..)));
    chooses
}

/// A number brought into the range of a type.
pub(super) fn wrapped(int: Int, value: Model) -> Model {
    let machine = slots::machine(int);
    match value {
        Model::Constant(value) => match Value::try_from(machine.wrap(value.into())) {
            Ok(wrapped) if wrapped != Value::MIN => Model::Constant(wrapped),
            _ => Model::Unary(Sign::Wrap(machine), Box::new(Model::Constant(value))),
        },
        value => Model::Unary(Sign::Wrap(machine), Box::new(value)),
    }
}

/// A constant.
fn constant(value: i128) -> Model {
    match Value::try_from(value) {
        Ok(value) if value != Value::MIN => Model::Constant(value),
        // Beyond what is followed; this is found out where it is evaluated.
        _ => wrapped(Int { bits: 64, signed: value < 0 }, Model::Constant(value as Value)),
    }
}

/// Whether evaluating an expression does more than read.
pub(crate) fn acts(expr: &Expr) -> bool {
    let mut acts = false;
    walk::expression(expr, &mut |part| {
        acts |= matches!(
            part.kind,
            ExprKind::Assign(..)
                | ExprKind::AssignOp(..)
                | ExprKind::AssignPointerAdd(..)
                | ExprKind::Step(..)
                | ExprKind::Call(..)
                | ExprKind::Statements(_)
        );
    });
    acts
}

/// Whether there are numbers in an expression that are not followed.
fn has_floats(expr: &Expr) -> bool {
    let mut floats = false;
    walk::expression(expr, &mut |part| floats |= matches!(part.ty.plain(), Type::Float(_)));
    floats
}

impl Lowering<'_> {
    /// A local variable for a value that waits.
    pub(super) fn temporary(&mut self, span: Span) -> Slot {
        if self.body.used == self.body.temporaries.len() {
            let name = format!("#{}", self.body.used);
            let slot = self.local(name, Values::Range(Value::MIN + 1, Value::MAX), Some(0), span);
            self.body.temporaries.push(slot);
        }
        self.body.used += 1;
        self.body.temporaries[self.body.used - 1]
    }

    /// Local slots in a row.
    pub(super) fn block(&mut self, count: usize, span: Span) -> Slot {
        let slots: Vec<Slot> = (0..count)
            .map(|_| self.local("#".to_string(), Values::Range(Value::MIN + 1, Value::MAX), Some(0), span))
            .collect();
        slots.first().copied().unwrap_or_default()
    }

    /// A value that reads no shared slot any more, unless nobody can interfere.
    pub(super) fn settled(&mut self, value: Model, span: Span) -> Result<Model> {
        if reads(&value) == 0 || self.body.atomic > 0 { Ok(value) } else { self.kept(value, span) }
    }

    /// A value that nothing that follows can change.
    pub(super) fn kept(&mut self, value: Model, span: Span) -> Result<Model> {
        if matches!(value, Model::Constant(_) | Model::NextShared(_)) {
            return Ok(value);
        }
        let slot = self.temporary(span);
        self.store(&Target::Local(slot), value, span)?;
        Ok(Model::Local(slot))
    }

    /// Whether a value must be kept before another expression is evaluated.
    pub(super) fn splits(&self, value: &Model, next: &Expr) -> bool {
        acts(next) || reads(value) > 0 && self.body.atomic == 0 && self.may_read_shared(next)
    }

    pub(super) fn may_read_shared(&self, expr: &Expr) -> bool {
        let mut reads = false;
        walk::expression(expr, &mut |part| {
            reads |= match &part.kind {
                ExprKind::Deref(_) => true,
                ExprKind::Variable(variable) => {
                    !crate::pointers::is_automatic(self.unit, *variable)
                        || self.pointers.escapes.contains(variable)
                        || self.body.bound.contains_key(variable)
                }
                _ => false,
            };
        });
        reads
    }

    /// Two operands, from left to right.
    fn pair(&mut self, left: &Expr, right: &Expr) -> Result<(Model, Model)> {
        let mut value = self.value(left)?;
        if acts(right) {
            value = self.kept(value, left.span)?;
        } else if self.splits(&value, right) {
            value = self.settled(value, left.span)?;
        }
        let right = self.value(right)?;
        Ok((value, right))
    }

    /// Stores a value. One step, in which at most one shared slot is accessed.
    pub(super) fn store(&mut self, target: &Target, value: Model, span: Span) -> Result<()> {
        let value = if target.is_shared() { self.settled(value, span)? } else { value };
        let place = self.model_place(target, span);
        self.emit(Op::Assign(vec![place], vec![value], None), span)
    }

    /// Stores several values at once: a step that is atomic by its nature.
    pub(super) fn store_at_once(
        &mut self,
        stores: Vec<(Target, Model)>,
        guard: Option<Model>,
        span: Span,
    ) -> Result<()> {
        let places = stores.iter().map(|(target, _)| self.model_place(target, span)).collect();
        let values = stores.into_iter().map(|(_, value)| value).collect();
        self.emit(Op::Assign(places, values, guard), span)
    }

    /// The value of a scalar expression.
    pub(super) fn value(&mut self, expr: &Expr) -> Result<Model> {
        let span = expr.span;
        Ok(match &expr.kind {
            ExprKind::Int(value) => constant(*value),
            ExprKind::Float(_) => return refuse(span, "floating-point numbers are not followed"),
            ExprKind::Unsupported(what) => return refuse(span, format!("{what} is not followed")),
            ExprKind::Function(function) => Model::Constant(FUNCTIONS + function.0 as Value),
            ExprKind::Variable(_) | ExprKind::Deref(_) => {
                let place = self.place(expr)?;
                self.load(&place, span)
            }
            ExprKind::Member(..) => {
                let place = self.place(expr)?;
                self.load(&place, span)
            }
            ExprKind::Load(place) => {
                if matches!(expr.ty.plain(), Type::Float(_)) {
                    return refuse(span, "floating-point numbers are not followed");
                }
                if let Some(value) = self.constant_value(expr) {
                    return Ok(constant(value));
                }
                if let ExprKind::Variable(variable) = place.kind
                    && let Some(bound) = self.body.bound.get(&variable).cloned()
                {
                    return self.number(bound, span);
                }
                let place = self.place(place)?;
                self.load(&place, span)
            }
            ExprKind::AddressOf(place) => match place.kind {
                ExprKind::Function(function) => Model::Constant(FUNCTIONS + function.0 as Value),
                _ => {
                    let address = self.address(expr)?;
                    self.number(address, span)?
                }
            },
            ExprKind::PointerAdd(..) => {
                let address = self.address(expr)?;
                self.number(address, span)?
            }
            ExprKind::PointerDifference(left, right) => {
                let size = self.pointee_size(&left.ty, span)?;
                let mark = self.mark_move(left);
                let (left, right) = self.pair(left, right)?;
                let distance = match mark {
                    None => binary(Operator::Minus, left, right),
                    Some(_) => {
                        let (left, right) = (self.kept(left, span)?, self.kept(right, span)?);
                        let ordered = binary(Operator::LessEqual, left.clone(), right.clone());
                        let choose = |yes: Model, no: Model| {
                            Model::If(Box::new(ordered.clone()), Box::new(yes), Box::new(no))
                        };
                        let least = choose(left.clone(), right.clone());
                        let most = guarded(mark, least, choose(right.clone(), left.clone()));
                        let back = binary(Operator::Minus, left, most.clone());
                        choose(back, binary(Operator::Minus, most, right))
                    }
                };
                let distance = match size {
                    1 => distance,
                    size => Model::Binary(
                        Operator::Divide,
                        Box::new(distance),
                        Box::new(Model::Constant(size)),
                        span,
                    ),
                };
                // Of two objects, or far outside of one, it may be more than fits.
                wrapped(integer(&expr.ty, span)?, distance)
            }
            ExprKind::Unary(Unary::Not, part) => {
                let condition = self.condition(part)?;
                number(not(condition))
            }
            ExprKind::Unary(operator, part) => {
                let int = integer(&expr.ty, span)?;
                let value = self.value(part)?;
                let negated = match value {
                    Model::Constant(value) if value != Value::MIN => Model::Constant(-value),
                    value => Model::Unary(Sign::Minus, Box::new(value)),
                };
                match operator {
                    Unary::Minus if self.overflows(Binary::Minus, int) => {
                        self.in_range(Binary::Minus, int, negated, span)?
                    }
                    Unary::Minus => wrapped(int, negated),
                    _ => wrapped(int, binary(Operator::Minus, negated, Model::Constant(1))),
                }
            }
            ExprKind::Binary(operator, left, right) if operator.compares() => {
                let (left, right) = self.as_addresses(*operator, left, right);
                if let Some(known) = self.compared(*operator, left, right)? {
                    return Ok(known);
                }
                if matches!(left.ty.plain(), Type::Float(_)) {
                    return refuse(span, "floating-point numbers are not followed");
                }
                let (left, right) = self.pair(left, right)?;
                number(Model::Binary(arithmetic(*operator), Box::new(left), Box::new(right), span))
            }
            ExprKind::Binary(operator, left, right) => {
                let int = integer(&expr.ty, span)?;
                let (mut left, mut right) = self.pair(left, right)?;
                // What is looked at twice has one value.
                if looks_twice(*operator) {
                    for part in [&mut left, &mut right] {
                        if chooses(part) {
                            *part = self.kept(part.clone(), span)?;
                        }
                    }
                }
                if self.overflows(*operator, int) {
                    let value = Model::Binary(arithmetic(*operator), Box::new(left), Box::new(right), span);
                    return self.in_range(*operator, int, value, span);
                }
                applied(*operator, int, left, right, span)
            }
            ExprKind::And(..) | ExprKind::Or(..) => number(self.condition(expr)?),
            ExprKind::Conditional(condition, then, other) => {
                self.conditional(expr, condition, then.as_deref(), other)?
            }
            ExprKind::Cast(part) => self.cast(part, &expr.ty, span)?,
            ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::AssignPointerAdd(..)
            | ExprKind::Step(..) => self.assignment(expr, true)?,
            ExprKind::Call(callee, arguments) => {
                let values = self.call(expr, callee, arguments)?;
                match values.into_iter().next() {
                    Some(value) => value,
                    None if *expr.ty.plain() == Type::Void => Model::Constant(0),
                    None => return refuse(span, "the result of this call is not followed"),
                }
            }
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.value(second)?
            }
            ExprKind::Statements(_) => {
                let values = self.values(expr)?;
                values.into_iter().next().unwrap_or(Model::Constant(0))
            }
        })
    }

    /// The values of all slots of an expression, which may be a struct.
    pub(super) fn values(&mut self, expr: &Expr) -> Result<Vec<Model>> {
        let count = match slots::count(self.unit, &expr.ty) {
            Some(count) => count,
            None => return refuse(expr.span, "a value is too large, or its size is not known"),
        };
        match &expr.kind {
            ExprKind::Statements(body) => self.statement_expression(body),
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.values(second)
            }
            ExprKind::Call(callee, arguments) => self.call(expr, callee, arguments),
            _ if !matches!(expr.ty.plain(), Type::Record(_)) => Ok(vec![self.value(expr)?]),
            ExprKind::Load(place) => self.load_record(place, count),
            ExprKind::Variable(_) | ExprKind::Deref(_) | ExprKind::Member(..) => {
                self.load_record(expr, count)
            }
            ExprKind::Cast(part) => self.values(part),
            ExprKind::Assign(to, value) => {
                self.assign(to, value, false, expr.span)?;
                let place = self.place(to)?;
                Ok(self.load_all(&place, count, expr.span))
            }
            ExprKind::Conditional(condition, Some(then), other) => {
                let first = self.block(count, expr.span);
                self.split(
                    condition,
                    |lowering| lowering.keep_in(first, then),
                    |lowering| lowering.keep_in(first, other),
                )?;
                Ok((first..first + count).map(Model::Local).collect())
            }
            _ => refuse(expr.span, "a value of a struct type of this form is not followed"),
        }
    }

    fn load_record(&mut self, record: &Expr, count: usize) -> Result<Vec<Model>> {
        let place = self.place(record)?;
        if place.is_shared() {
            self.as_a_whole(&record.ty, record.span);
        }
        if matches!(record.ty, Type::Atomic(_)) && place.is_shared() {
            let first = self.block(count, record.span);
            let values = self.load_all(&place, count, record.span);
            let stores = (first..).map(Target::Local).zip(values).collect();
            self.store_at_once(stores, None, record.span)?;
            return Ok((first..first + count).map(Model::Local).collect());
        }
        Ok(self.load_all(&place, count, record.span))
    }

    fn keep_in(&mut self, first: Slot, expr: &Expr) -> Result<()> {
        let values = self.values(expr)?;
        for (slot, value) in (first..).zip(values) {
            self.store(&Target::Local(slot), value, expr.span)?;
        }
        Ok(())
    }

    /// Evaluates an expression for its effects.
    pub(super) fn effect(&mut self, expr: &Expr) -> Result<()> {
        match &expr.kind {
            ExprKind::Assign(..)
            | ExprKind::AssignOp(..)
            | ExprKind::AssignPointerAdd(..)
            | ExprKind::Step(..) => self.assignment(expr, false).map(|_| ()),
            ExprKind::Call(callee, arguments) => match (&callee.kind, &arguments[..]) {
                (ExprKind::Function(function), [thread, rest @ ..])
                    if self.unit.functions[function.0].name == "pthread_join"
                        && self.unit.functions[function.0].body.is_none() =>
                {
                    self.join(thread, rest.first(), expr.span)
                }
                _ => self.call(expr, callee, arguments).map(|_| ()),
            },
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.effect(second)
            }
            ExprKind::Cast(part) => self.effect(part),
            ExprKind::Statements(body) => self.statement_expression(body).map(|_| ()),
            ExprKind::Conditional(condition, then, other) => self.split(
                condition,
                |lowering| then.as_ref().map_or(Ok(()), |then| lowering.effect(then)),
                |lowering| lowering.effect(other),
            ),
            ExprKind::And(left, right) => self.split(left, |lowering| lowering.effect(right), |_| Ok(())),
            ExprKind::Or(left, right) => self.split(left, |_| Ok(()), |lowering| lowering.effect(right)),
            _ if self.property.races || self.may_fail(expr) => self.touch(expr),
            _ if acts(expr) => {
                // What comes out is dropped, what happens inside is not.
                for part in walk::parts(expr) {
                    self.effect(part)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether evaluating an expression may go wrong: it accesses what a pointer points to, or divides. The pointers that `main` is given,
    /// such as one to a name that is printed, are taken to be there.
    fn may_fail(&self, expr: &Expr) -> bool {
        let is_known = |pointer: &Expr| match &pointer.kind {
            ExprKind::AddressOf(_) => true,
            ExprKind::PointerAdd(array, index) => match (&array.kind, &index.kind) {
                (ExprKind::AddressOf(array), ExprKind::Int(index)) => {
                    matches!(array.ty, Type::Array(_, Some(length)) if (0..i128::from(length)).contains(index))
                }
                _ => false,
            },
            _ => false,
        };
        let is_given = |pointer: &Expr| {
            let (mut given, mut directly) = (false, true);
            walk::expression(pointer, &mut |part| {
                given |= matches!(part.kind, ExprKind::Variable(variable) if self.is_given_to_main(variable));
                directly &= !matches!(part.kind, ExprKind::Deref(_));
            });
            given && directly
        };
        let mut fails = false;
        walk::expression(expr, &mut |part| {
            fails |= match &part.kind {
                ExprKind::Deref(pointer) => !is_known(pointer) && !is_given(pointer),
                ExprKind::Binary(Binary::Divide | Binary::Remainder, _, by) => {
                    !matches!(by.kind, ExprKind::Int(by) if by != 0)
                }
                _ => false,
            };
        });
        fails || self.may_overflow(expr)
    }

    /// Whether a variable is a pointer that `main` is given.
    fn is_given_to_main(&self, variable: crate::typed::VariableId) -> bool {
        let main = self.unit.functions.iter().find(|function| function.name == "main");
        let is_pointer = matches!(self.unit.variables[variable.0].ty.plain(), Type::Pointer(_));
        is_pointer && main.is_some_and(|main| main.parameters.contains(&variable))
    }

    /// Evaluates an expression whose value is dropped, since reading is an access as well.
    pub(super) fn touch(&mut self, expr: &Expr) -> Result<()> {
        let fails = self.may_fail(expr);
        if !acts(expr) && !self.may_read_shared(expr) && !fails {
            return Ok(());
        }
        if has_floats(expr) && !self.property.races {
            // Numbers that are not followed are nevertheless somewhere.
            return match &expr.kind {
                ExprKind::Load(place) => {
                    let target = self.place(place)?;
                    self.kept(self.load(&target, expr.span), expr.span).map(|_| ())
                }
                _ => walk::parts(expr).into_iter().try_for_each(|part| self.effect(part)),
            };
        }
        for value in self.values(expr)? {
            if reads(&value) > 0 || fails {
                self.kept(value, expr.span)?;
            }
        }
        Ok(())
    }

    /// Writes a number that is not followed: nobody can read it, but the access counts.
    pub(super) fn overwrite(&mut self, to: &Expr, reads: bool) -> Result<()> {
        let place = self.place(to)?;
        if !self.property.races || !place.is_shared() {
            return Ok(());
        }
        if reads {
            self.kept(self.load(&place, to.span), to.span)?;
        }
        self.store(&place, Model::Constant(0), to.span)
    }

    /// Two ways, which meet again.
    pub(super) fn split(
        &mut self,
        condition: &Expr,
        then: impl FnOnce(&mut Self) -> Result<()>,
        other: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let span = condition.span;
        let (yes, no, after) = (self.location(span), self.location(span), self.location(span));
        self.branch(condition, yes, no)?;
        self.here = yes;
        then(self)?;
        self.jump(after, span);
        self.here = no;
        other(self)?;
        self.jump(after, span);
        self.here = after;
        Ok(())
    }

    /// A value converted to another type.
    fn cast(&mut self, part: &Expr, to: &Type, span: Span) -> Result<Model> {
        match (part.ty.plain(), to.plain()) {
            (_, Type::Void) => {
                self.effect(part)?;
                Ok(Model::Constant(0))
            }
            (Type::Float(_), _) | (_, Type::Float(_)) => {
                refuse(span, "floating-point numbers are not followed")
            }
            (_, Type::Int(Int { bits: 1, .. })) => Ok(number(self.condition(part)?)),
            (Type::Int(from), Type::Int(to)) => {
                let value = self.value(part)?;
                Ok(converted(value, *from, *to))
            }
            (Type::Pointer(_), Type::Int(_)) => {
                let class = self.pointers.target(part);
                let value = self.value(part)?;
                self.integers.push(class);
                // The layout knows whether it can be an address; then what follows is not followed.
                let mark = Model::OtherLocal(self.integers.len() - 1);
                let value = binary(Operator::Plus, value, mark);
                let Type::Int(int) = to.plain() else { return Ok(value) };
                Ok(if int.bits == 64 { value } else { wrapped(*int, value) })
            }
            (Type::Int(from), Type::Pointer(_)) => {
                let value = self.value(part)?;
                let unsigned = Int { bits: 64, signed: false };
                Ok(if from.signed { converted(value, *from, unsigned) } else { value })
            }
            (Type::Pointer(_), Type::Pointer(_)) => {
                if let Some((pointer, by)) = self.counted_in_bytes(part, to) {
                    let value = self.value(pointer)?;
                    return Ok(super::places::plus(value, by));
                }
                self.check_cast(part, to, span)?;
                self.value(part)
            }
            _ => self.value(part),
        }
    }
}

/// The integer type of an expression.
pub(super) fn integer(ty: &Type, span: Span) -> Result<Int> {
    match ty.plain() {
        Type::Int(int) => Ok(*int),
        Type::Float(_) => refuse(span, "floating-point numbers are not followed"),
        Type::Pointer(_) => Ok(Int { bits: 64, signed: false }),
        _ => refuse(span, "a number is expected here"),
    }
}

/// A number of one integer type as one of another.
pub(super) fn converted(value: Model, from: Int, to: Int) -> Model {
    let ((low, high), (least, most)) = (slots::machine(from).bounds(), slots::machine(to).bounds());
    if to.bits == 1 {
        return number(truth(value));
    }
    if least <= low && high <= most { value } else { wrapped(to, value) }
}

/// An operator applied to two numbers of a type (of shifts, the right one may have another).
pub(super) fn applied(operator: Binary, int: Int, left: Model, right: Model, span: Span) -> Model {
    let symbol = arithmetic(operator);
    let right = distance(operator, int, divisor(operator, int, &left, right));
    if let (Model::Constant(a), Model::Constant(b)) = (&left, &right)
        && let Ok(value) = allways_model::program::expression::apply(symbol, *a, *b, span)
    {
        return if operator.compares() {
            Model::Constant(value)
        } else {
            wrapped(int, Model::Constant(value))
        };
    }
    let value = Model::Binary(symbol, Box::new(left), Box::new(right), span);
    match operator {
        // These stay in the range of their operands.
        Binary::Remainder | Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::ShiftRight => value,
        Binary::Divide if !int.signed => value,
        _ => wrapped(int, value),
    }
}

/// What something is divided by: where the least number is divided by -1, machines trap as if that were zero.
fn divisor(operator: Binary, int: Int, left: &Model, right: Model) -> Model {
    let divides = matches!(operator, Binary::Divide | Binary::Remainder) && int.signed && int.bits == 32;
    let harmless = matches!(&right, Model::Constant(by) if *by != -1);
    let least = Model::Constant(Value::from(i32::MIN));
    if !divides || harmless || matches!(left, Model::Constant(_)) && *left != least {
        return right;
    }
    if matches!((left, &right), (Model::Constant(_), Model::Constant(_))) {
        return Model::Constant(0);
    }
    let by = binary(Operator::Equal, right.clone(), Model::Constant(-1));
    let traps = binary(Operator::And, by, binary(Operator::Equal, left.clone(), least));
    Model::If(Box::new(traps), Box::new(Model::Constant(0)), Box::new(right))
}

/// Whether it is looked at an operand, too, before an operator is applied.
pub(super) fn looks_twice(operator: Binary) -> bool {
    matches!(operator, Binary::Divide | Binary::Remainder | Binary::ShiftLeft | Binary::ShiftRight)
}

/// How far something is shifted: by less than its width, or else nothing is followed.
fn distance(operator: Binary, int: Int, by: Model) -> Model {
    let shifts = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
    let fits = |distance: Value| (0..Value::from(int.bits)).contains(&distance);
    let is_less = match &by {
        Model::Constant(distance) => fits(*distance),
        Model::Binary(Operator::BitAnd, left, right, _) => {
            [left, right].into_iter().any(|mask| matches!(**mask, Model::Constant(mask) if fits(mask)))
        }
        _ => false,
    };
    if !shifts || is_less {
        return by;
    }
    if chooses(&by) || matches!(by, Model::Constant(_)) {
        return super::layout::beyond();
    }
    let least = binary(Operator::GreaterEqual, by.clone(), Model::Constant(0));
    let most = binary(Operator::Less, by.clone(), Model::Constant(Value::from(int.bits)));
    let within = binary(Operator::And, least, most);
    Model::If(Box::new(within), Box::new(by), Box::new(super::layout::beyond()))
}

pub(super) fn arithmetic(operator: Binary) -> Operator {
    match operator {
        Binary::Times => Operator::Times,
        Binary::Divide => Operator::Divide,
        Binary::Remainder => Operator::Remainder,
        Binary::Plus => Operator::Plus,
        Binary::Minus => Operator::Minus,
        Binary::ShiftLeft => Operator::ShiftLeft,
        Binary::ShiftRight => Operator::ShiftRight,
        Binary::BitAnd => Operator::BitAnd,
        Binary::BitXor => Operator::BitXor,
        Binary::BitOr => Operator::BitOr,
        Binary::Equal => Operator::Equal,
        Binary::Unequal => Operator::Unequal,
        Binary::Less => Operator::Less,
        Binary::LessEqual => Operator::LessEqual,
        Binary::Greater => Operator::Greater,
        Binary::GreaterEqual => Operator::GreaterEqual,
    }
}

/// `int`
pub(super) const fn int() -> Type {
    Type::Int(INT)
}
