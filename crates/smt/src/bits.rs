//! Formulas over bit-vectors, and a session with a solver for them.
//!
//! Terms live in a [`Bits`], each once: equal terms have equal numbers, and what is constant is computed at once. A term of
//! width 0 is a truth value, one of width `n` a row of `n` bits (up to 128). A [`Session`] tells a solver of a term when it is
//! first needed, once, and asks whether a list of truth values can be true together; lists that start alike share what the
//! solver has learnt about their start.
//!
//! Invariant: a term comes after its parts, so that numbers are an order in which terms can be told and computed.

use crate::process::{Process, Settings};
use crate::solver::{Answer, Failure};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// The number of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Bit(u32);

/// An operator on two rows of bits of one width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operator {
    /// The sum, without carry.
    Add,
    /// The difference.
    Sub,
    /// The lower half of the product.
    Mul,
    /// The quotient of signed numbers, rounding towards zero.
    Div,
    /// The remainder for that.
    Rem,
    /// Each bit of both.
    And,
    /// Each bit of either.
    Or,
    /// Each bit of one alone.
    Xor,
    /// To the left, by the second.
    Shl,
    /// To the right, by the second, keeping the sign.
    Shr,
    /// Equality: a truth value.
    Equal,
    /// Less, as signed numbers: a truth value.
    Less,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Constant(u128),
    Variable,
    Apply(Operator, Bit, Bit),
    /// The lowest bits, as many as the width.
    Low(Bit),
    /// More bits, all 0.
    Zeros(Bit),
    /// More bits, all like the sign.
    Signs(Bit),
    Choice(Bit, Bit, Bit),
    Not(Bit),
    Both(Bit, Bit),
}

/// Terms.
#[derive(Default)]
pub struct Bits {
    nodes: Vec<(Node, u32)>,
    numbers: HashMap<(Node, u32), Bit>,
}

fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The signed number that a row of bits is.
pub fn signed(value: u128, width: u32) -> i128 {
    let unused = 128 - width.clamp(1, 128);
    ((value << unused) as i128) >> unused
}

impl Bits {
    fn add(&mut self, node: Node, width: u32) -> Bit {
        if let (Some(&known), false) = (self.numbers.get(&(node, width)), node == Node::Variable) {
            return known;
        }
        let bit = Bit(self.nodes.len() as u32);
        self.nodes.push((node, width));
        self.numbers.insert((node, width), bit);
        bit
    }

    fn node(&self, bit: Bit) -> Node {
        self.nodes[bit.0 as usize].0
    }

    /// How many bits a term has; 0 if it is a truth value.
    pub fn width(&self, bit: Bit) -> u32 {
        self.nodes[bit.0 as usize].1
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A new variable.
    pub fn variable(&mut self, width: u32) -> Bit {
        self.add(Node::Variable, width)
    }

    /// A number, cut to the width.
    pub fn number(&mut self, value: i128, width: u32) -> Bit {
        self.add(Node::Constant(value as u128 & mask(width)), width)
    }

    /// False or true.
    pub fn truth(&mut self, value: bool) -> Bit {
        self.add(Node::Constant(value.into()), 0)
    }

    /// The value of a term that is constant.
    pub fn constant(&self, bit: Bit) -> Option<u128> {
        if let Node::Constant(value) = self.node(bit) { Some(value) } else { None }
    }

    /// The truth value of a term that is constant.
    pub fn known(&self, bit: Bit) -> Option<bool> {
        self.constant(bit).map(|value| value != 0)
    }

    /// An operator.
    pub fn apply(&mut self, operator: Operator, left: Bit, right: Bit) -> Bit {
        let width = self.width(left);
        let result = if matches!(operator, Operator::Equal | Operator::Less) { 0 } else { width };
        if let (Some(one), Some(other)) = (self.constant(left), self.constant(right)) {
            return self.add(Node::Constant(compute(operator, one, other, width)), result);
        }
        match (operator, self.constant(right)) {
            (Operator::Equal, _) if left == right => return self.truth(true),
            (Operator::Less, _) if left == right => return self.truth(false),
            (
                Operator::Add | Operator::Sub | Operator::Or | Operator::Xor | Operator::Shl | Operator::Shr,
                Some(0),
            ) => {
                return left;
            }
            (Operator::Mul, Some(1)) => return left,
            (Operator::Mul | Operator::And, Some(0)) => return right,
            _ => {}
        }
        self.add(Node::Apply(operator, left, right), result)
    }

    /// The lowest bits.
    pub fn low(&mut self, bit: Bit, width: u32) -> Bit {
        match self.node(bit) {
            _ if width >= self.width(bit) => bit,
            Node::Constant(value) => self.add(Node::Constant(value & mask(width)), width),
            Node::Low(part) => self.low(part, width),
            Node::Zeros(part) | Node::Signs(part) if self.width(part) >= width => self.low(part, width),
            Node::Zeros(part) => self.zeros(part, width),
            Node::Signs(part) => self.signs(part, width),
            _ => self.add(Node::Low(bit), width),
        }
    }

    /// More bits, all 0.
    pub fn zeros(&mut self, bit: Bit, width: u32) -> Bit {
        match self.node(bit) {
            _ if width <= self.width(bit) => bit,
            Node::Constant(value) => self.add(Node::Constant(value), width),
            Node::Zeros(part) => self.zeros(part, width),
            _ => self.add(Node::Zeros(bit), width),
        }
    }

    /// More bits, all like the sign.
    pub fn signs(&mut self, bit: Bit, width: u32) -> Bit {
        let own = self.width(bit);
        match self.node(bit) {
            _ if width <= own => bit,
            Node::Constant(value) => self.number(signed(value, own), width),
            // Whatever has zeros before it has no sign.
            Node::Zeros(part) => self.zeros(part, width),
            Node::Signs(part) => self.signs(part, width),
            _ => self.add(Node::Signs(bit), width),
        }
    }

    /// As many bits as given, of the same signed number if it fits.
    pub fn resize(&mut self, bit: Bit, width: u32) -> Bit {
        if width < self.width(bit) { self.low(bit, width) } else { self.signs(bit, width) }
    }

    /// One of two terms of one width.
    pub fn choice(&mut self, condition: Bit, then: Bit, other: Bit) -> Bit {
        match self.known(condition) {
            Some(true) => return then,
            Some(false) => return other,
            None if then == other => return then,
            None => {}
        }
        let width = self.width(then);
        if width == 0 {
            // As "both" and "not", so that truth values have one form.
            let no = self.not(condition);
            let (yes, no) = (self.both(condition, then), self.both(no, other));
            return self.either(yes, no);
        }
        if let Node::Not(inner) = self.node(condition) {
            return self.choice(inner, other, then);
        }
        self.add(Node::Choice(condition, then, other), width)
    }

    /// The condition of a choice between the numbers 1 and 0.
    pub fn chosen(&self, bit: Bit) -> Option<Bit> {
        match self.node(bit) {
            Node::Choice(condition, one, zero)
                if self.constant(one) == Some(1) && self.constant(zero) == Some(0) =>
            {
                Some(condition)
            }
            _ => None,
        }
    }

    /// Negation.
    pub fn not(&mut self, bit: Bit) -> Bit {
        match self.node(bit) {
            Node::Constant(value) => self.truth(value == 0),
            Node::Not(inner) => inner,
            _ => self.add(Node::Not(bit), 0),
        }
    }

    /// Both are true.
    pub fn both(&mut self, one: Bit, other: Bit) -> Bit {
        match (self.known(one), self.known(other)) {
            (Some(false), _) | (_, Some(true)) => one,
            (Some(true), _) | (_, Some(false)) => other,
            _ if one == other => one,
            _ if self.node(one) == Node::Not(other) || self.node(other) == Node::Not(one) => {
                self.truth(false)
            }
            _ => self.add(Node::Both(one.min(other), one.max(other)), 0),
        }
    }

    /// One of them is true.
    pub fn either(&mut self, one: Bit, other: Bit) -> Bit {
        let (one, other) = (self.not(one), self.not(other));
        let neither = self.both(one, other);
        self.not(neither)
    }

    /// Equality.
    pub fn equal(&mut self, one: Bit, other: Bit) -> Bit {
        self.apply(Operator::Equal, one, other)
    }

    /// The parts of a term.
    fn parts(&self, bit: Bit) -> [Option<Bit>; 3] {
        match self.node(bit) {
            Node::Constant(_) | Node::Variable => [None; 3],
            Node::Apply(_, one, other) | Node::Both(one, other) => [Some(one), Some(other), None],
            Node::Low(part) | Node::Zeros(part) | Node::Signs(part) | Node::Not(part) => {
                [Some(part), None, None]
            }
            Node::Choice(one, two, three) => [Some(one), Some(two), Some(three)],
        }
    }

    /// The variables of a term.
    pub fn variables(&self, bit: Bit) -> Vec<Bit> {
        let (mut seen, mut todo, mut variables) = (HashSet::from([bit]), vec![bit], Vec::new());
        while let Some(next) = todo.pop() {
            if self.node(next) == Node::Variable {
                variables.push(next);
            }
            todo.extend(self.parts(next).into_iter().flatten().filter(|part| seen.insert(*part)));
        }
        variables
    }

    /// A term as SMT-LIB 2 writes it, its parts by their names.
    fn written(&self, bit: Bit) -> String {
        let (node, width) = self.nodes[bit.0 as usize];
        let name = |bit: Bit| match self.nodes[bit.0 as usize] {
            (Node::Constant(value), 0) => (value != 0).to_string(),
            (Node::Constant(value), width) => format!("(_ bv{value} {width})"),
            _ => format!("t{}", bit.0),
        };
        match node {
            Node::Constant(_) | Node::Variable => name(bit),
            Node::Apply(operator, one, other) => {
                let word = match operator {
                    Operator::Add => "bvadd",
                    Operator::Sub => "bvsub",
                    Operator::Mul => "bvmul",
                    Operator::Div => "bvsdiv",
                    Operator::Rem => "bvsrem",
                    Operator::And => "bvand",
                    Operator::Or => "bvor",
                    Operator::Xor => "bvxor",
                    Operator::Shl => "bvshl",
                    Operator::Shr => "bvashr",
                    Operator::Equal => "=",
                    Operator::Less => "bvslt",
                };
                format!("({word} {} {})", name(one), name(other))
            }
            Node::Low(part) => format!("((_ extract {} 0) {})", width - 1, name(part)),
            Node::Zeros(part) => format!("((_ zero_extend {}) {})", width - self.width(part), name(part)),
            Node::Signs(part) => format!("((_ sign_extend {}) {})", width - self.width(part), name(part)),
            Node::Choice(one, two, three) => format!("(ite {} {} {})", name(one), name(two), name(three)),
            Node::Not(part) => format!("(not {})", name(part)),
            Node::Both(one, other) => format!("(and {} {})", name(one), name(other)),
        }
    }
}

/// What an operator gives, of rows of bits that are known. Division by zero is as in SMT-LIB.
fn compute(operator: Operator, one: u128, other: u128, width: u32) -> u128 {
    let (left, right) = (signed(one, width), signed(other, width));
    let value = match operator {
        Operator::Add => one.wrapping_add(other),
        Operator::Sub => one.wrapping_sub(other),
        Operator::Mul => one.wrapping_mul(other),
        Operator::Div if right == 0 => {
            if left < 0 {
                1
            } else {
                u128::MAX
            }
        }
        Operator::Div => left.wrapping_div(right) as u128,
        Operator::Rem if right == 0 => one,
        Operator::Rem => left.wrapping_rem(right) as u128,
        Operator::And => one & other,
        Operator::Or => one | other,
        Operator::Xor => one ^ other,
        Operator::Shl => {
            if other >= u128::from(width) {
                0
            } else {
                one << other
            }
        }
        Operator::Shr => (left >> other.min(127)) as u128,
        Operator::Equal => return (one == other).into(),
        Operator::Less => return (left < right).into(),
    };
    value & mask(width)
}

/// Values of variables, and through them of all terms. Variables that have none are 0.
#[derive(Clone, Default)]
pub struct Example {
    variables: HashMap<Bit, u128>,
    /// What was computed, by the number of the term.
    values: Vec<Option<u128>>,
}

impl Example {
    /// The value of a term.
    pub fn value(&mut self, bits: &Bits, bit: Bit) -> u128 {
        self.values.resize(self.values.len().max(bit.0 as usize + 1), None);
        let mut todo = vec![bit];
        while let Some(&next) = todo.last() {
            if self.values[next.0 as usize].is_some() {
                todo.pop();
                continue;
            }
            let before = todo.len();
            todo.extend(
                bits.parts(next).into_iter().flatten().filter(|part| self.values[part.0 as usize].is_none()),
            );
            if todo.len() == before {
                self.values[next.0 as usize] = Some(self.compute(bits, next));
                todo.pop();
            }
        }
        self.values[bit.0 as usize].unwrap_or_default()
    }

    fn compute(&self, bits: &Bits, bit: Bit) -> u128 {
        let (node, width) = bits.nodes[bit.0 as usize];
        let value = |part: Bit| self.values[part.0 as usize].unwrap_or_default();
        match node {
            Node::Constant(value) => value,
            Node::Variable => self.variables.get(&bit).copied().unwrap_or_default(),
            Node::Apply(operator, one, other) => compute(operator, value(one), value(other), bits.width(one)),
            Node::Low(part) => value(part) & mask(width),
            Node::Zeros(part) => value(part),
            Node::Signs(part) => signed(value(part), bits.width(part)) as u128 & mask(width),
            Node::Choice(condition, then, other) => value(if value(condition) != 0 { then } else { other }),
            Node::Not(part) => u128::from(value(part) == 0),
            Node::Both(one, other) => value(one) & value(other),
        }
    }

    /// Gives a variable a value.
    pub fn give(&mut self, variable: Bit, value: u128) {
        if self.variables.insert(variable, value).unwrap_or_default() != value {
            self.values.clear();
        }
    }
}

/// A solver that knows some terms, and has a list of them asserted.
pub struct Session<'s> {
    process: Process<'s>,
    /// For each term, whether the solver knows it.
    told: Vec<bool>,
    asserted: Vec<Bit>,
    variables: Vec<Bit>,
    is_z3: bool,
    /// How many questions were asked.
    pub asked: u64,
}

impl<'s> Session<'s> {
    /// Starts a solver.
    pub fn start(settings: &Settings, stop: &'s dyn Fn() -> bool) -> Result<Session<'s>, Failure> {
        let process = Process::start_for(settings, "QF_BV", stop)?;
        let (told, asserted, variables) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Session { process, told, asserted, variables, is_z3: settings.is_z3(), asked: 0 })
    }

    /// How long the solver may think about one question from now on. Only z3 can be told.
    pub fn think(&mut self, limit: Duration) -> Result<(), Failure> {
        if !self.is_z3 {
            return Ok(());
        }
        self.process.tell(&format!("(set-option :timeout {})", limit.as_millis()))
    }

    fn tell(&mut self, bits: &Bits, bit: Bit) -> Result<(), Failure> {
        self.told.resize(bits.len(), false);
        let mut todo = vec![bit];
        while let Some(&next) = todo.last() {
            if self.told[next.0 as usize] || bits.constant(next).is_some() {
                todo.pop();
                continue;
            }
            let before = todo.len();
            let parts = bits.parts(next).into_iter().flatten();
            todo.extend(parts.filter(|part| !self.told[part.0 as usize] && bits.constant(*part).is_none()));
            if todo.len() > before {
                continue;
            }
            let sort = match bits.width(next) {
                0 => "Bool".to_string(),
                width => format!("(_ BitVec {width})"),
            };
            if bits.node(next) == Node::Variable {
                self.variables.push(next);
                self.process.tell(&format!("(declare-const t{} {sort})", next.0))?;
            } else {
                let written = bits.written(next);
                self.process.tell(&format!("(define-fun t{} () {sort} {written})", next.0))?;
            }
            self.told[next.0 as usize] = true;
            todo.pop();
        }
        Ok(())
    }

    /// An example in which all of these are true; none if there is none, and [`Answer::Unknown`] if the solver does not know.
    pub fn example(&mut self, bits: &Bits, conditions: &[Bit]) -> Result<Result<Example, Answer>, Failure> {
        let common = self.asserted.iter().zip(conditions).take_while(|(one, other)| one == other).count();
        if self.asserted.len() > common {
            self.process.tell(&format!("(pop {})", self.asserted.len() - common))?;
            self.asserted.truncate(common);
        }
        for &condition in &conditions[common..] {
            self.tell(bits, condition)?;
            let written = match bits.known(condition) {
                Some(value) => value.to_string(),
                None => format!("t{}", condition.0),
            };
            self.process.tell(&format!("(push 1)\n(assert {written})"))?;
            self.asserted.push(condition);
        }
        self.asked += 1;
        match self.process.satisfiable()? {
            Answer::Sat => {}
            other => return Ok(Err(other)),
        }
        let names: Vec<String> = self.variables.iter().map(|variable| format!("t{}", variable.0)).collect();
        let values = self.process.values_of(&names)?;
        let mut example = Example::default();
        for (&variable, value) in self.variables.iter().zip(&values) {
            let number = match (value.strip_prefix("#x"), value.strip_prefix("#b"), value.as_str()) {
                (Some(digits), _, _) => u128::from_str_radix(digits, 16).ok(),
                (_, Some(digits), _) => u128::from_str_radix(digits, 2).ok(),
                (_, _, "true") => Some(1),
                (_, _, "false") => Some(0),
                _ => None,
            };
            let number = number.ok_or_else(|| Failure::Broken(format!("`{value}` is no row of bits")))?;
            example.give(variable, number);
        }
        Ok(Ok(example))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the solver finds is true by our own computation, which was written from the definitions of SMT-LIB.
    #[test]
    fn examples_are_examples() {
        let Ok(mut session) = Session::start(&Settings::default(), &|| false) else {
            println!("skipped, because there is no z3");
            return;
        };
        let operators = [
            Operator::Add,
            Operator::Sub,
            Operator::Mul,
            Operator::Div,
            Operator::Rem,
            Operator::And,
            Operator::Or,
            Operator::Xor,
            Operator::Shl,
            Operator::Shr,
        ];
        let mut bits = Bits::default();
        for operator in operators {
            for goal in [0, 1, 5, 9, 15] {
                let (left, right) = (bits.variable(4), bits.variable(4));
                let result = bits.apply(operator, left, right);
                let wanted = bits.number(goal, 4);
                let found = bits.equal(result, wanted);
                let possible =
                    (0..256).any(|pair| compute(operator, pair & 15, pair >> 4, 4) == goal as u128);
                match session.example(&bits, &[found]).expect("it answers") {
                    Ok(mut example) => {
                        assert!(possible && example.value(&bits, found) == 1, "{operator:?} {goal}");
                        assert_eq!(example.value(&bits, result), goal as u128);
                    }
                    Err(answer) => assert!(answer == Answer::Unsat && !possible, "{operator:?} {goal}"),
                }
            }
        }
    }

    #[test]
    fn a_list_that_changes_is_asked_anew() {
        let Ok(mut session) = Session::start(&Settings::default(), &|| false) else {
            println!("skipped, because there is no z3");
            return;
        };
        let mut bits = Bits::default();
        let x = bits.variable(8);
        let small = bits.number(5, 8);
        let (less, same) = (bits.apply(Operator::Less, x, small), bits.equal(x, small));
        let more = bits.apply(Operator::Less, small, x);
        for (list, possible) in [
            (vec![less], true),
            (vec![less, same], false),
            (vec![less, more], false),
            (vec![more], true),
            (vec![], true),
        ] {
            assert_eq!(session.example(&bits, &list).expect("it answers").is_ok(), possible, "{list:?}");
        }
    }
}
