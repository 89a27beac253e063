//! GNU C as headers and kernels have it, made into what the parser reads.
//!
//! Literals become plain ones (their values are read from the text later, see [`Normal::original`]), attributes are taken
//! out and kept aside with the token that they follow, and words that only GNU knows are blanked or replaced. A text keeps
//! its bytes where that is possible; where something must be put in (a declaration of a builtin type, the left out part
//! of `a ?: b`), [`Normal::original`] gives the way back.

mod writer;

use crate::lexer::lex;
use crate::parse::{Refusal, check_depth};
use writer::{Written, write};

/// Stands where the middle of `a ?: b` is left out.
pub(crate) const OMITTED: &str = "__allways_omitted";

/// What follows the `Z` that stands for a `$` in a name.
const DOLLAR_TAIL: &str = "__dollar";

/// A name as the user wrote it.
pub(crate) fn as_written(name: &str) -> String {
    name.replace("Z__dollar", "$")
}

/// Types that the compiler knows without a declaration, for the parser, which must know what a type is. Their meaning is
/// in `sema`.
const PREFIX: &str = "typedef int __auto_type,__int128,__int128_t,__uint128_t,__float128,__float80,ZFloat16,ZFloat32,\
                      ZFloat64,ZFloat128,ZFloat32x,ZFloat64x,__builtin_va_list;\n";

/// Attributes that stood together.
#[derive(Clone, Debug)]
pub(crate) struct Attributes {
    /// Where they start in the text.
    pub(crate) start: usize,
    /// The token before them: where it starts and ends. Several in a row all follow the same token.
    pub(crate) after: (usize, usize),
    /// The attributes, by name without underlines, with their arguments.
    pub(crate) list: Vec<(String, String)>,
}

/// A text that the parser reads.
#[derive(Debug)]
pub(crate) struct Normal {
    /// The text for the parser.
    pub(crate) text: String,
    /// What was read, without comments and directives.
    pub(crate) clean: Vec<u8>,
    /// The text for the parser before anything was put in.
    pub(crate) bare: Vec<u8>,
    /// What was taken out, in order.
    pub(crate) attributes: Vec<Attributes>,
    /// From here on in `text`, places are those of `clean` from there on.
    anchors: Vec<(usize, usize)>,
}

impl Normal {
    /// Whether the parser knows a type without a declaration.
    pub(crate) fn knows(name: &str) -> bool {
        PREFIX.split([' ', ',', ';']).any(|known| known == name)
    }

    /// Where the text that was read starts in the text for the parser.
    pub(crate) fn start() -> usize {
        PREFIX.len()
    }

    /// The place in the text that was read of a part of the text for the parser: without the blanks that the parser went
    /// over, and with all of a literal that was made shorter.
    pub(crate) fn extent(&self, start: usize, end: usize) -> (usize, usize) {
        let (start, end) = (self.original(start), self.original(end));
        let part = self.bare.get(start..end).unwrap_or(b"");
        let end = start + part.trim_ascii_end().len();
        let taken = |(bare, clean): &(&u8, &u8)| bare.is_ascii_whitespace() && !clean.is_ascii_whitespace();
        let rest = self.bare.iter().skip(end).zip(self.clean.iter().skip(end));
        (start, if end > start { end + rest.take_while(taken).count() } else { end })
    }

    /// The place in the text that was read for one in the text for the parser.
    pub(crate) fn original(&self, at: usize) -> usize {
        let next = self.anchors.partition_point(|&(new, _)| new <= at);
        let (new, old) =
            next.checked_sub(1).and_then(|last| self.anchors.get(last)).copied().unwrap_or((0, 0));
        let limit = self.anchors.get(next).map_or(self.clean.len(), |&(_, old)| old);
        (old + at.saturating_sub(new)).min(limit)
    }
}

/// Makes a text readable. An error is a place and a reason.
pub(crate) fn normalise(text: &[u8]) -> Result<Normal, Refusal> {
    let lexed = lex(text);
    if let Some((start, end)) = lexed.directive {
        return Err((start, end, "a preprocessor directive in a preprocessed text".to_string()));
    }
    if let Some(start) = lexed.open_comment {
        return Err((start, start + 2, "a comment that does not end".to_string()));
    }
    check_depth(&lexed)?;
    let Written { mut out, mut insertions, attributes } = write(&lexed);
    for byte in &mut out {
        match *byte {
            b'$' => *byte = b'Z',
            0 | 0x80.. => *byte = b'?',
            _ => {}
        }
    }
    insertions.sort_by_key(|&(at, _)| at);
    let text = PREFIX.to_string();
    let mut normal = Normal { text, clean: Vec::new(), bare: Vec::new(), attributes, anchors: vec![(0, 0)] };
    normal.anchors.push((PREFIX.len(), 0));
    let mut from = 0;
    for (at, words) in insertions {
        normal.text.push_str(&String::from_utf8_lossy(out.get(from..at).unwrap_or(b"")));
        normal.anchors.push((normal.text.len(), at));
        normal.text.push_str(words);
        normal.anchors.push((normal.text.len(), at));
        from = at;
    }
    normal.text.push_str(&String::from_utf8_lossy(out.get(from..).unwrap_or(b"")));
    normal.clean = lexed.text;
    normal.bare = out;
    Ok(normal)
}
