//! Initialisers: designators and left-out braces, made into the parts that they fill.

use super::{Analyser, Res, plain};
use crate::typed::{Expr, Initial, RecordId, Type};
use lang_c::ast::{Designator, Expression, Initializer, InitializerListItem};
use lang_c::span::{Node, Span as Range};

/// The most elements that a range of a designator fills.
const MAX_RANGE: u64 = 1 << 20;

/// A list in braces that is read item by item.
struct Items<'t> {
    list: &'t [Node<InitializerListItem>],
    next: usize,
    /// How many designators of the next item have been followed.
    followed: usize,
    /// The value of the next item, if it was needed to see its type.
    value: Option<Expr>,
}

impl<'t> Items<'t> {
    fn peek(&self) -> Option<&'t InitializerListItem> {
        self.list.get(self.next).map(|node| &node.node)
    }

    fn advance(&mut self) {
        self.next += 1;
        self.followed = 0;
        self.value = None;
    }
}

impl Analyser<'_> {
    /// The parts that an initialiser fills; an array without a length gets that of the initialiser.
    pub(super) fn initialiser(&mut self, ty: &mut Type, node: &Node<Initializer>) -> Res<Vec<Initial>> {
        let mut parts = Vec::new();
        match &node.node {
            Initializer::Expression(expression) => self.whole(ty, expression, &mut parts)?,
            Initializer::List(list) => {
                let length = self.list(ty, &[], list, &mut parts)?;
                if let Type::Array(_, open @ None) = ty {
                    *open = Some(length);
                }
            }
        }
        Ok(parts)
    }

    /// An initialiser without braces.
    fn whole(&mut self, ty: &mut Type, expression: &Node<Expression>, parts: &mut Vec<Initial>) -> Res<()> {
        if let Type::Array(element, length) = ty {
            if self.string_fits(element, expression) {
                let (_, values) = self.string_units(string_range(expression));
                let element = (**element).clone();
                let length = *length.get_or_insert(values.len() as u64 + 1);
                parts.extend(self.string_parts(&element, &values, Some(length), expression.span));
                return Ok(());
            }
            if let Expression::CompoundLiteral(literal) = &expression.node {
                let given = self.list(ty, &[], &literal.node.initializer_list, parts)?;
                if let Type::Array(_, open @ None) = ty {
                    *open = Some(given);
                }
                return Ok(());
            }
            return self.error(expression.span, "an array needs braces or a string");
        }
        if let (Type::Record(_), Expression::CompoundLiteral(literal)) = (plain(ty), &expression.node)
            && self.type_name(&literal.node.type_name)? == *ty
        {
            self.list(ty, &[], &literal.node.initializer_list, parts)?;
            return Ok(());
        }
        let value = self.value(expression)?;
        let value = self.convert(value, ty)?;
        parts.push(Initial { path: Vec::new(), value });
        Ok(())
    }

    /// Whether an expression is a string that fills an array of such elements.
    fn string_fits(&self, element: &Type, expression: &Node<Expression>) -> bool {
        match (&expression.node, plain(element)) {
            (Expression::StringLiteral(_), Type::Int(element)) => {
                let (units, _) = self.string_units(string_range(expression));
                match units {
                    Type::Int(units) => units.bits == element.bits,
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// A list in braces for an object; gives how many elements an array has by it.
    pub(super) fn list(
        &mut self,
        ty: &Type,
        path: &[u64],
        list: &[Node<InitializerListItem>],
        parts: &mut Vec<Initial>,
    ) -> Res<u64> {
        let mut items = Items { list, next: 0, followed: 0, value: None };
        match plain(ty) {
            Type::Array(element, length) => {
                // A string may have braces around it.
                if let [only] = list
                    && let (Initializer::Expression(expression), true) =
                        (&only.node.initializer.node, only.node.designation.is_empty())
                    && self.string_fits(element, expression)
                {
                    let (_, values) = self.string_units(string_range(expression));
                    let all = length.unwrap_or(values.len() as u64 + 1);
                    for part in self.string_parts(element, &values, Some(all), expression.span) {
                        let path = path.iter().copied().chain(part.path).collect();
                        parts.push(Initial { path, value: part.value });
                    }
                    return Ok(all);
                }
                self.fill(ty, path, &mut items, true, parts)
            }
            Type::Record(_) => self.fill(ty, path, &mut items, true, parts),
            _ => {
                let Some(item) = items.peek() else {
                    return Ok(0);
                };
                match &item.initializer.node {
                    Initializer::List(inner) => self.list(ty, path, inner, parts),
                    Initializer::Expression(expression) => {
                        let value = self.value(expression)?;
                        let value = self.convert(value, ty)?;
                        parts.push(Initial { path: path.to_vec(), value });
                        Ok(1)
                    }
                }
            }
        }
    }

    /// The type of a part of an aggregate; none if there is no such part.
    fn part(&self, ty: &Type, number: u64) -> Option<Type> {
        match plain(ty) {
            Type::Array(element, length) => {
                length.is_none_or(|length| number < length).then(|| (**element).clone())
            }
            Type::Record(RecordId(id)) => {
                let record = self.unit.records.get(*id)?;
                record.fields.get(usize::try_from(number).ok()?).map(|field| field.ty.clone())
            }
            _ => None,
        }
    }

    /// Fills the parts of an aggregate in order, or as designators say. Without braces of its own it ends when it is full,
    /// or at the first item with a designator. Gives one more than the greatest number of a part.
    fn fill(
        &mut self,
        ty: &Type,
        path: &[u64],
        items: &mut Items<'_>,
        braced: bool,
        parts: &mut Vec<Initial>,
    ) -> Res<u64> {
        let union = match plain(ty) {
            Type::Record(RecordId(id)) => self.unit.records.get(*id).is_some_and(|record| record.union),
            _ => false,
        };
        let (mut number, mut most) = (0, 0);
        let mut full = false;
        let start = items.next;
        while let Some(item) = items.peek() {
            if let Some(designator) = item.designation.get(items.followed) {
                // Without braces, only the item that led here is designated.
                if !braced && (items.next > start || items.followed == 0) {
                    break;
                }
                items.followed += 1;
                let (low, high) = self.designated(ty, designator)?;
                let inner = self.part(ty, *low.first().unwrap_or(&0));
                let Some(inner) = inner else {
                    return self.error(designator.span, "there is no such element");
                };
                let first = *low.first().unwrap_or(&0);
                number = self.designated_part(&inner, path, &low, high, items, parts)?.max(first) + 1;
                most = most.max(number);
                full = union;
                continue;
            }
            let inner = match full {
                true => None,
                false => self.part(ty, number),
            };
            let Some(inner) = inner else {
                if !braced {
                    break;
                }
                // More items than parts: gcc warns and drops them.
                items.advance();
                continue;
            };
            let mut inner_path = path.to_vec();
            inner_path.push(number);
            self.item(&inner, &inner_path, items, parts)?;
            number += 1;
            most = most.max(number);
            full = union;
        }
        Ok(most)
    }

    /// The way from an aggregate to what a designator names, and the last index of a range.
    fn designated(&mut self, ty: &Type, designator: &Node<Designator>) -> Res<(Vec<u64>, Option<u64>)> {
        match (&designator.node, plain(ty)) {
            (Designator::Member(name), Type::Record(id)) => match self.find_member(*id, &name.node.name) {
                Some(path) => Ok((path.into_iter().map(|number| number as u64).collect(), None)),
                None => {
                    self.error(name.span, format!("`{}` has no member `{}`", self.show(ty), name.node.name))
                }
            },
            (Designator::Index(index), Type::Array(..)) => {
                let at = self.index(index)?;
                Ok((vec![at], None))
            }
            (Designator::Range(range), Type::Array(..)) => {
                let (low, high) = (self.index(&range.node.from)?, self.index(&range.node.to)?);
                if high < low || high - low > MAX_RANGE {
                    return self.error(designator.span, "this range is empty or too long");
                }
                Ok((vec![low], Some(high)))
            }
            _ => self.error(designator.span, format!("a designator that does not fit `{}`", self.show(ty))),
        }
    }

    fn index(&mut self, node: &Node<Expression>) -> Res<u64> {
        match u64::try_from(self.constant(node)?) {
            Ok(index) if index < u64::MAX / 2 => Ok(index),
            _ => self.error(node.span, "an index that is negative or too large"),
        }
    }

    /// Fills what a designator names; gives the number of the last part that was filled.
    fn designated_part(
        &mut self,
        inner: &Type,
        path: &[u64],
        way: &[u64],
        high: Option<u64>,
        items: &mut Items<'_>,
        parts: &mut Vec<Initial>,
    ) -> Res<u64> {
        let first = *way.first().unwrap_or(&0);
        let mut target = inner.clone();
        let mut target_path = path.to_vec();
        target_path.push(first);
        for &number in way.iter().skip(1) {
            target = self.part(&target, number).unwrap_or(target);
            target_path.push(number);
        }
        let before = parts.len();
        let more = items.peek().is_some_and(|item| items.followed < item.designation.len());
        if more {
            self.fill(&target, &target_path, items, false, parts)?;
        } else {
            parts.retain(|part| !part.path.starts_with(&target_path));
            let before = parts.len();
            self.item(&target, &target_path, items, parts)?;
            let depth = path.len();
            if let Some(high) = high {
                let filled: Vec<Initial> = parts.get(before..).unwrap_or(&[]).to_vec();
                for number in first + 1..=high {
                    for part in &filled {
                        let mut copy = part.clone();
                        if let Some(slot) = copy.path.get_mut(depth) {
                            *slot = number;
                        }
                        parts.push(copy);
                    }
                }
                return Ok(high);
            }
            return Ok(first);
        }
        // What is filled anew replaces what was there.
        let fresh: Vec<Vec<u64>> =
            parts.get(before..).unwrap_or(&[]).iter().map(|part| part.path.clone()).collect();
        let mut number = 0;
        parts.retain(|part| {
            number += 1;
            number > before || !fresh.iter().any(|path| part.path.starts_with(path))
        });
        Ok(first)
    }

    /// Fills a part with the next item, or, if it is an aggregate without braces, with as many items as it needs.
    fn item(&mut self, ty: &Type, path: &[u64], items: &mut Items<'_>, parts: &mut Vec<Initial>) -> Res<()> {
        let Some(item) = items.peek() else { return Ok(()) };
        let expression = match &item.initializer.node {
            Initializer::List(inner) => {
                self.list(ty, path, inner, parts)?;
                items.advance();
                return Ok(());
            }
            Initializer::Expression(expression) => expression,
        };
        match plain(ty) {
            Type::Array(element, length) if self.string_fits(element, expression) => {
                let (_, values) = self.string_units(string_range(expression));
                for part in self.string_parts(element, &values, *length, expression.span) {
                    parts.push(Initial {
                        path: path.iter().copied().chain(part.path).collect(),
                        value: part.value,
                    });
                }
                items.advance();
            }
            Type::Array(..) => {
                items.followed = item.designation.len();
                self.fill(ty, path, items, false, parts)?;
            }
            Type::Record(_) => {
                if let Expression::CompoundLiteral(literal) = &expression.node
                    && self.type_name(&literal.node.type_name)? == *plain(ty)
                {
                    self.list(ty, path, &literal.node.initializer_list, parts)?;
                    items.advance();
                    return Ok(());
                }
                let value = match items.value.take() {
                    Some(value) => value,
                    None => self.value(expression)?,
                };
                if value.ty == *plain(ty) {
                    parts.push(Initial { path: path.to_vec(), value });
                    items.advance();
                } else {
                    items.value = Some(value);
                    items.followed = item.designation.len();
                    let before = items.next;
                    self.fill(ty, path, items, false, parts)?;
                    if items.next == before {
                        return self.error(
                            expression.span,
                            format!("a value that does not fit `{}`", self.show(ty)),
                        );
                    }
                }
            }
            _ => {
                let value = match items.value.take() {
                    Some(value) => value,
                    None => self.value(expression)?,
                };
                let value = self.convert(value, ty)?;
                parts.push(Initial { path: path.to_vec(), value });
                items.advance();
            }
        }
        Ok(())
    }
}

/// The place of a string literal.
fn string_range(expression: &Node<Expression>) -> Range {
    match &expression.node {
        Expression::StringLiteral(string) => string.span,
        _ => expression.span,
    }
}
