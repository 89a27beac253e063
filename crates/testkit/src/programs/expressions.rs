//! Random programs: expressions.

use super::generate::{Generator, Mode, Type, Variable};
use super::statements::{Body, COUNTED};

impl Generator {
    /// A constant of a type.
    pub(super) fn constant_of(&mut self, ty: Type) -> String {
        match ty {
            Type::Bool => self.rng.bool().to_string(),
            Type::Int => self.rng.i64(0..=2).to_string(),
            Type::Range(0, 2) if self.enumeration && self.once_in(2) => format!("e{}", self.rng.i64(0..=2)),
            Type::Range(low, high) => self.rng.i64(low..=high).to_string(),
        }
    }

    /// The variables of some sort that can be used.
    pub(super) fn visible(&self, body: &Body, suits: impl Fn(&Variable) -> bool) -> Vec<Variable> {
        let all: Vec<&Variable> = self.shared.iter().chain(&body.locals).collect();
        let same = |one: &Variable, other: &Variable| one.name == other.name && one.member == other.member;
        let hidden = |index: usize| all[index + 1..].iter().any(|later| same(later, all[index]));
        let seen = (0..all.len()).filter(|&index| !hidden(index)).map(|index| all[index]);
        seen.filter(|variable| suits(variable)).cloned().collect()
    }

    /// What can be read, written as it is read.
    fn readable(&mut self, body: &Body, suits: impl Fn(&Variable) -> bool) -> Option<(String, Type)> {
        let all = self.visible(body, suits);
        let variable = self.pick(&all)?;
        Some((self.part(body, &variable), variable.ty))
    }

    /// A variable, or a part of one.
    pub(super) fn part(&mut self, body: &Body, variable: &Variable) -> String {
        let Some(length) = variable.length else { return variable.name.clone() };
        let index = self.index(body, length);
        let column = match variable.columns {
            // The second index makes no choices.
            Some(columns) => match self.index(body, columns) {
                index if index.contains('*') => "[0]".to_string(),
                index => format!("[{index}]"),
            },
            None => String::new(),
        };
        format!("{}[{index}]{column}{}", variable.name, variable.member)
    }

    /// An index of an array of this length.
    pub(super) fn index(&mut self, body: &Body, length: i64) -> String {
        if self.risky && self.once_in(4) {
            return self.number(body, 1);
        }
        if body.has_self && self.once_in(3) {
            return format!("self % {length}");
        }
        let fits = |variable: &Variable| {
            variable.length.is_none() && matches!(variable.ty, Type::Range(0, high) if high < length)
        };
        match self.readable(body, fits).filter(|_| self.rng.bool()) {
            Some((name, _)) => name,
            None => self.rng.i64(0..length).to_string(),
        }
    }

    /// A Boolean expression.
    pub(super) fn condition(&mut self, body: &Body, depth: usize) -> String {
        if depth > 0 && self.once_in(2) {
            return match self.rng.u8(0..7) {
                0 | 1 => format!("{} && {}", self.operand(body, depth - 1), self.operand(body, depth - 1)),
                2 | 3 => format!("{} || {}", self.operand(body, depth - 1), self.operand(body, depth - 1)),
                4 => format!("!{}", self.operand(body, depth - 1)),
                5 => {
                    let operator = if self.rng.bool() { "==" } else { "!=" };
                    format!("{} {operator} {}", self.operand(body, depth - 1), self.operand(body, depth - 1))
                }
                _ => format!(
                    "{} ? {} : {}",
                    self.operand(body, depth - 1),
                    self.operand(body, depth - 1),
                    self.operand(body, depth - 1)
                ),
            };
        }
        if self.mode == Mode::Short && depth > 0 && self.once_in(6) {
            return self.quantified(body, depth);
        }
        let numbers = body.has_self || !self.visible(body, |variable| variable.ty != Type::Bool).is_empty();
        if numbers && self.once_in(3) {
            let operators = ["==", "!=", "<", "<=", ">", ">="];
            let operator = operators[self.rng.usize(0..operators.len())];
            return format!("{} {operator} {}", self.number(body, 1), self.number(body, 0));
        }
        if !body.is_property() && self.once_in(10) {
            return "*".to_string();
        }
        match self.readable(body, |variable| variable.ty == Type::Bool) {
            Some((name, _)) if self.once_in(3) => format!("!{name}"),
            Some((name, _)) => name,
            None => self.rng.bool().to_string(),
        }
    }

    /// Something that is said of all values of a small range.
    fn quantified(&mut self, body: &Body, depth: usize) -> String {
        let (low, high) = (self.rng.i64(0..=1), self.rng.i64(1..=2));
        let name = format!("{COUNTED}q{depth}");
        let mut inside = body.clone();
        inside.locals.push(Variable::plain(name.clone(), Type::Range(low, high), None));
        let part = self.condition(&inside, depth - 1);
        match self.rng.u8(0..3) {
            0 => format!("forall {name} in {low}..{high}: {part}"),
            1 => format!("exists {name} in {low}..{high}: {part}"),
            _ => format!("(count {name} in {low}..{high}: {part}) >= {}", self.rng.i64(1..=2)),
        }
    }

    /// Something that is said of a local variable of threads.
    pub(super) fn said_of(&mut self, threads: &str, variable: &Variable) -> String {
        let index = variable.length.map_or(String::new(), |length| format!("[{}]", self.rng.i64(0..length)));
        let value = self.constant_of(variable.ty);
        let part = format!("k.{}{index} == {value}", variable.name);
        match self.rng.u8(0..3) {
            0 => format!("(forall k in {threads}: {part})"),
            1 => format!("(exists k in {threads}: {part})"),
            _ => format!("(count k in {threads}: {part}) >= {}", self.rng.i64(1..=2)),
        }
    }

    /// A Boolean expression that can stand beside any operator.
    pub(super) fn operand(&mut self, body: &Body, depth: usize) -> String {
        let text = self.condition(body, depth);
        if text.contains(' ') || text == "*" { format!("({text})") } else { text }
    }

    /// An expression that is a number.
    pub(super) fn number(&mut self, body: &Body, depth: usize) -> String {
        if depth > 0 && self.once_in(3) {
            let (left, right) = (self.number(body, depth - 1), self.number(body, depth - 1));
            return match self.rng.u8(0..8) {
                0 | 1 => format!("{left} + {right}"),
                2 => format!("{left} - {right}"),
                3 => format!("{left} * {right}"),
                4 if self.risky => format!("{left} / {right}"),
                4 | 5 => format!("{left} % 2"),
                6 => format!("(-{left})"),
                _ => format!("({} ? {left} : {right})", self.operand(body, 0)),
            };
        }
        if body.has_self && self.once_in(4) {
            return "self".to_string();
        }
        if self.channel.is_some() && self.once_in(6) {
            return "len(c)".to_string();
        }
        if let Some((name, _)) = self.constant.clone().filter(|_| self.once_in(4)) {
            return name;
        }
        match self.readable(body, |variable| variable.ty != Type::Bool) {
            Some((name, _)) if !self.once_in(4) => name,
            _ => self.rng.i64(0..=2).to_string(),
        }
    }

    /// An expression to be stored where a type is expected; most often its value fits.
    pub(super) fn fitting(&mut self, body: &Body, ty: Type) -> String {
        let (low, high) = match ty {
            Type::Bool => return self.condition(body, 2),
            Type::Int => return self.number(body, 1),
            Type::Range(low, high) => (low, high),
        };
        if self.risky && self.once_in(4) {
            return self.number(body, 1);
        }
        let fits = |variable: &Variable| matches!(variable.ty, Type::Range(least, most) if low <= least && most <= high);
        match self.readable(body, fits).filter(|_| self.rng.u8(0..3) > 0) {
            None => self.constant_of(ty),
            Some((name, Type::Range(0, _))) if low == 0 && self.rng.bool() => {
                format!("({name} + {}) % {}", self.rng.i64(1..=high.max(1)), high + 1)
            }
            Some((name, _)) if self.once_in(4) => {
                format!("{} ? {name} : {}", self.operand(body, 1), self.constant_of(ty))
            }
            Some((name, _)) => name,
        }
    }
}
