//! Invariants and ghost variables that are stated beside a program: those of a witness.
//!
//! The text of the program stays as it is. When `sema` comes to the statement at a place, it reads the expressions that are stated there,
//! in the scope of that place, and puts calls of functions before and after the statement that no program can name; where `lower`
//! comes to these calls, it makes one step that asserts the invariant, or lets the last step of the statement change the ghost
//! variables. So nothing that is stated can change what the program does: expressions with effects are refused, and ghost variables are in
//! no scope of the program.
//!
//! A place is a line and a column of the file. The preprocessor changes columns, and tokens that it left alone are found again: those
//! up to the first one of the line that is another one.
//!
//! Invariant: whatever is stated is either done or [`Unplaced`].

use crate::lexer::{Kind, Lexed, Token, lex};
use crate::source::LineMap;
use crate::typed::Span;
use std::collections::{BTreeMap, HashMap};

/// Asserts an invariant: its number, and what holds.
pub(crate) const INVARIANT: &str = "#invariant";

/// Stands before a statement with ghost updates.
pub(crate) const BEFORE: &str = "#before";

/// Ghost updates: the number of the first one, and assignments.
pub(crate) const UPDATE: &str = "#update";

/// A longer expression is not read.
const LONGEST: usize = 1 << 16;

/// A place in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1; if there is none, the leftmost place that fits.
    pub column: Option<u32>,
}

/// What holds at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    /// Where a statement or a declaration starts.
    pub place: Place,
    /// Whether it holds whenever the condition of the loop there is evaluated, not before the statement.
    pub is_loop: bool,
    /// An expression of C.
    pub holds: String,
}

/// A ghost variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ghost {
    /// Its name.
    pub name: String,
    /// Its type: one of integers.
    pub ty: String,
    /// Its initial value: a constant expression.
    pub initial: String,
}

/// What ghost variables get when control leaves a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Update {
    /// Where the statement starts.
    pub place: Place,
    /// The names of ghost variables and expressions, one after the other.
    pub values: Vec<(String, String)>,
}

/// All that is stated beside a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Instrumentation {
    /// Ghost variables.
    pub ghosts: Vec<Ghost>,
    /// How they change.
    pub updates: Vec<Update>,
    /// Invariants.
    pub invariants: Vec<Invariant>,
}

/// One thing that is stated, by its number among its kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Item {
    /// A ghost variable.
    Ghost(usize),
    /// What ghost variables get at a place.
    Update(usize),
    /// An invariant.
    Invariant(usize),
}

/// Something that is stated and was not put into the program as it is meant, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unplaced {
    /// What.
    pub item: Item,
    /// Why.
    pub why: String,
    /// Whether it is there, and says more than it perhaps means: it holds if it does there, and may hold if it does not.
    pub is_stronger: bool,
}

/// The span of an invariant: where its statement starts, and how far from there it ends is its number. No span of a program is in column
/// 0.
pub(crate) fn mark(span: Span, number: usize) -> Span {
    Span { end: span.start.saturating_add(number as u32), column: 0, ..span }
}

/// The number of the invariant to which a span belongs, if it is that of one.
pub fn marked(span: Span) -> Option<usize> {
    (span.column == 0 && span.line > 0).then(|| (span.end - span.start) as usize)
}

/// The words of an expression. Anything that is not a part of one is refused.
pub(crate) fn words(text: &str) -> Result<Vec<String>, String> {
    const SIGNS: [&[u8]; 29] = [
        b"(", b")", b"[", b"]", b".", b"->", b"!", b"~", b"+", b"-", b"*", b"/", b"%", b"&", b"|", b"^",
        b"<<", b">>", b"<", b">", b"<=", b">=", b"==", b"!=", b"&&", b"||", b"?", b":", b",",
    ];
    if text.len() > LONGEST {
        return Err("the expression is too long".to_string());
    }
    let lexed = lex(text.as_bytes());
    if lexed.text != text.as_bytes() {
        return Err("a comment or a directive is no part of an expression".to_string());
    }
    let (mut words, mut open) = (Vec::new(), Vec::new());
    for &token in &lexed.tokens {
        let spelling = lexed.spelling(token);
        let shown = String::from_utf8_lossy(spelling).into_owned();
        let is_closed = match spelling {
            b"(" | b"[" => {
                open.push(spelling);
                true
            }
            b")" => open.pop() == Some(b"("),
            b"]" => open.pop() == Some(b"["),
            _ => true,
        };
        let known = match token.kind {
            Kind::Word => !matches!(spelling, b"__attribute__" | b"__attribute" | b"__extension__"),
            Kind::Number => true,
            // Its end may be missing.
            Kind::Char => {
                spelling.ends_with(b"'") && spelling.iter().filter(|&&byte| byte == b'\'').count() > 1
            }
            Kind::Str => false,
            Kind::Sign => SIGNS.contains(&spelling),
        };
        if !known {
            return Err(format!("`{shown}` is not read in an expression of a witness"));
        }
        if !is_closed {
            return Err(format!("`{shown}` closes nothing"));
        }
        if token.kind == Kind::Word {
            words.push(shown);
        }
    }
    match (open.is_empty(), lexed.tokens.is_empty()) {
        (true, false) => Ok(words),
        (true, true) => Err("there is no expression".to_string()),
        (false, _) => Err("a bracket is not closed".to_string()),
    }
}

/// Where something is stated, in a preprocessed text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Places {
    /// What is stated about the token that starts at a byte.
    tokens: HashMap<usize, Vec<Item>>,
    /// The lines of tokens on lines about which something is stated.
    lines: HashMap<usize, u32>,
    /// What is stated about the first statement, or the first loop, on a line.
    firsts: HashMap<(u32, bool), Vec<Item>>,
}

impl Places {
    /// Finds the places; `source` is the text of the file.
    pub(crate) fn of(given: &Instrumentation, text: &[u8], map: &LineMap, source: &[u8]) -> Places {
        let updates = given.updates.iter().enumerate();
        let updates = updates.map(|(number, update)| (update.place, false, Item::Update(number)));
        let invariants = given.invariants.iter().enumerate();
        let invariants = invariants.map(|(number, one)| (one.place, one.is_loop, Item::Invariant(number)));
        let mut places = Places::default();
        let mut wanted: BTreeMap<u32, Vec<(u32, Item)>> = BTreeMap::new();
        for (Place { line, column }, is_loop, item) in updates.chain(invariants) {
            let columns = wanted.entry(line).or_default();
            match column {
                Some(column) => columns.push((column, item)),
                None => places.firsts.entry((line, is_loop)).or_default().push(item),
            }
        }
        let lexed = lex(text);
        let mut there: HashMap<u32, Vec<Token>> = HashMap::new();
        for &token in &lexed.tokens {
            let line = map.span(token.start, token.end).line;
            if wanted.contains_key(&line) {
                there.entry(line).or_default().push(token);
            }
        }
        let lines: Vec<&[u8]> = source.split(|&byte| byte == b'\n').collect();
        for (line, items) in wanted {
            let own = (line as usize).checked_sub(1).and_then(|line| lines.get(line)).copied();
            let own = lex(own.unwrap_or_default());
            let there = there.remove(&line).unwrap_or_default();
            // What a line of directives contains comes from other files.
            if own.tokens.is_empty() {
                continue;
            }
            places.lines.extend(there.iter().map(|token| (token.start, line)));
            let columns = columns(&own);
            let pairs = own.tokens.iter().zip(&there);
            let same = pairs.take_while(|&(&one, &other)| own.spelling(one) == lexed.spelling(other)).count();
            // What a macro stands for starts where its name does.
            let is_macro = own.tokens.get(same).is_some_and(|token| token.kind == Kind::Word);
            for (column, item) in items {
                let index = columns.get(&column).filter(|&&index| index < same || index == same && is_macro);
                if let Some(token) = index.and_then(|&index| there.get(index)) {
                    places.tokens.entry(token.start).or_default().push(item);
                }
            }
        }
        places
    }

    /// What is stated about the statement or the loop that starts with a token; each is taken once. `is_loop` says of an item whether it is
    /// about a loop.
    pub(crate) fn take(&mut self, start: usize, of_loop: bool, is_loop: impl Fn(Item) -> bool) -> Vec<Item> {
        let mut taken = Vec::new();
        if let Some(items) = self.tokens.get_mut(&start) {
            taken = items.extract_if(.., |item| is_loop(*item) == of_loop).collect();
        }
        if let Some(&line) = self.lines.get(&start) {
            taken.extend(self.firsts.remove(&(line, of_loop)).unwrap_or_default());
        }
        taken.sort_unstable();
        taken
    }
}

/// The tokens of a line, by their columns.
fn columns(line: &Lexed) -> HashMap<u32, usize> {
    let (mut column, mut from) = (1, 0);
    let tokens = line.tokens.iter().enumerate().map(|(index, token)| {
        column += String::from_utf8_lossy(&line.text[from..token.start]).chars().count() as u32;
        from = token.start;
        (column, index)
    });
    tokens.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_expressions_have_words() {
        assert_eq!(
            words("x + (long long)y[1] <= 5LL && p->a != 'c'").unwrap(),
            ["x", "long", "long", "y", "p", "a"]
        );
        for text in [
            "",
            " ",
            "x; y",
            "x) || (y",
            "(x",
            "x]",
            "x = 1",
            "x += 1",
            "({ x; })",
            "\"x\"",
            "x /* y",
            "x // y",
            "\\old(x) == x",
            "x == 1\n#define y",
            "x @ y",
            "__attribute__((x)) y",
            "(x]",
            "a ... b",
            "'x",
        ] {
            assert!(words(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tokens_are_found_behind_a_preprocessor() {
        let source =
            b"#define N 5\nint main(void) {\n  int a  =  N; /* x */ a = 6; \n  a = 7;  a = 8; // y\n}\n";
        let text = b"# 1 \"t.c\"\n\nint main(void) {\n  int a = 5; a = 6;\n  a = 7; a = 8;\n}\n";
        let map = LineMap::of_source(text, "t.c", source);
        let at = |line: u32, column: Option<u32>| {
            let place = Place { line, column };
            let one = Invariant { place, is_loop: false, holds: String::new() };
            let given = Instrumentation { invariants: vec![one], ..Instrumentation::default() };
            let mut places = Places::of(&given, text, &map, source);
            let found = (0..text.len()).find(|&start| !places.take(start, false, |_| false).is_empty());
            assert!((0..text.len()).all(|start| places.take(start, false, |_| false).is_empty()));
            found
        };
        let find = |part: &str| text.windows(part.len()).position(|one| one == part.as_bytes()).unwrap();
        assert_eq!(at(3, Some(3)), Some(find("int a")));
        // Behind a macro, tokens are not told apart.
        assert_eq!(at(3, Some(24)), None);
        assert_eq!(at(4, Some(11)), Some(find("a = 8")));
        assert_eq!(at(4, Some(12)), None);
        assert_eq!(at(4, None), Some(find("a = 7")));
        assert_eq!(at(1, None), None);
        assert_eq!(at(99, Some(1)), None);
    }
}
