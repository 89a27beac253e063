//! Functions of `<string.h>`, and a few others, that a program calls and does not define, as C.
//!
//! They are read behind the text of the program, and called like its own functions: byte by byte, so that other threads may see
//! a string that is half copied, and what lies outside of an object is found out. The places of their steps are those of the
//! calls. Where the standard leaves a choice, they make those of the implementations there are: what is unequal differs by 1, or
//! by the difference of its characters.

use crate::instrument::Instrumentation;
use crate::sema::{self, CError};
use crate::source::LineMap;
use crate::typed::{DataModel, FunctionId, Unit};
use allways_model::program::{Edge, Expr, Op, Span};

/// The functions: names, and definitions in which `size_t` is still to be replaced.
const FUNCTIONS: [(&str, &str); 16] = [
    (
        "memcmp",
        "_Bool __VERIFIER_nondet_bool(void); int memcmp(const void *s, const void *t, size_t most) { const char *p = s, *q = t; size_t n = 0; while (n < most && p[n] == q[n]) n++; if (n == most) return 0; unsigned char a = p[n], b = q[n]; return __VERIFIER_nondet_bool() ? a - b : (a > b) - (a < b); }",
    ),
    ("toupper", "int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; }"),
    ("tolower", "int tolower(int c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }"),
    ("strlen", "size_t strlen(const char *s) { size_t n = 0; while (s[n]) n++; return n; }"),
    (
        "strnlen",
        "size_t strnlen(const char *s, size_t most) { size_t n = 0; while (n < most && s[n]) n++; return n; }",
    ),
    (
        "strcpy",
        "char *strcpy(char *to, const char *from) { size_t n = 0; while (from[n]) { to[n] = from[n]; n++; } to[n] = 0; return to; }",
    ),
    (
        "stpcpy",
        "char *stpcpy(char *to, const char *from) { size_t n = 0; while (from[n]) { to[n] = from[n]; n++; } to[n] = 0; return to + n; }",
    ),
    (
        "strncpy",
        "char *strncpy(char *to, const char *from, size_t most) { size_t n = 0; while (n < most && from[n]) { to[n] = from[n]; n++; } while (n < most) { to[n] = 0; n++; } return to; }",
    ),
    (
        "strcat",
        "char *strcat(char *to, const char *from) { size_t m = 0, n = 0; while (to[m]) m++; while (from[n]) { to[m] = from[n]; m++; n++; } to[m] = 0; return to; }",
    ),
    (
        "strncat",
        "char *strncat(char *to, const char *from, size_t most) { size_t m = 0, n = 0; while (to[m]) m++; while (n < most && from[n]) { to[m] = from[n]; m++; n++; } to[m] = 0; return to; }",
    ),
    (
        "strcmp",
        "_Bool __VERIFIER_nondet_bool(void); int strcmp(const char *s, const char *t) { size_t n = 0; while (s[n] && s[n] == t[n]) n++; unsigned char a = s[n], b = t[n]; return a != b && __VERIFIER_nondet_bool() ? a - b : (a > b) - (a < b); }",
    ),
    (
        "strncmp",
        "_Bool __VERIFIER_nondet_bool(void); int strncmp(const char *s, const char *t, size_t most) { size_t n = 0; while (n < most && s[n] && s[n] == t[n]) n++; if (n == most) return 0; unsigned char a = s[n], b = t[n]; return a != b && __VERIFIER_nondet_bool() ? a - b : (a > b) - (a < b); }",
    ),
    (
        "strchr",
        "char *strchr(const char *s, int c) { size_t n = 0; while (s[n] && s[n] != (char) c) n++; return s[n] == (char) c ? (char *) s + n : 0; }",
    ),
    (
        "strrchr",
        "char *strrchr(const char *s, int c) { size_t n = 0; char *last = 0; while (s[n]) { if (s[n] == (char) c) last = (char *) s + n; n++; } return (char) c == 0 ? (char *) s + n : last; }",
    ),
    (
        "strspn",
        "size_t strspn(const char *s, const char *among) { size_t n = 0; while (s[n]) { size_t m = 0; while (among[m] && among[m] != s[n]) m++; if (!among[m]) return n; n++; } return n; }",
    ),
    (
        "strcspn",
        "size_t strcspn(const char *s, const char *until) { size_t n = 0; while (s[n]) { size_t m = 0; while (until[m] && until[m] != s[n]) m++; if (until[m]) return n; n++; } return n; }",
    ),
];

/// Reads a text, and the functions that it calls and does not define behind it.
pub fn analyse(text: &[u8], map: &LineMap, model: DataModel) -> Result<Unit, Vec<CError>> {
    analyse_with(text, map, model, None)
}

/// [`analyse`], with what is stated beside the program about places of this source.
pub fn analyse_with(
    text: &[u8],
    map: &LineMap,
    model: DataModel,
    stated: Option<(&Instrumentation, &[u8])>,
) -> Result<Unit, Vec<CError>> {
    let unit = sema::analyse_with(text, map, model, stated)?;
    let missing = |name: &str| {
        unit.functions
            .iter()
            .any(|function| function.name == name && function.body.is_none() && function.declared)
    };
    let used: Vec<(&str, &str)> = FUNCTIONS.into_iter().filter(|(name, _)| missing(name)).collect();
    if used.is_empty() {
        return Ok(unit);
    }
    let size = match model {
        DataModel::Ilp32 => "unsigned int",
        DataModel::Lp64 => "unsigned long",
    };
    let mut longer = text.to_vec();
    longer.push(b'\n');
    for (_, definition) in &used {
        longer.extend_from_slice(definition.replace("size_t", size).as_bytes());
        longer.push(b' ');
    }
    // A program that declares one of them otherwise is taken as it is.
    let Ok(mut longer) = sema::analyse_with(&longer, map, model, stated) else { return Ok(unit) };
    let named = |function: &&str| longer.functions.iter().position(|other| other.name == **function);
    longer.library = used.iter().filter_map(|(name, _)| named(name)).map(FunctionId).collect();
    Ok(longer)
}

/// Gives a step the place of the call that it belongs to.
pub fn move_to(edge: &mut Edge, span: Span) {
    edge.span = span;
    edge.op.rewrite(&mut |expr| {
        if let Expr::SharedElement(.., place) | Expr::LocalElement(.., place) | Expr::Binary(.., place) = expr
        {
            *place = span;
        }
    });
    if let Op::Assign(places, ..) | Op::Call(_, _, places) = &mut edge.op {
        places.iter_mut().for_each(|place| place.span = span);
    }
}
