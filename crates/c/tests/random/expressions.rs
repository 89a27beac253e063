//! Random expressions of integer types, without undefined behaviour, and of a value that does not depend on the order in
//! which a compiler evaluates operands.
//!
//! Values of unsigned types with 64 bits mostly stay below 2^63, up to where they are followed: what would leave this range is
//! masked, and signed operands are made positive before they are converted. Some programs are *wide*: nothing is masked. An expression has at most one effect, on the *victim*: a local variable whose
//! address nobody takes, and which nothing else in the expression reads.

use super::dice::{Dice, INT, KINDS, Kind};

/// Something that can be read, and perhaps written.
#[derive(Clone, Debug)]
pub struct Place {
    /// How C spells it; `#n` stands for an index below `n`.
    pub text: String,
    /// Its type.
    pub kind: Kind,
    /// Of a bit-field, its width.
    pub width: Option<u8>,
    /// Whether it may be written.
    pub writable: bool,
    /// Whether it may be a victim.
    pub own: bool,
}

impl Place {
    /// The type of its value: that of narrow bit-fields is `int`.
    pub fn value_kind(&self) -> Kind {
        match self.width {
            Some(width) if width < 32 => INT,
            _ => self.kind,
        }
    }
}

/// A function that has no effect, and so can be called anywhere.
#[derive(Clone, Debug)]
pub struct Pure {
    /// Its name.
    pub name: String,
    /// What it returns.
    pub result: Kind,
    /// Its parameters.
    pub parameters: Vec<Kind>,
    /// Whether the first argument is the depth of its recursion.
    pub recursive: bool,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Value {
    /// How C spells it, in parentheses where needed.
    pub text: String,
    /// Its type.
    pub kind: Kind,
    /// Whether it need not be masked.
    wide: bool,
}

impl Value {
    fn new(text: String, kind: Kind) -> Value {
        Value { text, kind, wide: false }
    }

    /// Made positive if it is signed.
    fn positive(self) -> Value {
        let kind = self.kind.promoted();
        match (kind.signed, kind.bits) {
            (false, _) => self,
            (true, 64) => Value::new(format!("({} & 0x7fffffffffffffffl)", self.text), kind),
            (true, _) => Value::new(format!("({} & 0x7fffffff)", self.text), kind),
        }
    }

    /// Fit for being converted to a type.
    pub fn fit(self, to: Kind) -> Value {
        if to.is_wide() && !self.wide { self.positive() } else { self }
    }
}

/// Where expressions come from.
pub struct Expressions {
    /// Numbers.
    pub dice: Dice,
    /// What can be read.
    pub places: Vec<Place>,
    /// What can be called.
    pub functions: Vec<Pure>,
    /// What one effect may change.
    pub victim: Option<Place>,
    /// Whether numbers of 2^63 and more may occur.
    pub wide: bool,
}

impl Expressions {
    /// A constant of a type, as C spells it.
    pub fn constant(&mut self, kind: Kind) -> String {
        let small = self.dice.roll(100) as i64;
        let word = *self.dice.pick(&[
            0,
            1,
            2,
            3,
            7,
            100,
            127,
            128,
            200,
            255,
            256,
            32767,
            32768,
            65535,
            65536,
            1_000_000,
            2_147_483_647,
        ]);
        let value: i64 = match self.dice.roll(4) {
            0 => small,
            1 => -small,
            2 => word,
            _ => -word,
        };
        match (kind.bits, kind.signed) {
            (1, _) => format!("{}", value & 1),
            (8, true) => format!("({})", value as i8),
            (8, false) => format!("{}", value as u8),
            (16, true) => format!("({})", value as i16),
            (16, false) => format!("{}", value as u16),
            (32, true) => format!("({})", value as i32),
            (32, false) => format!("{}u", value as u32),
            (_, true) => format!("({}l)", value.wrapping_mul(if small % 2 == 0 { 1 } else { 4_000_000_007 })),
            (_, false) => {
                format!("{}ul", value.unsigned_abs() * if small % 2 == 0 { 1 } else { 4_000_000_007 })
            }
        }
    }

    /// A place as C spells it, its indices chosen.
    pub fn spelt(&mut self, text: &str) -> String {
        let mut parts = text.split('#');
        let mut spelt = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let length: usize = part[..digits].parse().expect("a length");
            let index = match self.dice.roll(3) {
                0 => {
                    let index = self.leaf_without_index();
                    format!("(unsigned){index} % {length}u")
                }
                1 if length.is_power_of_two() => {
                    let index = self.leaf_without_index();
                    format!("{index} & {}", length - 1)
                }
                _ => self.dice.roll(length).to_string(),
            };
            spelt.push_str(&index);
            spelt.push_str(&part[digits..]);
        }
        spelt
    }

    fn readable(&self, plain: bool) -> Vec<usize> {
        let victim = self.victim.as_ref().map(|victim| victim.text.as_str());
        (0..self.places.len())
            .filter(|&place| {
                let text = &self.places[place].text;
                Some(text.as_str()) != victim && !(plain && text.contains('#'))
            })
            .collect()
    }

    fn leaf_without_index(&mut self) -> String {
        let readable = self.readable(true);
        if readable.is_empty() {
            return self.constant(INT);
        }
        let place = *self.dice.pick(&readable);
        self.places[place].text.clone()
    }

    fn leaf(&mut self) -> Value {
        let readable = self.readable(false);
        if readable.is_empty() || self.dice.once_in(5) {
            if self.dice.once_in(8) {
                let name = *self.dice.pick(&["A0@", "B0@", "C0@", "A1@", "B1@", "C1@", "'a'", "'\\377'"]);
                return Value::new(name.to_string(), INT);
            }
            let kind = *self.dice.pick(&KINDS);
            let kind = kind.promoted();
            return Value::new(self.constant(kind), kind);
        }
        let place = self.places[*self.dice.pick(&readable)].clone();
        Value::new(self.spelt(&place.text), place.value_kind())
    }

    /// Any expression.
    pub fn value(&mut self, depth: usize) -> Value {
        let mut value = self.any(depth);
        value.wide = self.wide;
        value
    }

    fn any(&mut self, depth: usize) -> Value {
        if let Some(victim) = self.victim.clone()
            && self.dice.once_in(4)
        {
            return self.effect(&victim, depth);
        }
        if depth == 0 {
            return self.leaf();
        }
        match self.dice.roll(21) {
            20 => {
                // gcc 12 fails on a comma between constants that is converted to `_Bool`.
                let (left, right) = (self.leaf_without_index(), self.value(depth - 1));
                Value::new(format!("((void){left}, {})", right.text), right.kind)
            }
            0 | 1 => self.leaf(),
            2 => self.unary(depth),
            3 | 4 => self.cast(depth),
            5 | 6 => self.comparison(depth),
            7 => {
                let operator = *self.dice.pick(&["&&", "||"]);
                let (left, right) = (self.value(depth - 1), self.value(depth - 1));
                Value::new(format!("({} {operator} {})", left.text, right.text), INT)
            }
            8 => self.conditional(depth),
            9 | 10 => self.shift(depth),
            11 if !self.functions.is_empty() => self.call(depth),
            _ => self.arithmetic(depth),
        }
    }

    /// An effect on the victim, of which there is none afterwards.
    fn effect(&mut self, victim: &Place, depth: usize) -> Value {
        self.victim = None;
        let hidden = self.places.clone();
        let read_itself = self.dice.once_in(2);
        if !read_itself {
            self.places.retain(|place| place.text != victim.text);
        }
        let kind = victim.value_kind();
        let name = &victim.text;
        let value = match self.dice.roll(4) {
            0 => Value::new(format!("{name}++"), kind),
            1 => Value::new(format!("(++{name})"), kind),
            2 if !kind.is_wide() => {
                let text = if self.dice.once_in(2) { format!("{name}--") } else { format!("(--{name})") };
                Value::new(text, kind)
            }
            _ => {
                let value = self.value(depth.saturating_sub(1)).fit(kind);
                Value::new(format!("({name} = {})", value.text), kind)
            }
        };
        // Nothing else in this expression may read it.
        self.places = hidden;
        self.places.retain(|place| place.text != victim.text);
        value
    }

    fn pair(&mut self, depth: usize) -> (Value, Value, Kind) {
        let (left, right) = (self.value(depth - 1), self.value(depth - 1));
        let kind = left.kind.common(right.kind);
        let (left, right) = (left.fit(kind), right.fit(kind));
        (left, right, kind)
    }

    fn unary(&mut self, depth: usize) -> Value {
        let value = self.value(depth - 1);
        let kind = value.kind.promoted();
        match self.dice.roll(4) {
            0 => Value::new(format!("(!{})", value.text), INT),
            1 if self.wide || !kind.is_wide() => Value::new(format!("(~{})", value.text), kind),
            2 if self.wide || !kind.is_wide() => Value::new(format!("(- {})", value.text), kind),
            _ => Value::new(format!("(+ {})", value.text), kind),
        }
    }

    fn cast(&mut self, depth: usize) -> Value {
        let to = *self.dice.pick(&KINDS);
        let value = self.value(depth - 1).fit(to);
        Value::new(format!("(({}){})", to.name, value.text), to)
    }

    fn comparison(&mut self, depth: usize) -> Value {
        let (left, right, _) = self.pair(depth);
        let operator = self.dice.pick(&["<", "<=", ">", ">=", "==", "!="]);
        Value::new(format!("({} {operator} {})", left.text, right.text), INT)
    }

    fn conditional(&mut self, depth: usize) -> Value {
        let condition = self.value(depth - 1);
        let (then, other, kind) = self.pair(depth);
        Value::new(format!("({} ? {} : {})", condition.text, then.text, other.text), kind)
    }

    fn shift(&mut self, depth: usize) -> Value {
        let (value, distance) = (self.value(depth - 1), self.value(depth - 1));
        let kind = value.kind.promoted();
        let left = self.dice.once_in(2);
        if kind.is_wide() && left && !self.wide {
            return Value::new(format!("(({} & 0xffffffff) << ({} & 15))", value.text, distance.text), kind);
        }
        let operator = if left { "<<" } else { ">>" };
        Value::new(format!("({} {operator} ({} & {}))", value.text, distance.text, kind.bits - 1), kind)
    }

    fn call(&mut self, depth: usize) -> Value {
        let function = self.dice.pick(&self.functions).clone();
        let mut arguments = Vec::new();
        for (number, &kind) in function.parameters.iter().enumerate() {
            let value = self.value(depth - 1).fit(kind);
            let bounded = number == 0 && function.recursive;
            arguments.push(if bounded { format!("({} & 3)", value.text) } else { value.text });
        }
        Value::new(format!("{}({})", function.name, arguments.join(", ")), function.result)
    }

    fn arithmetic(&mut self, depth: usize) -> Value {
        let (left, right, kind) = self.pair(depth);
        let operator = *self.dice.pick(&["+", "-", "*", "/", "%", "&", "|", "^", "+", "-", "*"]);
        let (left, right) = (left.text, right.text);
        let text = match operator {
            "/" | "%" if kind.signed && self.dice.once_in(2) => {
                format!("({left} {operator} (-(({right} & 7) + 2)))")
            }
            "/" | "%" if kind.signed => format!("({left} {operator} (({right} & 0x7fff) | 1))"),
            "/" | "%" => format!("({left} {operator} ({right} | 1))"),
            "*" if kind.is_wide() && !self.wide => {
                format!("(({left} & 0x7fffffff) * ({right} & 0x7fffffff))")
            }
            "+" if kind.is_wide() && !self.wide => format!("(({left} >> 1) + ({right} >> 1))"),
            "-" if kind.is_wide() && !self.wide => {
                format!("(({left} | 0x4000000000000000ul) - ({right} & 0x3ffffffffffffffful))")
            }
            _ => format!("({left} {operator} {right})"),
        };
        Value::new(text, kind)
    }

    /// `OP= value` for a place of a type.
    pub fn compound(&mut self, kind: Kind, depth: usize) -> String {
        let value = self.value(depth);
        let common = kind.common(value.kind);
        // An operator that might leave the range is not used on wide types.
        if common.is_wide() && kind.signed && !self.wide {
            return format!("+= (long){}", value.text);
        }
        let wide = common.is_wide() && !self.wide;
        let value = value.fit(common);
        let text = value.text;
        match self.dice.roll(if wide { 6 } else { 10 }) {
            0 if common.signed => format!("/= (({text} & 0xfff) | 1)"),
            1 if common.signed => format!("%= (({text} & 0xfff) | 1)"),
            0 => format!("/= ({text} | 1)"),
            1 => format!("%= ({text} | 1)"),
            2 => format!("&= {text}"),
            3 => format!("|= {text}"),
            4 => format!("^= {text}"),
            5 => format!(">>= ({text} & {})", kind.promoted().bits - 1),
            6 => format!("<<= ({text} & {})", kind.promoted().bits - 1),
            7 => format!("*= {text}"),
            8 => format!("-= {text}"),
            _ => format!("+= {text}"),
        }
    }

    /// The value as a number of 32 bits.
    pub fn hashed(value: &str) -> String {
        format!("result@ = result@ * 31u + (unsigned){value};")
    }
}
