//! One layout for all programs.
//!
//! The layout is made from the tokens and comments alone, which come out in the order in which they went in; only the
//! white space between them changes. (One exception: a comment at the end of a line goes behind a `;` or `{` that
//! stood at the start of the next.) So no meaning changes and no comment is lost. Laying out what is laid out changes
//! nothing.
//!
//! * Two spaces for each block; one statement per line; at most one empty line in a row, none at the ends of a block.
//! * `{ … }` stays on one line if it was on one and fits. Branches of `if` and `choose` do so together or not at all.
//! * A statement that does not fit on a line, or has a comment inside, keeps its line breaks.
//! * Comments at the ends of consecutive lines are aligned: where the rightmost was, if that is not too far to the right.

mod pieces;

use super::{lexer, parser};
use crate::diagnostic::{Diagnostics, Severity};
use pieces::{Piece, pieces};

/// The longest line that is not broken, in characters.
const WIDTH: usize = 100;

/// The spaces of one level.
const LEVEL: usize = 2;

/// The last column (counted from 0) where a comment after code is left if it could be nearer.
const LAST_COLUMN: usize = 60;

/// See [`super::format`].
pub(super) fn format(text: &[u8]) -> Result<String, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    if let Err(error) = str::from_utf8(text) {
        let at = error.valid_up_to();
        diagnostics.add(Severity::Error, at..at + 1, || {
            ("expected a text in UTF-8, found another byte".into(), None)
        });
        return Err(diagnostics);
    }
    let lexed = lexer::lex(text);
    parser::parse(text, &lexed, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let pieces = pieces(text, &lexed);
    let mut layout = Layout { closing: closing(&pieces), pieces: &pieces, lines: Vec::new() };
    layout.units(0, pieces.len(), 0);
    Ok(print(&layout.lines))
}

/// A line of the result.
struct Line {
    /// In spaces.
    indent: usize,
    code: String,
    /// What comes after the code.
    comment: String,
    /// The column where that was before, counted from 0.
    column: usize,
    /// Whether an empty line comes before it.
    spaced: bool,
}

struct Layout<'a> {
    pieces: &'a [Piece<'a>],
    /// Of each `{`, its `}`.
    closing: Vec<usize>,
    lines: Vec<Line>,
}

/// Something before a `{`, and the braces.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    open: usize,
    close: usize,
}

impl Layout<'_> {
    /// Declarations or statements from one piece up to another.
    fn units(&mut self, from: usize, to: usize, indent: usize) {
        let mut at = from;
        while at < to {
            let first_line = self.lines.len();
            let next = self.unit(at, to, indent);
            if let Some(line) = self.lines.get_mut(first_line) {
                line.spaced = at > from && self.pieces[at].breaks > 1;
            }
            at = self.trailing(next, to);
        }
    }

    /// One of them, or a comment on lines of its own. Gives what comes after it.
    fn unit(&mut self, at: usize, to: usize, indent: usize) -> usize {
        if self.pieces[at].is_comment() {
            self.push(indent, self.pieces[at].text.to_string());
            return at + 1;
        }
        let mut parts = Vec::new();
        let mut start = at;
        loop {
            let end = (start..to).find(|&piece| self.pieces[piece].ends_unit()).unwrap_or(to - 1);
            if self.pieces[end].text != "{" {
                self.statement(start, end + 1, indent, "");
                return end + 1;
            }
            let close = self.closing[end];
            parts.push(Part { start, open: end, close });
            let next = (close + 1..to).find(|&piece| !self.pieces[piece].is_comment());
            match next.filter(|&next| matches!(self.pieces[next].text, "else" | "or")) {
                Some(next) => start = next,
                None => break,
            }
        }
        self.chain(&parts, indent);
        parts.last().map_or(to, |last| last.close + 1)
    }

    /// Something with blocks: on one line, on one line for each block, or spread out.
    fn chain(&mut self, parts: &[Part], indent: usize) {
        let (first, last) = (parts[0], parts[parts.len() - 1]);
        if let Some(line) = self.one_line(first.start, last.close + 1, indent) {
            return self.push(indent, line);
        }
        let connected = parts.windows(2).all(|pair| pair[0].close + 1 == pair[1].start);
        let line = |part: &Part| self.one_line(part.start, part.close + 1, indent);
        if let Some(lines) = parts.iter().map(line).collect::<Option<Vec<_>>>()
            && parts.len() > 1
            && connected
        {
            return lines.into_iter().for_each(|line| self.push(indent, line));
        }
        let mut before = "";
        for (number, &Part { start, open, close }) in parts.iter().enumerate() {
            let next = parts.get(number + 1).map(|part| part.start);
            let commented = self.pieces[start..open].iter().any(Piece::ends_line);
            if close == open + 1 && next.is_none() && !commented {
                self.statement(start, close + 1, indent, before);
                return;
            }
            self.statement(start, open + 1, indent, before);
            let inside = self.trailing(open + 1, close);
            self.units(inside, close, indent + LEVEL);
            // `} else {`, unless comments come in between.
            if next == Some(close + 1) {
                before = "} ";
                continue;
            }
            before = "";
            self.push(indent, "}".to_string());
            let after = self.trailing(close + 1, next.unwrap_or(close + 1));
            self.units(after, next.unwrap_or(after), indent);
        }
    }

    /// Pieces up to a `;`, a `{` or `{}`, on one line if they fit, else with the breaks that they have.
    fn statement(&mut self, from: usize, to: usize, indent: usize, before: &str) {
        let whole = |piece: &Piece<'_>| !piece.ends_line() && !piece.text.contains('\n');
        if self.pieces[from..to].iter().all(whole) {
            let flat = before.to_string() + &self.flat(from, to);
            let broken = self.pieces[from + 1..to].iter().any(|piece| piece.breaks > 0);
            if !broken || indent + flat.chars().count() <= WIDTH {
                return self.push(indent, flat);
            }
        }
        self.push(indent, before.to_string());
        let mut fresh = true;
        for at in from..to {
            let piece = &self.pieces[at];
            let ended = self.lines.last().is_some_and(|line| !line.comment.is_empty());
            let alone = at > from && self.pieces[at - 1].is_comment() && self.pieces[at - 1].breaks > 0;
            let sticks = piece.sticks() && !alone;
            if at > from && !sticks && (piece.breaks > 0 || ended || self.pieces[at - 1].ends_line()) {
                self.push(indent + 2 * LEVEL, String::new());
                fresh = true;
            }
            let Some(line) = self.lines.last_mut() else { return };
            if piece.ends_line() && !fresh {
                (line.comment, line.column) = (piece.text.to_string(), piece.column);
                continue;
            }
            if !fresh && piece.spaced_from(&self.pieces[at - 1]) {
                line.code.push(' ');
            }
            line.code += piece.text;
            fresh = false;
        }
    }

    /// Pieces on one line, if they were on one and fit.
    fn one_line(&self, from: usize, to: usize, indent: usize) -> Option<String> {
        let inner = &self.pieces[from + 1..to];
        // Each piece takes a character at least.
        if inner.len() > WIDTH || inner.iter().any(|piece| piece.breaks > 0 || piece.text.contains('\n')) {
            return None;
        }
        Some(self.flat(from, to)).filter(|line| indent + line.chars().count() <= WIDTH)
    }

    fn flat(&self, from: usize, to: usize) -> String {
        let mut flat = String::new();
        for at in from..to {
            if at > from && self.pieces[at].spaced_from(&self.pieces[at - 1]) {
                flat.push(' ');
            }
            flat += self.pieces[at].text;
        }
        flat
    }

    /// Puts comments that stand behind the last line, on the same line of the source, behind it.
    fn trailing(&mut self, mut at: usize, to: usize) -> usize {
        while at < to && self.pieces[at].is_comment() && self.pieces[at].breaks == 0 {
            let Some(line) = self.lines.last_mut() else { break };
            match line.comment.is_empty() {
                true => line.column = self.pieces[at].column,
                false => line.comment.push(' '),
            }
            line.comment += self.pieces[at].text;
            at += 1;
        }
        at
    }

    fn push(&mut self, indent: usize, code: String) {
        self.lines.push(Line { indent, code, comment: String::new(), column: 0, spaced: false });
    }
}

/// The `}` of each `{`.
fn closing(pieces: &[Piece<'_>]) -> Vec<usize> {
    let mut closing = vec![0; pieces.len()];
    let mut open = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece.text {
            "{" => open.push(at),
            "}" => {
                if let Some(start) = open.pop() {
                    closing[start] = at;
                }
            }
            _ => {}
        }
    }
    closing
}

/// Lines to text, with the comments of neighbouring lines aligned.
fn print(lines: &[Line]) -> String {
    let mut text = String::new();
    let width = |line: &Line| line.indent + line.code.chars().count();
    let mut at = 0;
    while at < lines.len() {
        let commented = |line: &Line| !line.comment.is_empty();
        let run = lines[at..].iter().take_while(|line| commented(line)).count();
        let run = 1 + lines[at..at + run].iter().skip(1).take_while(|line| !line.spaced).count();
        let column = |line: &Line| {
            let before = if line.column > LAST_COLUMN { 0 } else { line.column };
            before.max(width(line) + 2)
        };
        let column = lines[at..at + run].iter().filter(|line| commented(line)).map(column).max();
        for line in &lines[at..at + run] {
            if line.spaced {
                text.push('\n');
            }
            text.extend(std::iter::repeat_n(' ', line.indent));
            text += &line.code;
            if commented(line) {
                text.extend(std::iter::repeat_n(' ', column.unwrap_or(0) - width(line)));
                text += &line.comment;
            }
            text.push('\n');
        }
        at += run;
    }
    text
}
