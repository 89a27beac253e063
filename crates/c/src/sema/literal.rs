//! Numbers, characters and strings, read from the text as the user wrote it.

use super::{Analyser, CHAR, INT, Res, int};
use crate::lexer::{Kind, lex, token_at};
use crate::typed::{Expr, ExprKind, Initial, Storage, Type, Variable, VariableId};
use lang_c::span::Span as Range;

/// What an escape sequence or character stands for, and how many bytes it has.
fn unit(text: &[u8]) -> (u32, usize) {
    let at = |n: usize| text.get(n).copied().unwrap_or(0);
    if at(0) != b'\\' {
        return (u32::from(at(0)), 1);
    }
    let digits = |from: usize, most: usize, base: u32| {
        let mut value = 0_u32;
        let mut count = 0;
        while let Some(digit) = char::from(at(from + count)).to_digit(base).filter(|_| count < most) {
            value = value.wrapping_mul(base).wrapping_add(digit);
            count += 1;
        }
        (value, from + count)
    };
    match at(1) {
        b'n' => (10, 2),
        b't' => (9, 2),
        b'r' => (13, 2),
        b'a' => (7, 2),
        b'b' => (8, 2),
        b'f' => (12, 2),
        b'v' => (11, 2),
        b'e' | b'E' => (27, 2),
        b'0'..=b'7' => digits(1, 3, 8),
        b'x' => digits(2, 16, 16),
        b'u' => digits(2, 4, 16),
        b'U' => digits(2, 8, 16),
        other => (u32::from(other), 2),
    }
}

/// The values of the characters between quotes. In wide ones, UTF-8 is decoded; in others, it stays bytes.
fn units(inner: &[u8], wide: bool) -> Vec<u32> {
    let mut values = Vec::new();
    let mut at = 0;
    while let Some(rest) = inner.get(at..).filter(|rest| !rest.is_empty()) {
        let (mut value, mut length) = unit(rest);
        let named = rest.starts_with(b"\\u") || rest.starts_with(b"\\U");
        if wide && value >= 0x80 && length == 1 {
            let most = rest.get(..4).unwrap_or(rest);
            let text = (1..=most.len()).find_map(|n| std::str::from_utf8(most.get(..n)?).ok());
            if let Some(first) = text.and_then(|text| text.chars().next()) {
                (value, length) = (first as u32, first.len_utf8());
            }
        }
        match char::from_u32(value) {
            Some(letter) if named && !wide => {
                let mut bytes = [0; 4];
                values.extend(letter.encode_utf8(&mut bytes).bytes().map(u32::from));
            }
            _ => values.push(value),
        }
        at += length;
    }
    values
}

/// The type of the characters of a literal by its prefix, and what stands between its quotes.
fn quoted(spelling: &[u8]) -> (Type, &[u8]) {
    let quote = spelling.iter().position(|&byte| byte == b'"' || byte == b'\'').unwrap_or(0);
    let inner = spelling.get(quote + 1..spelling.len().saturating_sub(1)).unwrap_or(b"");
    let ty = match spelling.get(..quote) {
        Some(b"L") => INT,
        Some(b"u") => int(16, false),
        Some(b"U") => int(32, false),
        _ => CHAR,
    };
    (ty, inner)
}

impl Analyser<'_> {
    /// A number or character.
    pub(super) fn literal(&mut self, range: Range) -> Res<Expr> {
        let start = self.normal.original(range.start);
        let token = token_at(&self.normal.clean, start);
        let spelling = self.normal.clean.get(token.start..token.end).unwrap_or(b"");
        let span = self.map.span(token.start, token.end);
        if token.kind == Kind::Char {
            let (ty, inner) = quoted(spelling);
            let values = units(inner, ty != CHAR);
            let value = match ty == CHAR {
                true => match values.as_slice() {
                    [one] => i128::from(*one as u8 as i8),
                    several => {
                        several.iter().fold(0_i128, |value, &unit| (value << 8) | i128::from(unit & 0xff))
                    }
                },
                false => values.last().copied().map_or(0, i128::from),
            };
            let ty = if ty == CHAR { INT } else { ty };
            return Ok(self.number(value, ty, span));
        }
        let spelling = String::from_utf8_lossy(spelling).to_ascii_lowercase();
        match self.integer(&spelling).or_else(|| self.floating(&spelling)) {
            Some(expr) => Ok(Expr { span, ..expr }),
            None => self.error(range, format!("the number `{spelling}` is not read")),
        }
    }

    fn integer(&self, spelling: &str) -> Option<Expr> {
        let (base, digits) = match spelling.as_bytes() {
            [b'0', b'x', ..] => (16, spelling.get(2..)?),
            [b'0', b'b', ..] => (2, spelling.get(2..)?),
            [b'0', _, ..] => (8, spelling.get(1..)?),
            _ => (10, spelling),
        };
        let end = digits.find(|letter: char| !letter.is_digit(base)).unwrap_or(digits.len());
        let (digits, suffix) = digits.split_at(end);
        if digits.is_empty() && base != 8 {
            return None;
        }
        let value = if digits.is_empty() { 0 } else { u64::from_str_radix(digits, base).ok()? };
        let unsigned = suffix.contains('u');
        let longs = suffix.chars().filter(|&letter| letter == 'l').count();
        if suffix.chars().any(|letter| letter != 'u' && letter != 'l') || longs > 2 {
            return None;
        }
        let value = i128::from(value);
        let long = self.long_bits();
        let sizes: &[u8] = match longs {
            0 => &[32, long, 64],
            1 => &[long, 64],
            _ => &[64],
        };
        let signs: &[bool] = match (unsigned, base) {
            (true, _) => &[false],
            (false, 10) => &[true],
            _ => &[true, false],
        };
        let choices = sizes.iter().flat_map(|&bits| signs.iter().map(move |&signed| (bits, signed)));
        let fits = |&(bits, signed): &(u8, bool)| value <= super::enumeration::bounds(bits, signed).1;
        let (bits, signed) = { choices }.find(fits).unwrap_or((64, false));
        Some(self.number(value, int(bits, signed), crate::typed::Span::default()))
    }

    fn floating(&self, spelling: &str) -> Option<Expr> {
        let hexadecimal = spelling.starts_with("0x");
        let body = spelling.trim_end_matches(|letter: char| {
            matches!(letter, 'l' | 'i' | 'j' | 'q' | 'w')
                || (letter == 'd' && !hexadecimal)
                || (letter == 'f' && (!hexadecimal || spelling.contains('p')))
        });
        let suffix = spelling.get(body.len()..)?;
        let size = match suffix {
            _ if suffix.contains('f') => 4,
            _ if suffix.contains('l') => self.long_double(),
            _ => 8,
        };
        let value = if hexadecimal { hexadecimal_float(body.get(2..)?)? } else { body.parse().ok()? };
        Some(self.float(value, size, crate::typed::Span::default()))
    }

    /// The type of the characters of a string literal, and their values without the zero at the end.
    pub(super) fn string_units(&self, range: Range) -> (Type, Vec<u32>) {
        let (start, end) = (self.normal.original(range.start), self.normal.original(range.end));
        let lexed = lex(self.normal.clean.get(start..end).unwrap_or(b""));
        let parts: Vec<_> = lexed.tokens.iter().filter(|token| token.kind == Kind::Str).collect();
        let types = parts.iter().map(|token| quoted(lexed.spelling(**token)).0);
        let ty = { types }.find(|ty| *ty != CHAR).unwrap_or(CHAR);
        let wide = ty != CHAR;
        let values = parts.iter().flat_map(|token| units(quoted(lexed.spelling(**token)).1, wide)).collect();
        (ty, values)
    }

    /// The initial values of an array that a string fills, at most `length` of them.
    pub(super) fn string_parts(
        &self,
        ty: &Type,
        values: &[u32],
        length: Option<u64>,
        range: Range,
    ) -> Vec<Initial> {
        let span = self.span(range);
        let most = length.map_or(values.len() + 1, |length| usize::try_from(length).unwrap_or(usize::MAX));
        let part = |(at, &value): (usize, &u32)| Initial {
            path: vec![at as u64],
            value: self.number(i128::from(value), ty.clone(), span),
        };
        values.iter().chain([&0]).take(most).enumerate().map(part).collect()
    }

    /// The array of a string literal, as an lvalue.
    pub(super) fn string(&mut self, range: Range) -> Expr {
        let (ty, values) = self.string_units(range);
        let letters: String = values.iter().map(|&value| char::from_u32(value).unwrap_or('?')).collect();
        self.string_variable(&letters, ty, &values, range)
    }

    /// A static array with the given characters.
    pub(super) fn string_variable(&mut self, letters: &str, ty: Type, values: &[u32], range: Range) -> Expr {
        let span = self.span(range);
        let initial = self.string_parts(&ty, values, None, range);
        let ty = Type::Array(Box::new(ty), Some(values.len() as u64 + 1));
        let id = VariableId(self.unit.variables.len());
        self.unit.variables.push(Variable {
            name: format!("{letters:?}"),
            ty: ty.clone(),
            storage: Storage::Static,
            initial,
            external: false,
            span,
        });
        Expr { kind: ExprKind::Variable(id), ty, span }
    }
}

/// The value of `1.8p3`, after its `0x`.
fn hexadecimal_float(body: &str) -> Option<f64> {
    let (digits, exponent) = body.split_once('p').unwrap_or((body, "0"));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value = 0.0;
    for letter in whole.chars().chain(part.chars()) {
        value = value * 16.0 + f64::from(letter.to_digit(16)?);
    }
    let exponent: i32 = exponent.parse().ok()?;
    Some(value * 2.0_f64.powi(exponent.checked_sub(4 * i32::try_from(part.len()).ok()?)?))
}
