//! Formulas as text: the part of SMT-LIB 2 that [`Term`] writes, and a little more.
//!
//! The text may be hostile: nesting is bounded, sorts are checked, and numbers that do not fit are refused.

use crate::function::Function;
use crate::term::Term;

/// How deep terms may be nested.
const DEEPEST: usize = 100;

/// Where a text is no term, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadTerm {
    /// How many bytes into the text.
    pub at: usize,
    /// What was expected.
    pub what: String,
}

/// Reads a term. Variables are looked up by the function, which says what stands for a name, if anything.
pub fn read_term(text: &str, variable: &dyn Fn(&str) -> Option<Term>) -> Result<Term, BadTerm> {
    let mut reader = Reader { text, at: 0, variable };
    let term = reader.term(0)?;
    reader.space();
    match reader.at == text.len() {
        true => Ok(term),
        false => Err(reader.bad("the end of the formula")),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    variable: &'t dyn Fn(&str) -> Option<Term>,
}

impl Reader<'_> {
    fn bad(&self, expected: &str) -> BadTerm {
        BadTerm { at: self.at, what: format!("expected {expected}") }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, character: char) -> bool {
        self.space();
        let found = self.rest().starts_with(character);
        self.at += if found { character.len_utf8() } else { 0 };
        found
    }

    /// A word, or a name between bars; the latter without them, and so said.
    fn word(&mut self) -> Result<(&str, bool), BadTerm> {
        self.space();
        if let Some(inside) = self.rest().strip_prefix('|') {
            let length = inside.find('|').ok_or_else(|| self.bad("a name that ends with |"))?;
            let start = self.at + 1;
            self.at = start + length + 1;
            return Ok((&self.text[start..start + length], true));
        }
        let length =
            self.rest().find(|c: char| c.is_whitespace() || "()|".contains(c)).unwrap_or(self.rest().len());
        if length == 0 {
            return Err(self.bad("a word"));
        }
        let start = self.at;
        self.at += length;
        Ok((&self.text[start..self.at], false))
    }

    fn term(&mut self, depth: usize) -> Result<Term, BadTerm> {
        if depth > DEEPEST {
            return Err(self.bad("less nesting"));
        }
        self.space();
        let start = self.at;
        if !self.eat('(') {
            let (word, quoted) = self.word()?;
            let word = word.to_string();
            return self.atom(&word, quoted, start);
        }
        let operator = self.word()?.0.to_string();
        let mut parts = Vec::new();
        while !self.eat(')') {
            if self.at == self.text.len() {
                return Err(self.bad("`)`"));
            }
            parts.push(self.term(depth + 1)?);
        }
        let end = std::mem::replace(&mut self.at, start);
        let term = self.apply(&operator, &parts)?;
        self.at = end;
        Ok(term)
    }

    fn atom(&mut self, word: &str, quoted: bool, start: usize) -> Result<Term, BadTerm> {
        let end = std::mem::replace(&mut self.at, start);
        let term = match word {
            "true" | "false" if !quoted => Term::truth(word == "true"),
            _ if !quoted && word.starts_with(|c: char| c.is_ascii_digit()) => {
                Term::number(word.parse::<i128>().map_err(|_| self.bad("a number of up to 38 digits"))?)
            }
            _ => {
                (self.variable)(word).ok_or_else(|| self.bad("the name of a variable that is known here"))?
            }
        };
        self.at = end;
        Ok(term)
    }

    fn apply(&self, operator: &str, parts: &[Term]) -> Result<Term, BadTerm> {
        let boolean = matches!(operator, "and" | "or" | "not");
        let first_only = operator == "ite";
        for (index, part) in parts.iter().enumerate() {
            if part.is_boolean() != (boolean || (first_only && index == 0)) {
                return Err(self.bad(&format!("`{}` with operands of the right sort", shown(operator))));
            }
        }
        let positive = |term: &Term| term.as_number().filter(|&number| number > 0);
        Ok(match (operator, parts) {
            ("and", parts) => Term::and(parts.iter().cloned()),
            ("or", parts) => Term::or(parts.iter().cloned()),
            ("not", [part]) => part.negation(),
            ("=", [left, right]) => left.equal(right),
            ("<=", [left, right]) => left.at_most(right),
            (">=", [left, right]) => right.at_most(left),
            ("<", [left, right]) => left.less(right),
            (">", [left, right]) => right.less(left),
            ("+", [left, right]) => left.plus(right),
            ("+", [_, _, ..]) => Term::sum(parts.iter().cloned()),
            ("-", [part]) => part.times(-1),
            ("-", [left, right]) => left.minus(right),
            ("*", [factor, part]) | ("*", [part, factor]) if factor.as_number().is_some() => {
                part.times(factor.as_number().unwrap_or_default())
            }
            ("div", [part, divisor]) if positive(divisor).is_some() => {
                part.quotient(positive(divisor).unwrap_or(1))
            }
            ("mod", [part, divisor]) if positive(divisor).is_some() => {
                part.remainder(positive(divisor).unwrap_or(1))
            }
            (name, [left, right]) if Function::named(name).is_some() => {
                Term::of(Function::named(name).unwrap_or(Function::Product), left, right)
            }
            ("ite", [condition, then, other]) => Term::choice(condition, then, other),
            _ => {
                return Err(self.bad(&format!(
                    "a formula, found `{}` with {} operands",
                    shown(operator),
                    parts.len()
                )));
            }
        })
    }
}

/// A word of the text for a message.
fn shown(word: &str) -> String {
    word.chars().take(40).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Term, BadTerm> {
        read_term(text, &|name| ["x", "y", "a[0]"].contains(&name).then(|| Term::variable(name)))
    }

    #[test]
    fn what_is_written_is_read() {
        for text in [
            "(and (<= |x| |y|) (not (= |x| (+ |y| (- 3)))))",
            "(or (= (mod |x| 2) 0) (<= (div (* (- 2) |a[0]|) 5) (ite (= |x| 0) 1 |y|)))",
            "(= (<product> |x| |y|) (<shr> |a[0]| |x|))",
            "false",
        ] {
            assert_eq!(read(text).expect(text).to_string(), text);
        }
        assert_eq!(read("(> x 3)").expect("plain names"), read("(not (<= x 3))").expect("the same"));
    }

    #[test]
    fn hostile_texts_are_refused() {
        let deep = format!("{}true{}", "(not ".repeat(5000), ")".repeat(5000));
        let texts = [
            "",
            "(",
            ")",
            "(and",
            "x y",
            "z",
            "(+ x true)",
            "(and x)",
            "(not x)",
            "(* x y)",
            "(div x 0)",
            "(mod x y)",
            "(ite x 1 2)",
            "|x",
            "(= x)",
            "(- x y x)",
            "99999999999999999999999999999999999999999",
            "(foo x)",
            "(<= x",
            "()",
            "12ab",
            deep.as_str(),
        ];
        for text in texts {
            assert!(read(text).is_err(), "{}", &text[..text.len().min(60)]);
        }
    }
}
