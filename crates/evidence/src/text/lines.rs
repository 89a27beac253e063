//! Texts cut into lines and words, and complaints with their place.

use allways_model::notation::NotAState;
use allways_model::program::Value;
use allways_model::pushdown::Pushdown;
use std::fmt;
use std::str::FromStr;

/// Why a text is not evidence for a system, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadEvidence {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// What was expected there.
    pub what: String,
}

impl fmt::Display for BadEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for BadEvidence {}

/// The lines that say something.
pub(crate) struct Lines<'t> {
    rest: Option<&'t str>,
    number: usize,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Lines<'t> {
        Lines { rest: Some(text), number: 0 }
    }

    /// The next one; it has at least one word.
    pub(crate) fn next(&mut self, expected: &str) -> Result<Line<'t>, BadEvidence> {
        while let Some(rest) = self.rest {
            let (text, rest) = rest.split_once('\n').map_or((rest, None), |(text, rest)| (text, Some(rest)));
            self.rest = rest;
            self.number += 1;
            let text = text.trim_end();
            if !text.is_empty() && !text.trim_start().starts_with('#') {
                return Ok(Line { number: self.number, text, word: 0, next: 0 });
            }
        }
        Err(BadEvidence {
            line: self.number.max(1),
            column: 1,
            what: format!("expected {expected}, found the end of the text: it seems cut short"),
        })
    }
}

/// One line, read word by word.
pub(crate) struct Line<'t> {
    number: usize,
    text: &'t str,
    /// Where the current word, or state, starts.
    word: usize,
    /// Where it ends.
    next: usize,
}

impl<'t> Line<'t> {
    pub(crate) fn rest(&self) -> &'t str {
        self.text[self.next..].trim_start()
    }

    pub(crate) fn word(&mut self, expected: &str) -> Result<&'t str, BadEvidence> {
        let rest = self.rest();
        let word = rest.split_whitespace().next().unwrap_or_default();
        self.word = self.text.len() - rest.len();
        self.next = self.word + word.len();
        if word.is_empty() { Err(self.expected(expected)) } else { Ok(word) }
    }

    /// A plain decimal number: no sign, which [`str::parse`] would accept.
    pub(crate) fn number<N: FromStr>(&mut self, expected: &str) -> Result<N, BadEvidence> {
        let word = self.word(expected)?;
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        word.parse().ok().filter(|_| digits).ok_or_else(|| self.expected(expected))
    }

    /// A value of a program.
    pub(crate) fn value(&mut self) -> Result<Value, BadEvidence> {
        let word = self.word("a value")?;
        word.parse().map_err(|_| self.expected("a value"))
    }

    /// A number directly followed by a colon.
    pub(crate) fn number_before_colon<N: FromStr>(&mut self, expected: &str) -> Result<N, BadEvidence> {
        let word = self.word(expected)?;
        let digits = word.strip_suffix(':').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse().ok());
        number.ok_or_else(|| self.expected(&format!("{expected}, and a colon")))
    }

    pub(crate) fn thread(&mut self, system: &dyn Pushdown) -> Result<usize, BadEvidence> {
        let expected = "the number of a thread, counted from 0";
        let thread = self.number(expected)?;
        if thread < system.threads() { Ok(thread) } else { Err(self.expected(expected)) }
    }

    /// The rest of the line, a state with as many stacks as there are threads.
    pub(crate) fn state(&mut self, system: &dyn Pushdown) -> Result<&'t str, BadEvidence> {
        let rest = self.rest();
        self.word = self.text.len() - rest.len();
        self.next = self.text.len();
        let threads = system.threads();
        let stacks = rest.find('|').map(|bar| rest[bar..].bytes().filter(|&byte| byte == b',').count() + 1);
        match stacks {
            None => Err(self.expected("a state such as `0|1,2`")),
            Some(stacks) if stacks != threads => {
                Err(self.expected(&format!("one stack for each of the {threads} threads, not {stacks}")))
            }
            Some(_) => Ok(rest),
        }
    }

    /// The number after `end`, which must be this one.
    pub(crate) fn count(&mut self, of: &str, found: usize) -> Result<(), BadEvidence> {
        let expected = format!("the number of {of}, here {found}");
        if self.number::<usize>(&expected)? != found {
            return Err(self.expected(&expected));
        }
        self.end()
    }

    pub(crate) fn end(&mut self) -> Result<(), BadEvidence> {
        if self.rest().is_empty() {
            return Ok(());
        }
        self.word("the end of the line")?;
        Err(self.expected("the end of the line"))
    }

    /// A complaint about the current word.
    pub(crate) fn expected(&self, expected: &str) -> BadEvidence {
        const LONG: usize = 20;
        let found = &self.text[self.word..self.next];
        let mut shown: String = found.chars().take(LONG).flat_map(char::escape_debug).collect();
        if found.chars().nth(LONG).is_some() {
            shown.push('…');
        }
        let what = match found {
            "" => format!("expected {expected}, found the end of the line"),
            _ => format!("expected {expected}, found `{shown}`"),
        };
        self.bad(self.word, what)
    }

    /// A complaint about the current word, which is a state.
    pub(crate) fn not_a_state(&self, fault: NotAState) -> BadEvidence {
        self.bad(self.word + fault.at, fault.what)
    }

    /// A complaint about the current word, in other words.
    pub(super) fn wrong(&self, what: String) -> BadEvidence {
        self.bad(self.word, what)
    }

    /// A complaint about the whole line.
    pub(crate) fn bad_here(&self, what: String) -> BadEvidence {
        self.bad(0, what)
    }

    /// A complaint about a place in the rest of the line, so many bytes into it.
    pub(crate) fn bad_after(&self, at: usize, what: String) -> BadEvidence {
        self.bad(self.text.len() - self.rest().len() + at, what)
    }

    fn bad(&self, at: usize, what: String) -> BadEvidence {
        // Lossy where the place is not at a character: a column that is off is better than a panic.
        let before =
            String::from_utf8_lossy(&self.text.as_bytes()[..at.min(self.text.len())]).chars().count();
        BadEvidence { line: self.number, column: before + 1, what }
    }
}
