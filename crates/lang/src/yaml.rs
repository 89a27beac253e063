//! The part of YAML 1.2 that task definitions and witnesses of SV-COMP are written in.
//!
//! Mappings, sequences and scalars in block and flow style, quoted strings, literal and folded blocks, comments. What gives a
//! text more meaning than it shows (anchors, aliases, tags, several documents) is refused. All scalars are text; who reads them
//! knows what they should be.

use crate::diagnostic::{Diagnostic, excerpt};
use std::ops::Range;

/// How deeply values may be nested.
const DEPTH: usize = 64;

/// How many keys a mapping may have.
const KEYS: usize = 1024;

/// A value, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Where it stands, in bytes of the text.
    pub span: Range<usize>,
    /// What it is.
    pub value: Value,
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Nothing.
    Null,
    /// A text; `plain` if it stands without quotes, so that it may be meant as a number or a truth value.
    Scalar {
        /// The text.
        text: String,
        /// Whether it has no quotes.
        plain: bool,
    },
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order of the text. No key occurs twice.
    Map(Vec<(String, Node)>),
}

impl Node {
    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The text, if this is a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The elements, if this is a sequence.
    pub fn list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(nodes) => Some(nodes),
            _ => None,
        }
    }

    /// The entries, if this is a mapping.
    pub fn entries(&self) -> Option<&[(String, Node)]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The number, if this is one without quotes.
    pub fn number(&self) -> Option<i64> {
        match &self.value {
            Value::Scalar { text, plain: true } => text.parse().ok(),
            _ => None,
        }
    }

    /// The truth value, if this is one without quotes.
    pub fn truth(&self) -> Option<bool> {
        match &self.value {
            Value::Scalar { text, plain: true } => match text.as_str() {
                "true" | "True" | "TRUE" => Some(true),
                "false" | "False" | "FALSE" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Reads a text that holds one value.
pub fn parse(text: &[u8]) -> Result<Node> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let at = error.valid_up_to();
        Diagnostic::error(at..at, "expected text in UTF-8".to_string())
    })?;
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0 };
    reader.blank()?;
    if reader.rest().starts_with("---") {
        reader.at += 3;
    }
    let node = reader.block(0, DEPTH)?;
    reader.blank()?;
    if reader.ends_document() {
        reader.at += 3;
        reader.blank()?;
    }
    match reader.at == text.len() {
        true => Ok(node),
        false => Err(reader.unexpected("the end of the file")),
    }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The rest of the line.
    fn line(&self) -> &'a str {
        self.rest().split('\n').next().unwrap_or_default()
    }

    fn column(&self) -> usize {
        self.at - self.text[..self.at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    fn unexpected(&self, what: &str) -> Diagnostic {
        let line = self.line();
        let found = if line.trim().is_empty() { "the end of the line" } else { line };
        let message = format!("expected {what}, found `{}`", excerpt(found.as_bytes()));
        Diagnostic::error(self.at..self.at + line.len(), message)
    }

    fn refused(&self, what: &str) -> Diagnostic {
        Diagnostic::error(self.at..self.at + 1, format!("{what} of YAML are not read"))
    }

    /// Goes on to the next token, over spaces, comments and ends of lines.
    fn blank(&mut self) -> Result<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\r') => self.at += 1,
                Some(b'\t')
                    if self.text[..self.at].rsplit('\n').next().is_some_and(|it| it.trim().is_empty()) =>
                {
                    return Err(self.unexpected("spaces, not tabs, at the start of a line"));
                }
                Some(b'\t') => self.at += 1,
                Some(b'#') if self.at == 0 || self.bytes[self.at - 1].is_ascii_whitespace() => {
                    self.at += self.line().len();
                }
                _ => return Ok(()),
            }
        }
    }

    /// Goes on to the next token of this line; whether there is one.
    fn in_line(&mut self) -> bool {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
        let is_comment = self.peek() == Some(b'#') && self.bytes[self.at - 1].is_ascii_whitespace();
        !is_comment && !matches!(self.peek(), None | Some(b'\n'))
    }

    fn ends_line(&mut self) -> Result<()> {
        if self.in_line() { Err(self.unexpected("the end of the line")) } else { Ok(()) }
    }

    fn ends_document(&self) -> bool {
        self.column() == 0 && self.line().trim_end() == "..."
    }

    fn is_dash(&self) -> bool {
        self.peek() == Some(b'-') && matches!(self.bytes.get(self.at + 1), None | Some(b' ' | b'\n' | b'\r'))
    }

    /// A value whose lines start at this column or further right.
    fn block(&mut self, least: usize, depth: usize) -> Result<Node> {
        self.blank()?;
        let depth =
            depth.checked_sub(1).ok_or_else(|| self.unexpected("values that are not nested so deeply"))?;
        let (start, column) = (self.at, self.column());
        if self.peek().is_none() || column < least {
            return Ok(Node { span: start..start, value: Value::Null });
        }
        let value = if self.is_dash() {
            self.list(column, depth)?
        } else if self.has_key() {
            self.map(column, depth)?
        } else {
            return self.inline(least, depth);
        };
        Ok(Node { span: start..self.at, value })
    }

    fn list(&mut self, column: usize, depth: usize) -> Result<Value> {
        let mut nodes = Vec::new();
        while self.is_dash() && self.column() == column {
            self.at += 1;
            nodes.push(self.block(column + 1, depth)?);
            self.blank()?;
        }
        self.beside(column)?;
        Ok(Value::List(nodes))
    }

    fn map(&mut self, column: usize, depth: usize) -> Result<Value> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        while self.peek().is_some() && self.column() == column && !self.is_dash() && !self.ends_document() {
            if !self.has_key() {
                return Err(self.unexpected("a key and a colon"));
            }
            let start = self.at;
            let key = self.key()?;
            if entries.iter().any(|(name, _)| *name == key) || entries.len() == KEYS {
                let message =
                    format!("the key `{}` occurs twice, or is one too many", excerpt(key.as_bytes()));
                return Err(Diagnostic::error(start..self.at, message));
            }
            let node = if self.in_line() {
                self.inline(column + 1, depth)?
            } else {
                self.blank()?;
                // Sequences may start below their key.
                let least = if self.is_dash() { column } else { column + 1 };
                self.block(least, depth)?
            };
            entries.push((key, node));
            self.blank()?;
        }
        self.beside(column)?;
        Ok(Value::Map(entries))
    }

    /// What follows a sequence or a mapping must not stand to the right of it.
    fn beside(&self, column: usize) -> Result<()> {
        let ends = self.peek().is_none() || self.column() <= column;
        if ends { Ok(()) } else { Err(self.unexpected("a line that is indented as the one before")) }
    }

    /// Whether the line goes on with a key and a colon.
    fn has_key(&self) -> bool {
        let line = self.line();
        if let Some(quote) = line.chars().next().filter(|&first| first == '"' || first == '\'') {
            let close = line[1..].find(quote).map(|at| at + 2);
            return close.is_some_and(|at| line[at..].trim_start().starts_with(':'));
        }
        !line.starts_with(['[', '{', '|', '>', '#']) && colon(line).is_some()
    }

    /// A key, and the colon after it.
    fn key(&mut self) -> Result<String> {
        let quoted = matches!(self.peek(), Some(b'"' | b'\''));
        let key = if quoted {
            self.quoted()?
        } else {
            self.markers()?;
            let end = colon(self.line()).unwrap_or_default();
            let key = self.line()[..end].trim_end().to_string();
            self.at += end;
            key
        };
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
        match self.peek() {
            Some(b':') => self.at += 1,
            _ => return Err(self.unexpected("a colon")),
        }
        Ok(key)
    }

    fn markers(&self) -> Result<()> {
        match self.peek() {
            Some(b'&' | b'*') if self.line().len() > 1 => Err(self.refused("anchors and aliases")),
            Some(b'!') => Err(self.refused("tags")),
            Some(b'%' | b'@' | b'`') => Err(self.refused("directives and reserved characters")),
            Some(b'?') if self.line().starts_with("? ") => Err(self.refused("complex keys")),
            _ => Ok(()),
        }
    }

    /// A value that starts in the middle of a line; further lines of it are indented at least so far.
    fn inline(&mut self, least: usize, depth: usize) -> Result<Node> {
        let start = self.at;
        self.markers()?;
        let value = match self.peek() {
            Some(b'"' | b'\'') => Value::Scalar { text: self.quoted()?, plain: false },
            Some(b'[' | b'{') => self.flow(depth)?.value,
            Some(style @ (b'|' | b'>')) => return Ok(self.lines(style == b'>', least, start)),
            _ => return self.plain(least),
        };
        let end = self.at;
        self.ends_line()?;
        Ok(Node { span: start..end, value })
    }

    fn plain(&mut self, least: usize) -> Result<Node> {
        let start = self.at;
        let mut text = String::new();
        loop {
            let line = self.line();
            let end = line.find(" #").unwrap_or(line.len());
            let part = line[..end].trim();
            if !text.is_empty() {
                text.push(' ');
            }
            text += part;
            self.at += line.len();
            let (end, is_cut) = (self.at, end < line.len());
            self.blank()?;
            let goes_on = self.peek().is_some() && self.column() >= least && least > 0;
            if is_cut || !goes_on || self.is_dash() || self.has_key() {
                self.at = end;
                let value = match text.as_str() {
                    "" | "~" | "null" => Value::Null,
                    _ => Value::Scalar { text, plain: true },
                };
                return Ok(Node { span: start..end, value });
            }
        }
    }

    /// A literal or a folded block.
    fn lines(&mut self, folded: bool, least: usize, start: usize) -> Node {
        let header = self.line();
        let stripped = header.contains('-');
        self.at = (self.at + header.len() + 1).min(self.text.len());
        let mut indent = None;
        let mut text = String::new();
        while self.at < self.text.len() {
            let line = self.line();
            let own = line.len() - line.trim_start_matches(' ').len();
            let is_blank = line.trim().is_empty();
            if !is_blank && own < indent.unwrap_or(least.max(1)) {
                break;
            }
            let indent = *indent.get_or_insert(own);
            text += if is_blank { "" } else { &line[indent.min(line.len())..] };
            text.push(if folded && !is_blank { ' ' } else { '\n' });
            self.at = (self.at + line.len() + 1).min(self.text.len());
        }
        let mut end = text.trim_end().to_string();
        if !stripped && !end.is_empty() {
            end.push('\n');
        }
        Node { span: start..self.at, value: Value::Scalar { text: end, plain: false } }
    }

    /// A string in quotes, over the ends of lines, which stand for spaces.
    fn quoted(&mut self) -> Result<String> {
        let (start, quote) = (self.at, self.bytes[self.at]);
        self.at += 1;
        let mut text = String::new();
        let unclosed = || Diagnostic::error(start..start + 1, "expected a closing quote".to_string());
        loop {
            let next = self.rest().chars().next().ok_or_else(unclosed)?;
            self.at += next.len_utf8();
            match next {
                '\'' if quote == b'\'' && self.peek() == Some(b'\'') => {
                    self.at += 1;
                    text.push('\'');
                }
                '"' | '\'' if next as u8 == quote => return Ok(text),
                '\\' if quote == b'"' => self.escape(&mut text)?,
                '\n' => {
                    text.truncate(text.trim_end_matches([' ', '\t', '\r']).len());
                    text.push(' ');
                    while matches!(self.peek(), Some(b' ' | b'\t')) {
                        self.at += 1;
                    }
                }
                other => text.push(other),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<()> {
        let at = self.at;
        let bad = || Diagnostic::error(at - 1..at, "expected a known escape".to_string());
        let next = self.rest().chars().next().ok_or_else(bad)?;
        self.at += next.len_utf8();
        let digits = match next {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            // The end of a line that is escaped stands for nothing.
            '\n' => {
                while matches!(self.peek(), Some(b' ' | b'\t')) {
                    self.at += 1;
                }
                return Ok(());
            }
            _ => {
                let known = [('n', '\n'), ('t', '\t'), ('r', '\r'), ('0', '\0')].into_iter();
                let known = known.chain(['"', '\\', '/', ' '].map(|plain| (plain, plain)));
                let (_, meant) = known.into_iter().find(|(name, _)| *name == next).ok_or_else(bad)?;
                text.push(meant);
                return Ok(());
            }
        };
        let hex = self.rest().get(..digits).ok_or_else(bad)?;
        let code = u32::from_str_radix(hex, 16).map_err(|_| bad())?;
        text.push(char::from_u32(code).ok_or_else(bad)?);
        self.at += digits;
        Ok(())
    }

    /// A sequence or a mapping in brackets.
    fn flow(&mut self, depth: usize) -> Result<Node> {
        let depth =
            depth.checked_sub(1).ok_or_else(|| self.unexpected("values that are not nested so deeply"))?;
        let start = self.at;
        let value = match self.peek() {
            Some(b'"' | b'\'') => Value::Scalar { text: self.quoted()?, plain: false },
            Some(b'[') => {
                let mut nodes = Vec::new();
                self.between(b']', |reader| {
                    nodes.push(reader.flow(depth)?);
                    Ok(())
                })?;
                Value::List(nodes)
            }
            Some(b'{') => {
                let mut entries: Vec<(String, Node)> = Vec::new();
                self.between(b'}', |reader| {
                    let at = reader.at;
                    let key = match reader.flow(depth)?.value {
                        Value::Scalar { text, .. } => text,
                        _ => return Err(reader.unexpected("a key")),
                    };
                    reader.blank()?;
                    let is_new = entries.len() < KEYS && entries.iter().all(|(name, _)| *name != key);
                    if reader.peek() != Some(b':') || !is_new {
                        let message =
                            format!("expected a colon after a new key `{}`", excerpt(key.as_bytes()));
                        return Err(Diagnostic::error(at..reader.at, message));
                    }
                    reader.at += 1;
                    reader.blank()?;
                    entries.push((key, reader.flow(depth)?));
                    Ok(())
                })?;
                Value::Map(entries)
            }
            _ => {
                self.markers()?;
                let rest = self.rest();
                let ends = |(at, next): &(usize, char)| match next {
                    ',' | ']' | '}' | '[' | '{' | '\n' => true,
                    ':' => rest[at + 1..].starts_with([' ', '\n', ',', ']', '}']),
                    _ => false,
                };
                let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
                let text = rest[..end].trim().to_string();
                if text.is_empty() {
                    return Err(self.unexpected("a value"));
                }
                self.at += end;
                Value::Scalar { text, plain: true }
            }
        };
        Ok(Node { span: start..self.at, value })
    }

    /// What stands between brackets, separated by commas.
    fn between(&mut self, close: u8, mut one: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.at += 1;
        loop {
            self.blank()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(());
            }
            one(self)?;
            self.blank()?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == close => {}
                _ => return Err(self.unexpected("a comma or the closing bracket")),
            }
        }
    }
}

/// Where the colon after a plain key is.
fn colon(line: &str) -> Option<usize> {
    let line = line.find(" #").map_or(line, |end| &line[..end]);
    line.match_indices(':')
        .map(|(at, _)| at)
        .find(|&at| matches!(line.as_bytes().get(at + 1), None | Some(b' ' | b'\r')))
}

#[cfg(test)]
mod tests;
