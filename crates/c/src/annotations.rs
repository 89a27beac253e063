//! Assertions in comments, as ACSL has them: `//@ assert x >= 0;` becomes a call of `ASSERT`.
//!
//! The text keeps its length, so that all places stay. ACSL speaks of one state and of mathematical integers: the call is one
//! step, and only what means the same in C is read (comparisons, members, elements, and what joins truth values); anything else
//! is refused with its place. Comments that say something else than `assert` are comments.

use crate::lexer::{Kind, Lexed, lex};
use crate::parse::Refusal;

/// The function that stands for an assertion in a comment.
pub(crate) const ASSERT: &str = "__acsl";

/// How the comments start.
const STARTS: [&[u8]; 4] = [b"//@ assert", b"//@assert", b"/*@ assert", b"/*@assert"];

/// Whether a text may have an assertion in a comment.
pub fn are_there(text: &[u8]) -> bool {
    STARTS.iter().any(|start| text.windows(start.len()).any(|part| part == *start))
}

/// The text with assertions in comments as calls.
pub fn written_out(text: &[u8]) -> Result<Vec<u8>, Refusal> {
    let mut out = text.to_vec();
    // The last character before here that is neither blank nor in a comment.
    let mut before = b'{';
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or(b"");
        let find = |end: &[u8]| rest.windows(end.len()).position(|part| part == end);
        if rest.starts_with(b"//") || rest.starts_with(b"/*") {
            let line = rest.starts_with(b"//");
            let close = |inner: &[u8]| inner.windows(2).position(|part| part == b"*/").map(|at| at + 2);
            let inside = if line { find(b"\n") } else { rest.get(2..).and_then(close) };
            let length = inside.unwrap_or(rest.len());
            let assertion = STARTS.iter().find(|start| rest.starts_with(start));
            if let Some(start) = assertion {
                if !matches!(before, b';' | b'{' | b'}' | b':') {
                    let why = "an assertion in a comment is read between statements only";
                    return Err((at, at + start.len(), why.to_string()));
                }
                let call = call(rest.get(start.len()..length).unwrap_or(b""))
                    .map_err(|why| (at, at + length, why))?;
                let end = at + length + if line { 0 } else { 2 };
                if let Some(place) = out.get_mut(at..end) {
                    place.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
                    place.iter_mut().zip(call).for_each(|(byte, new)| *byte = new);
                }
                before = b';';
            }
            at += length + if line { 0 } else { 2 };
        } else if byte == b'"' || byte == b'\'' {
            at += 1;
            while let Some(&inner) = text.get(at) {
                at += if inner == b'\\' { 2 } else { 1 };
                if inner == byte || inner == b'\n' {
                    break;
                }
            }
            before = byte;
        } else {
            if !byte.is_ascii_whitespace() {
                before = byte;
            }
            at += 1;
        }
    }
    Ok(out)
}

/// The call for what follows the word `assert`. It is no longer than the comment up to there.
fn call(words: &[u8]) -> Result<Vec<u8>, String> {
    let end = words.iter().position(|&byte| byte == b';').ok_or("an assertion without `;`")?;
    let (claim, after) = words.split_at(end);
    if !after.iter().skip(1).all(u8::is_ascii_whitespace) {
        return Err("an assertion in a comment with something after it is not read".to_string());
    }
    let claim = replaced(&replaced(claim, b"\\true", b"1    "), b"\\false", b"0     ");
    let lexed = lex(&claim);
    check(&lexed)?;
    let mut call = format!("{ASSERT}(").into_bytes();
    call.extend(claim);
    call.extend(b");");
    Ok(call)
}

fn replaced(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    for at in 0..text.len() {
        if text.get(at..).is_some_and(|rest| rest.starts_with(old)) {
            out.splice(at..at + old.len(), new.iter().copied());
        }
    }
    out
}

/// Refuses what ACSL and C do not mean the same by.
fn check(claim: &Lexed) -> Result<(), String> {
    let mut compared = false;
    let mut value = false;
    for (index, &token) in claim.tokens.iter().enumerate() {
        let word = claim.spelling(token);
        let after = claim.tokens.get(index + 1).map(|next| next.kind);
        let known = match (token.kind, word) {
            (Kind::Word | Kind::Number, _) => true,
            (Kind::Sign, b"==" | b"!=" | b"<" | b"<=" | b">" | b">=") => {
                // `a < b < c` is `a < b && b < c` there.
                !std::mem::replace(&mut compared, true)
            }
            (Kind::Sign, b"&&" | b"||" | b"(" | b")" | b"[" | b"]") => {
                compared = false;
                true
            }
            (Kind::Sign, b"!" | b"." | b"->") => true,
            (Kind::Sign, b"-") => !value && after == Some(Kind::Number),
            (Kind::Sign, b"*") => !value && after == Some(Kind::Word),
            _ => false,
        };
        if !known {
            let word = String::from_utf8_lossy(word).into_owned();
            return Err(format!("`{word}` in an assertion in a comment is not read here; write `assert(…)`"));
        }
        value = matches!(token.kind, Kind::Word | Kind::Number) || matches!(word, b")" | b"]");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assertion_in_a_comment_is_a_call_of_the_same_length() {
        let text = b"int f() { g();\n  //@ assert x == 0 || \\false;\n /*@assert a[i]->b < -2;*/ /* @ */ return 0; }";
        let out = written_out(text).unwrap();
        assert_eq!(out.len(), text.len());
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("__acsl( x == 0 || 0     );"), "{out}");
        assert!(out.contains("__acsl( a[i]->b < -2);"), "{out}");
    }

    #[test]
    fn what_acsl_means_in_another_way_is_refused() {
        for claim in ["0 < x < 2", "x + 1 == y", "a ==> b", "\\old(x) == x", "x == 0; assert y", "x - 1 == 0"]
        {
            let text = format!("{{ //@ assert {claim};\n}}");
            assert!(written_out(text.as_bytes()).is_err(), "{claim}");
        }
        assert!(written_out(b"if (x) //@ assert y;\n z();").is_err());
        assert!(written_out(b"{ char *s = \"//@ assert x + 1;\"; }").is_ok());
    }
}
