//! How operators without brackets bind, which the two dialects disagree about.
//!
//! From the loosest to the tightest, SATABS has `=>` `=` `!=`, then `^`, `|`, `&`; IJIT has `=>`, then `|`, `^`, `&`,
//! then `=` `!=`. In both, `?:` is looser than these and `!` is tighter.

/// An operator between its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Implies,
    Equal,
    Unequal,
    Xor,
    Or,
    And,
}

/// Who wrote the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    Satabs,
    Ijit,
}

/// The tightest level.
const TIGHTEST: u8 = 4;

impl Operator {
    /// The operator with this spelling.
    pub fn read(symbol: &str) -> Option<Operator> {
        Some(match symbol {
            "=>" => Operator::Implies,
            "=" | "==" => Operator::Equal,
            "!=" => Operator::Unequal,
            "^" => Operator::Xor,
            "|" | "||" => Operator::Or,
            "&" | "&&" => Operator::And,
            _ => return None,
        })
    }

    fn level(self, dialect: Dialect) -> u8 {
        match (dialect, self) {
            (_, Operator::Implies) | (Dialect::Satabs, Operator::Equal | Operator::Unequal) => 0,
            (Dialect::Satabs, Operator::Xor) | (Dialect::Ijit, Operator::Or) => 1,
            (Dialect::Satabs, Operator::Or) | (Dialect::Ijit, Operator::Xor) => 2,
            (_, Operator::And) => 3,
            (Dialect::Ijit, Operator::Equal | Operator::Unequal) => TIGHTEST,
        }
    }
}

/// Joins operands by the operators between them, given the number of the operator each time.
pub(super) fn fold<T>(
    operands: Vec<T>,
    operators: &[Operator],
    dialect: Dialect,
    join: &mut dyn FnMut(T, usize, T) -> T,
) -> Option<T> {
    fold_from(operands, operators, 0, 0, dialect, join)
}

/// The same for a part of a chain whose operators are numbered from `first`, none of them looser than `level`.
fn fold_from<T>(
    mut operands: Vec<T>,
    operators: &[Operator],
    first: usize,
    level: u8,
    dialect: Dialect,
    join: &mut dyn FnMut(T, usize, T) -> T,
) -> Option<T> {
    if operators.is_empty() || level > TIGHTEST {
        return operands.pop();
    }
    let joints: Vec<usize> =
        (0..operators.len()).filter(|&at| operators[at].level(dialect) == level).collect();
    let mut parts = Vec::with_capacity(joints.len() + 1);
    for &joint in joints.iter().rev() {
        let group = operands.split_off(joint + 1);
        let inside = &operators[joint + 1..joint + group.len()];
        parts.push(fold_from(group, inside, first + joint + 1, level + 1, dialect, join)?);
    }
    let inside = &operators[..operands.len() - 1];
    parts.push(fold_from(operands, inside, first, level + 1, dialect, join)?);
    parts.reverse();
    let implications = joints.iter().filter(|&&joint| operators[joint] == Operator::Implies).count();
    let numbers = joints.iter().map(|joint| first + joint);
    if implications == 0 {
        return balanced(parts, numbers.collect(), join);
    }
    if implications == joints.len() {
        // To the right, as everywhere in logic.
        let last = parts.pop()?;
        let rest = parts.into_iter().zip(numbers).rev();
        return Some(rest.fold(last, |right, (left, number)| join(left, number, right)));
    }
    let mut parts = parts.into_iter();
    let leftmost = parts.next()?;
    Some(parts.zip(numbers).fold(leftmost, |left, (right, number)| join(left, number, right)))
}

/// Joins by operators that may be grouped at will, so that a long chain is not a deep tree. That holds for each of
/// `&`, `|`, `^`, and for `=` and `!=` even together.
fn balanced<T>(
    mut parts: Vec<T>,
    mut numbers: Vec<usize>,
    join: &mut dyn FnMut(T, usize, T) -> T,
) -> Option<T> {
    while !numbers.is_empty() {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut between = Vec::with_capacity(numbers.len() / 2);
        let mut number = numbers.into_iter();
        let mut part = parts.into_iter();
        while let Some(left) = part.next() {
            joined.push(match (part.next(), number.next()) {
                (Some(right), Some(here)) => join(left, here, right),
                _ => left,
            });
            between.extend(number.next());
        }
        (parts, numbers) = (joined, between);
    }
    parts.pop()
}

/// Whether both dialects read a chain of operators alike.
pub(super) fn agree(operators: &[Operator]) -> bool {
    // Each operator joins a range of operands, and these ranges tell trees apart.
    let ranges = |dialect| {
        let mut ranges = vec![(0, 0); operators.len()];
        let operands = (0..=operators.len()).map(|operand| (operand, operand)).collect();
        fold(operands, operators, dialect, &mut |left: (usize, usize), number, right: (usize, usize)| {
            ranges[number] = (left.0, right.1);
            ranges[number]
        });
        ranges
    };
    operators.iter().all(|&operator| operator == operators[0])
        || ranges(Dialect::Satabs) == ranges(Dialect::Ijit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, dialect: Dialect) -> String {
        let (mut operands, mut operators) = (vec![], vec![]);
        for word in text.split(' ') {
            match Operator::read(word) {
                Some(operator) => operators.push(operator),
                None => operands.push(word.to_string()),
            }
        }
        let symbols: Vec<&str> = text.split(' ').skip(1).step_by(2).collect();
        let join = &mut |left, number: usize, right| format!("({left}{}{right})", symbols[number]);
        fold(operands, &operators, dialect, join).unwrap()
    }

    #[test]
    fn the_dialects_bind_differently() {
        let cases = [
            ("a", "a", "a"),
            ("a | b & c", "(a|(b&c))", "(a|(b&c))"),
            ("a = b & c", "(a=(b&c))", "((a=b)&c)"),
            ("a ^ b | c", "(a^(b|c))", "((a^b)|c)"),
            ("a & b = c | d ^ e", "((a&b)=((c|d)^e))", "((a&(b=c))|(d^e))"),
            ("a => b => c", "(a=>(b=>c))", "(a=>(b=>c))"),
            ("a => b = c", "((a=>b)=c)", "(a=>(b=c))"),
            ("a = b => c", "((a=b)=>c)", "((a=b)=>c)"),
            ("a & b & c & d & e", "(((a&b)&(c&d))&e)", "(((a&b)&(c&d))&e)"),
            ("a = b != c", "((a=b)!=c)", "((a=b)!=c)"),
        ];
        for (text, satabs, ijit) in cases {
            assert_eq!(show(text, Dialect::Satabs), satabs);
            assert_eq!(show(text, Dialect::Ijit), ijit);
            let operators: Vec<_> = text.split(' ').filter_map(Operator::read).collect();
            assert_eq!(agree(&operators), satabs == ijit, "{text}");
        }
    }
}
