//! What a reader has to say about a text: plain values, each with the place it is about.
//!
//! Rendering is the command line's work. Every message says what was expected and what was found; words taken from the
//! text are cut short and escaped, since they may be megabytes long or drive a terminal.

use std::ops::Range;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The text has no meaning.
    Error,
    /// The text has a meaning, perhaps not the intended one.
    Warning,
}

/// One remark about a text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The place, in bytes of the text; empty where something is missing.
    pub span: Range<usize>,
    /// What was expected, and what was found.
    pub message: String,
    /// What to do about it, or what is done about it.
    pub help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn error(span: Range<usize>, message: String) -> Diagnostic {
        Diagnostic { severity: Severity::Error, span, message, help: None }
    }

    /// Something else is there than what was expected.
    pub(crate) fn expected(what: &str, text: &[u8], span: Range<usize>) -> Diagnostic {
        let found = excerpt(&text[span.clone()]);
        Diagnostic::error(span, format!("expected {what}, found `{found}`"))
    }
}

/// The remarks about one text: the first [`Diagnostics::KEPT`] of each severity, and how many more there were.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    errors: Kept,
    warnings: Kept,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Kept {
    first: Vec<Diagnostic>,
    more: usize,
}

impl Diagnostics {
    /// How many errors, and how many warnings, are kept.
    pub const KEPT: usize = 20;

    /// Starts with a complaint about a text whose places do not fit into 32 bits, and with nothing otherwise.
    pub(crate) fn about(text: &[u8]) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        if u32::try_from(text.len()).is_err() {
            let message = format!("expected a file below 4 GiB, found one of {} bytes", text.len());
            diagnostics.push(Diagnostic::error(0..0, message));
        }
        diagnostics
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let Diagnostic { severity, span, message, help } = diagnostic;
        self.add(severity, span, || (message, help));
    }

    /// Adds a remark. The words (message and help) are asked for only if it is kept: a text may have millions of
    /// mistakes.
    pub fn add(
        &mut self,
        severity: Severity,
        span: Range<usize>,
        words: impl FnOnce() -> (String, Option<String>),
    ) {
        let kept = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        if kept.first.len() == Self::KEPT {
            kept.more += 1;
        } else {
            let (message, help) = words();
            let remark = Diagnostic { severity, span, message, help };
            // What is lowered several times has the same mistakes each time.
            if !kept.first.contains(&remark) {
                kept.first.push(remark);
            }
        }
    }

    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        !self.errors.first.is_empty()
    }

    /// The remarks kept, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        let mut all: Vec<_> = self.errors.first.iter().chain(&self.warnings.first).collect();
        all.sort_by_key(|diagnostic| diagnostic.span.start);
        all.into_iter()
    }

    /// How many errors or warnings were left out.
    pub fn left_out(&self, severity: Severity) -> usize {
        match severity {
            Severity::Error => self.errors.more,
            Severity::Warning => self.warnings.more,
        }
    }
}

/// The line and the column of a byte of a text, both counted from 1. A column is a character, or a byte that is part of
/// none. Past its end is the end of the text.
pub fn line_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = 1 + before[..start].iter().filter(|&&byte| byte == b'\n').count();
    (line, 1 + columns(&before[start..]))
}

/// How many columns a part of a line has.
pub(crate) fn columns(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
}

/// The beginning of a text that may be hostile: long, binary, or full of control characters.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const CHARACTERS: usize = 20;
    let mut short = String::new();
    let mut room = CHARACTERS;
    // No character has more than 4 bytes, so what is cut off here would not have been shown.
    for chunk in text[..text.len().min(4 * (CHARACTERS + 1))].utf8_chunks() {
        let valid = chunk.valid().chars().map(|character| match character {
            '\'' | '"' => character.to_string(),
            _ => character.escape_debug().to_string(),
        });
        let invalid = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}"));
        for shown in valid.chain(invalid) {
            if room == 0 {
                return short + "…";
            }
            short += &shown;
            room -= 1;
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "ab\r\n\n→→x".as_bytes();
        let places =
            [(0, (1, 1)), (2, (1, 3)), (4, (2, 1)), (5, (3, 1)), (8, (3, 2)), (11, (3, 3)), (12, (3, 4))];
        for (offset, place) in places {
            assert_eq!(line_column(text, offset), place, "at {offset}");
        }
        assert_eq!(line_column(text, 99), (3, 4), "past the end");
        assert_eq!(line_column(b"", 0), (1, 1));
        assert_eq!(line_column(b"\xff\xfe\xc3x", 3), (1, 4), "bytes that are no characters");
    }

    #[test]
    fn excerpts_are_short_and_harmless() {
        assert_eq!(excerpt(b"it's"), "it's");
        assert_eq!(excerpt(b"\x1b[31m\0\n"), "\\u{1b}[31m\\0\\n");
        assert_eq!(excerpt(b"a\xff\xc3b"), "a\\xff\\xc3b");
        assert_eq!(excerpt("\u{202e}é".as_bytes()), "\\u{202e}é");
        assert_eq!(excerpt(&[b'7'; 20]), "7".repeat(20));
        assert_eq!(excerpt(&[b'7'; 21]), "7".repeat(20) + "…");
        assert_eq!(excerpt("𝄞".repeat(20).as_bytes()), "𝄞".repeat(20));
        assert_eq!(excerpt("𝄞".repeat(1000).as_bytes()), "𝄞".repeat(20) + "…");
        assert_eq!(excerpt(&[0xff; 1000]), "\\xff".repeat(20) + "…");
    }

    #[test]
    fn the_first_remarks_are_kept_and_the_rest_counted() {
        let mut diagnostics = Diagnostics::default();
        let mut asked = 0;
        diagnostics.add(Severity::Warning, 7..8, || ("late".to_string(), None));
        assert!(!diagnostics.has_errors(), "a warning is none");
        for place in (0..100).rev() {
            diagnostics.add(Severity::Error, place..place, || {
                asked += 1;
                ("no".to_string(), None)
            });
        }
        assert!(diagnostics.has_errors());
        assert_eq!(asked, Diagnostics::KEPT, "words nobody reads are not made");
        assert_eq!(diagnostics.left_out(Severity::Error), 80);
        assert_eq!(diagnostics.left_out(Severity::Warning), 0);
        let places: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.span.start).collect();
        assert_eq!(places, [7].into_iter().chain(80..100).collect::<Vec<_>>(), "in the order of the text");
    }
}
