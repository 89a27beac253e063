//! Runs the parser, with limits: it works by recursion, and so does all that reads its trees.

use crate::lexer::{Kind, Lexed};
use crate::normalise::Normal;
use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, parse_preprocessed};

/// How deep brackets may be nested.
pub const MAX_NESTING: usize = 256;

/// How many operators, labels or `else if` may follow each other.
pub const MAX_CHAIN: usize = 1000;

/// The stack for the parser and what reads its trees, enough for what the limits allow.
pub(crate) const STACK: usize = 512 << 20;

/// A place and a reason.
pub(crate) type Refusal = (usize, usize, String);

/// Refuses texts that are nested too deep.
pub(crate) fn check_depth(lexed: &Lexed) -> Result<(), Refusal> {
    let mut levels = vec![(0_usize, 0_usize)];
    let mut closed = false;
    for &token in &lexed.tokens {
        let spelling = lexed.spelling(token);
        let refuse =
            |what: &str| Err((token.start, token.end, format!("{what}; no more than {MAX_CHAIN} are read")));
        if let (true, Some(level)) = (std::mem::take(&mut closed) && spelling != b"else", levels.last_mut()) {
            level.1 = 0;
        }
        match spelling {
            b"(" | b"[" | b"{" => {
                if let Some(level) = levels.last_mut() {
                    level.0 += 1;
                }
                levels.push((0, 0));
                if levels.len() > MAX_NESTING {
                    let reason = format!("brackets are nested deeper than {MAX_NESTING}");
                    return Err((token.start, token.end, reason));
                }
            }
            b")" | b"]" | b"}" if levels.len() > 1 => {
                levels.pop();
            }
            _ => {}
        }
        let Some(level) = levels.last_mut() else { continue };
        match spelling {
            b";" | b"}" => {
                level.0 = 0;
                closed = true;
            }
            b"," => level.0 = 0,
            b"else" => {
                level.1 += 1;
                if level.1 > MAX_CHAIN {
                    return refuse("too many `else` in a row");
                }
            }
            b"if" | b"while" | b"for" | b"do" | b"switch" | b"sizeof" => level.0 += 1,
            _ if token.kind == Kind::Sign => level.0 += 1,
            _ => {}
        }
        if level.0 > MAX_CHAIN {
            return refuse("too many operators in a row");
        }
    }
    Ok(())
}

/// Parses a text.
pub(crate) fn parse(normal: &Normal) -> Result<TranslationUnit, Refusal> {
    match parse_preprocessed(&Config::with_gcc(), normal.text.clone()) {
        Ok(parsed) => Ok(parsed.unit),
        Err(error) => {
            let at = normal.original(error.offset);
            let rest = normal.clean.get(at..).unwrap_or(b"");
            let blanks = rest.len() - rest.trim_ascii_start().len();
            let (start, found) = match blanks == rest.len() {
                true => (at, String::new()),
                false => {
                    let token = crate::lexer::token_at(&normal.clean, at + blanks);
                    let spelling = normal.clean.get(token.start..token.end).unwrap_or(b"");
                    (token.start, String::from_utf8_lossy(spelling).into_owned())
                }
            };
            let end = start + found.len();
            let what = if found.is_empty() { "the end".to_string() } else { format!("`{found}`") };
            let hint = hint(error.expected.iter().copied());
            Err((start, end, format!("{what} is not read here{hint}")))
        }
    }
}

/// What might help, of all that the parser would have taken.
fn hint<'t>(expected: impl Iterator<Item = &'t str>) -> String {
    let words = expected.filter(|word| !word.is_empty() && !word.starts_with('[') && !word.contains("__"));
    let mut words: Vec<String> = words
        .map(|word| match word {
            "<typedef_name>" => "a type".to_string(),
            "identifier" | "<identifier>" => "a name".to_string(),
            _ => format!("`{word}`"),
        })
        .collect();
    words.sort_unstable();
    match words.as_slice() {
        [] => String::new(),
        [one] => format!("; expected {one}"),
        [some @ .., last] if some.len() < 6 => format!("; expected {} or {last}", some.join(", ")),
        _ => match ["`;`", "`)`", "`}`"].into_iter().find(|sign| words.iter().any(|word| word == sign)) {
            Some(sign) => format!("; is a {sign} missing?"),
            None => String::new(),
        },
    }
}
