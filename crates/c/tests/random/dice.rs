//! Numbers that look random and are always the same, and the integer types of C.

use std::ops::Range;

/// The numbers of the random programs that a test takes: as many as usual, or those of `ALLWAYS_RANDOM`, which is how many
/// (`20000`) or which (`5000..20000`).
pub fn seeds(usual: u64) -> Range<u64> {
    let Ok(given) = std::env::var("ALLWAYS_RANDOM") else { return 0..usual };
    let number = |text: &str| text.parse().expect("ALLWAYS_RANDOM is a number or a range");
    match given.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(&given),
    }
}

/// A source of numbers.
pub struct Dice(u64);

impl Dice {
    /// The dice of a seed.
    pub fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        dice.roll(2);
        dice
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    /// Whether one of so many cases occurs.
    pub fn once_in(&mut self, cases: usize) -> bool {
        self.roll(cases) == 0
    }

    /// One of a list.
    pub fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.roll(list.len())]
    }
}

/// An integer type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    /// How C spells it; `@` stands for what makes names of one program its own.
    pub name: &'static str,
    /// Its bits; of `_Bool`, 1.
    pub bits: u8,
    /// Whether it has negative values.
    pub signed: bool,
}

const fn kind(name: &'static str, bits: u8, signed: bool) -> Kind {
    Kind { name, bits, signed }
}

/// `int`
pub const INT: Kind = kind("int", 32, true);

/// `unsigned`
pub const UNSIGNED: Kind = kind("unsigned", 32, false);

/// All kinds, those that matter most more than once.
pub const KINDS: [Kind; 19] = [
    kind("_Bool", 1, false),
    kind("char", 8, true),
    kind("signed char", 8, true),
    kind("unsigned char", 8, false),
    kind("short", 16, true),
    kind("unsigned short", 16, false),
    INT,
    INT,
    UNSIGNED,
    UNSIGNED,
    kind("long", 64, true),
    kind("unsigned long", 64, false),
    kind("long long", 64, true),
    kind("unsigned long long", 64, false),
    kind("enum e0@", 32, false),
    kind("enum e1@", 32, true),
    kind("byte@", 8, false),
    kind("brief@", 16, true),
    INT,
];

impl Kind {
    /// Whether values of it may be beyond what is followed: unsigned with 64 bits.
    pub fn is_wide(self) -> bool {
        self.bits == 64 && !self.signed
    }

    /// The type that values of it are computed with.
    pub fn promoted(self) -> Kind {
        if self.bits < 32 { INT } else { self }
    }

    /// The type that an operator works on: the usual arithmetic conversions.
    pub fn common(self, other: Kind) -> Kind {
        let (left, right) = (self.promoted(), other.promoted());
        if left.bits != right.bits {
            return if left.bits > right.bits { left } else { right };
        }
        if left.signed { right } else { left }
    }
}
