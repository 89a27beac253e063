//! Where the statements and functions of a C program are.
//!
//! Witnesses name statements by their first character, and calls by their closing parenthesis, in the file as it was given: a
//! `.c` file may contain directives and macros, so that only its tokens can be looked at. A statement starts after `;`, `{`, `}`, a
//! label, `else`, `do`, and the parentheses of `if`, `while`, `for` and `switch`.

/// The statements and functions of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statements {
    /// Where statements start, in bytes, in order.
    starts: Vec<usize>,
    /// Of each, whether it is one of those that a block consists of (not a part of another one, nor after a label), and nothing
    /// comes after the statements around it in their blocks. ConcurrentWitness2Test (of 2025) takes what comes there for
    /// what is on the line.
    items: Vec<bool>,
    /// Where function bodies start and end, and whose they are.
    functions: Vec<(usize, usize, String)>,
}

impl Statements {
    /// Those of a text.
    pub fn of(text: &[u8]) -> Statements {
        let mut scan = Scan { text, ..Scan::default() };
        for token in (Tokens { text, at: 0 }) {
            scan.token(token);
        }
        scan.found
    }

    /// Where the statement starts in which something stands.
    pub fn start(&self, at: usize) -> usize {
        let after = self.starts.partition_point(|&start| start <= at);
        after.checked_sub(1).map_or(at, |index| self.starts[index])
    }

    /// The first statement from a place on.
    pub fn next(&self, at: usize) -> Option<usize> {
        self.starts.get(self.starts.partition_point(|&start| start < at)).copied()
    }

    /// Whether the line of a statement names it: it is the first one there, and one that validators find by its line.
    pub fn named(&self, text: &[u8], at: usize) -> bool {
        let index = self.starts.partition_point(|&start| start < at);
        let line = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let is_first = index == 0 || self.starts[index - 1] < line;
        self.starts.get(index) == Some(&at) && self.items[index] && is_first
    }

    /// Whether a thread that comes to a statement and then to another one (none: it is not known to which) has gone on into it, or
    /// past it, at once.
    pub fn enters(&self, text: &[u8], at: usize, after: Option<usize>) -> bool {
        const LEAVES: [&[u8]; 7] =
            [b"return", b"break", b"continue", b"goto", b"pthread_exit", b"exit", b"abort"];
        let word = Tokens { text, at }.next().map_or(&b""[..], |token| &text[token.start..token.end]);
        match word {
            b"if" | b"while" | b"for" => {
                let Some(body) = closing(text, at).map(|header| header + 1) else { return false };
                let end = end(text, body);
                let rest = Tokens { text, at: end }.next().filter(|_| word == b"if");
                let rest = rest.filter(|token| &text[token.start..token.end] == b"else");
                let end = rest.map_or(end, |token| self::end(text, token.end));
                after.is_some_and(|after| (body..end).contains(&after))
            }
            b"do" | b"switch" => false,
            _ if LEAVES.contains(&word) => false,
            // What comes next in another function is inside of a call, or after the end of this one.
            _ => after.is_none_or(|after| {
                let own = self.function(at);
                let is_last = self.next(at + 1).is_none_or(|next| self.function(next) != own);
                let called = self.function(after).is_some_and(|name| {
                    let end = end(text, at);
                    let mut words = Tokens { text, at }.take_while(|token| token.end <= end);
                    words.any(|token| &text[token.start..token.end] == name.as_bytes())
                });
                self.function(after) == own || is_last && !called
            }),
        }
    }

    /// The function in whose body something stands.
    pub fn function(&self, at: usize) -> Option<&str> {
        let found = self.functions.iter().find(|(start, end, _)| (*start..=*end).contains(&at));
        found.map(|(_, _, name)| name.as_str())
    }

    /// Where the body of a function starts.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.functions.iter().find(|(_, _, own)| own == name).map(|(start, ..)| *start)
    }
}

/// The parenthesis that closes a call which starts here.
pub fn closing(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for token in (Tokens { text, at }) {
        match &text[token.start..token.end] {
            b"(" => depth += 1,
            b")" if depth == 1 => return Some(token.start),
            b")" => depth = depth.checked_sub(1)?,
            b";" | b"{" | b"}" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Where a statement ends that starts here: after its block, or after its semicolon.
fn end(text: &[u8], at: usize) -> usize {
    let mut open = 0usize;
    for token in (Tokens { text, at }) {
        match &text[token.start..token.end] {
            b"{" | b"(" => open += 1,
            b"}" if open <= 1 => return token.end,
            b"}" | b")" => open = open.saturating_sub(1),
            b";" if open == 0 => return token.end,
            _ => {}
        }
    }
    text.len()
}

/// The line and the column of a place, counted from 1.
pub fn line_column(text: &[u8], at: usize) -> (u32, u32) {
    let before = &text[..at.min(text.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() as u32 + 1;
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() as u32 + 1)
}

/// A token.
#[derive(Clone, Copy, Debug)]
struct Token {
    start: usize,
    end: usize,
}

/// The tokens of a text, without comments and directives.
struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl Tokens<'_> {
    fn until(&self, end: &[u8], from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        rest.windows(end.len())
            .position(|part| part == end)
            .map_or(self.text.len(), |at| from + at + end.len())
    }

    /// Whether only blanks are before this place on its line.
    fn starts_line(&self, at: usize) -> bool {
        self.text[..at].iter().rev().take_while(|&&byte| byte != b'\n').all(u8::is_ascii_whitespace)
    }

    /// The end of a directive, which goes on after a backslash.
    fn directive(&self, at: usize) -> usize {
        let mut end = self.until(b"\n", at);
        while end >= at + 2 && self.text[..end - 1].trim_ascii_end().ends_with(b"\\") && end < self.text.len()
        {
            end = self.until(b"\n", end);
        }
        end
    }

    /// The end of a string or a character that starts here.
    fn quoted(&self, at: usize) -> usize {
        let quote = self.text[at];
        let mut end = at + 1;
        while let Some(&byte) = self.text.get(end) {
            end += 1;
            match byte {
                b'\\' => end += 1,
                b'\n' => break,
                byte if byte == quote => break,
                _ => {}
            }
        }
        end.min(self.text.len())
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let start = self.at;
            let &byte = self.text.get(start)?;
            let rest = &self.text[start..];
            if byte.is_ascii_whitespace() || byte == b'\\' {
                self.at += 1;
            } else if rest.starts_with(b"//") {
                self.at = self.until(b"\n", start);
            } else if rest.starts_with(b"/*") {
                self.at = self.until(b"*/", start + 2);
            } else if byte == b'#' && self.starts_line(start) {
                self.at = self.directive(start);
            } else {
                self.at = match byte {
                    b'"' | b'\'' => self.quoted(start),
                    _ if is_word(byte) => start + rest.iter().take_while(|&&byte| is_word(byte)).count(),
                    _ => start + 1,
                };
                return Some(Token { start, end: self.at });
            }
        }
    }
}

#[derive(Default)]
struct Scan<'a> {
    text: &'a [u8],
    /// Open brackets; of parentheses, whether a statement follows them.
    open: Vec<(u8, bool)>,
    /// The statements of each open block, and those inside of these.
    blocks: Vec<(Vec<usize>, Vec<usize>)>,
    /// Whether the next token starts a statement.
    is_start: bool,
    /// Whether that would be a part of another one, or after a label.
    is_part: bool,
    /// How many tokens the statement has so far.
    count: usize,
    /// Whether it is a label of `switch`.
    is_case: bool,
    /// Whether parentheses come that a statement follows.
    is_header: bool,
    /// The word before, if it was one.
    word: Option<Token>,
    /// Of a declaration outside of functions: the name before its first parentheses.
    name: Option<Token>,
    found: Statements,
}

impl Scan<'_> {
    /// A block ends: what is inside of it is inside of the one around it.
    fn close(&mut self) {
        let Some((own, mut inside)) = self.blocks.pop() else { return };
        let Some((_, around)) = self.blocks.last_mut() else { return };
        inside.extend(own);
        if inside.len() > around.len() {
            std::mem::swap(around, &mut inside);
        }
        around.append(&mut inside);
    }

    fn token(&mut self, token: Token) {
        let bytes = &self.text[token.start..token.end];
        let is_word = is_word(bytes[0]) && !bytes[0].is_ascii_digit();
        let starts_nothing = matches!(bytes, b"}" | b"{" | b";" | b"else");
        if self.is_start && !starts_nothing {
            let number = self.found.starts.len();
            self.found.starts.push(token.start);
            self.found.items.push(!self.is_part);
            if let (Some((own, inside)), false) = (self.blocks.last_mut(), self.is_part) {
                inside.drain(..).for_each(|before| self.found.items[before] = false);
                own.push(number);
            }
        }
        if self.is_start {
            (self.count, self.is_case, self.is_start) = (0, false, false);
            self.is_part = false;
        }
        self.count += 1;
        let in_parentheses = matches!(self.open.last(), Some((b'(' | b'[', _)));
        match bytes {
            b"(" => {
                if let (Some(word), true, None) = (self.word, self.open.is_empty(), self.name) {
                    let known = [&b"__attribute__"[..], b"__asm__", b"__extension__", b"__declspec"];
                    self.name = Some(word).filter(|word| !known.contains(&&self.text[word.start..word.end]));
                }
                self.open.push((b'(', std::mem::take(&mut self.is_header)));
            }
            b"[" => self.open.push((b'[', false)),
            b")" | b"]" => {
                self.is_part = self.open.pop().is_some_and(|(_, header)| header);
                self.is_start |= self.is_part;
            }
            b"{" => {
                if let (true, Some(name)) = (self.open.is_empty(), self.name) {
                    let name = String::from_utf8_lossy(&self.text[name.start..name.end]).into_owned();
                    self.found.functions.push((token.start, usize::MAX, name));
                }
                self.open.push((b'{', false));
                self.blocks.push((Vec::new(), Vec::new()));
                self.is_start = true;
            }
            b"}" => {
                while self.open.pop().is_some_and(|(bracket, _)| bracket != b'{') {}
                self.close();
                self.is_start = true;
                if self.open.is_empty() {
                    self.name = None;
                    let last = self.found.functions.last_mut().filter(|(_, end, _)| *end == usize::MAX);
                    last.into_iter().for_each(|(_, end, _)| *end = token.start);
                }
            }
            b";" if !in_parentheses => {
                self.is_start = true;
                if self.open.is_empty() {
                    self.name = None;
                }
            }
            b":" if !in_parentheses && (self.is_case || self.count == 2 && self.word.is_some()) => {
                (self.is_start, self.is_part) = (true, true);
            }
            b"if" | b"while" | b"for" | b"switch" => self.is_header = true,
            b"else" | b"do" => (self.is_start, self.is_part) = (true, true),
            b"case" | b"default" => self.is_case = true,
            _ => {}
        }
        // Statements are what functions consist of.
        self.is_start &= !self.open.is_empty();
        self.word = is_word.then_some(token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str) -> Vec<&str> {
        let found = Statements::of(text.as_bytes());
        let word = |&at: &usize| text[at..].split([' ', ';', '(', '=']).next().unwrap_or_default();
        found.starts.iter().map(word).collect()
    }

    #[test]
    fn statements_start_where_control_may_stop() {
        let text = "int g; /* ; { */\nint f(int n) {\n#define M(x) { x; }\n  int i = 0; // ;\n  for (i = 1; i < n; i++) a(\";\");\n  \
                    if (n) b(); else { L: c(); }\n  do d(); while (n ? 1 : 2);\n  switch (n) { case 1: e(); default: ; }\n}\n";
        assert_eq!(
            starts(text),
            ["int", "for", "a", "if", "b", "L:", "c", "do", "d", "while", "switch", "case", "e", "default:"]
        );
        let found = Statements::of(text.as_bytes());
        let at = |part: &str| text.find(part).unwrap();
        assert_eq!(found.start(at("i < n")), at("for"));
        assert_eq!(found.start(at("c();")), at("c();"));
        assert_eq!(found.function(at("d();")), Some("f"));
        assert_eq!(found.function(at("int g")), None);
        assert_eq!(found.next(found.body("f").unwrap()), Some(at("int i")));
    }

    #[test]
    fn calls_end_with_their_own_parenthesis() {
        let text = b"create(&t, 0, f, (void *)0); g();";
        assert_eq!(closing(text, 0), Some(26));
        assert_eq!(closing(b"x; g()", 0), None);
        assert_eq!(line_column("ä\nöx".as_bytes(), 5), (2, 2));
    }

    #[test]
    fn attributes_are_no_functions() {
        let text = "__attribute__((noreturn)) void g(void) __attribute__((x));\nstatic inline void *h (int a, char b)\n{ k(); }";
        let found = Statements::of(text.as_bytes());
        assert_eq!(found.function(text.find("k()").unwrap()), Some("h"));
        assert_eq!(found.body("g"), None);
    }

    #[test]
    fn lines_name_statements_that_nothing_hides() {
        let text = "int f(int n) {\n  a(n);\n  if (n) {\n    b();\n  }\n  if (n) g(); else\n    h();\n  while (n) {\n    c();\n    d();\n  }\n}\n";
        let found = Statements::of(text.as_bytes());
        let at = |part: &str| text.find(part).unwrap();
        let named = |part: &str| found.named(text.as_bytes(), at(part));
        // What comes after the first `if` hides what is in it; nothing comes after `while`.
        assert!(named("a(n)") && named("if (n) {") && named("while") && named("c();") && named("d();"));
        assert!(!named("b();") && !named("g();") && !named("h();"));
        let enters = |part: &str, after: &str| found.enters(text.as_bytes(), at(part), Some(at(after)));
        assert!(enters("if (n) {", "b();") && !enters("if (n) {", "while"));
        assert!(enters("if (n) g", "g();") && enters("if (n) g", "h();") && enters("while", "d();"));
        assert!(enters("a(n)", "if (n) {"));
        assert!(found.enters(text.as_bytes(), at("d();"), None));
    }

    #[test]
    fn calls_are_entered_and_left() {
        let text = "void g(void) {\n  x = 1;\n}\nvoid f(void) {\n  g();\n  y = 1;\n  return;\n}\n";
        let found = Statements::of(text.as_bytes());
        let at = |part: &str| text.find(part).unwrap();
        let enters = |part: &str, after: &str| found.enters(text.as_bytes(), at(part), Some(at(after)));
        assert!(!enters("g();", "x = 1") && enters("g();", "y = 1"));
        assert!(enters("x = 1", "y = 1") && !enters("return", "y = 1"));
    }
}
