//! Random texts: good files read back as written, and bad ones get an answer.

use super::*;
use allways_model::pushdown::ThreadRules;

#[test]
fn systems_read_back_as_written() {
    let mut random = Random(7);
    let mut texts = vec![SAMPLE.to_string(), "1\nPDA 7 7".to_string()];
    texts.extend((0..300).map(|_| random.system()));
    let without_lines = |system: &Explicit| {
        let mut system = system.clone();
        for thread in &mut system.threads {
            let rules: Vec<_> =
                thread.iter().map(|&(from, top, rule)| (from, top, Rule { line: 0, ..rule })).collect();
            *thread = ThreadRules::new(rules);
        }
        system
    };
    for text in texts {
        let Some(system) = parse(text.as_bytes()).system else { panic!("expected a good file:\n{text}") };
        let written = write(&system);
        assert_eq!(without_lines(&good(&written)), without_lines(&system), "from\n{text}\nto\n{written}");
        assert_eq!(write(&good(&written)), written);
    }
    assert_eq!(
        write(&good("2 # two\nPDA 0 9\n0 3->1 - # pop\n1 -->0 5\n0 4->0 4 6\nPDA 1 1")),
        "\
2
PDA 3 6
0 3 -> 1 -
1 - -> 0 5
0 4 -> 0 4 6
PDA 0 0
"
    );
}

#[test]
fn nothing_makes_the_reader_panic() {
    let mut random = Random(1);
    let mut outcomes = [0, 0];
    for round in 0..6000 {
        // Every other text with the letters of the format alone, to get further into it.
        let letters = b"0123456789 \n\r\t->PDA#";
        let byte = |random: &mut Random| match random.below(256) {
            any if round % 2 == 0 => any as u8,
            any => letters[any % letters.len()],
        };
        let mut text = if round % 3 == 0 { vec![] } else { random.system().into_bytes() };
        match round % 3 {
            0 => text.extend((0..random.below(200)).map(|_| byte(&mut random))),
            1 => {
                let place = random.below(text.len());
                text[place] = byte(&mut random);
            }
            _ => {
                for _ in 0..=random.below(4) {
                    let (from, to) = (random.below(text.len() + 1), random.below(text.len() + 1));
                    let copy = text[from.min(to)..from.max(to)].to_vec();
                    let place = random.below(text.len() + 1);
                    text.splice(place..(place + random.below(4)).min(text.len()), copy);
                }
            }
        }
        let Parsed { system, diagnostics } = parse(&text);
        show(&text, diagnostics.iter());
        assert_eq!(system.is_none(), diagnostics.has_errors());
        outcomes[usize::from(system.is_some())] += 1;
        let system = system.unwrap_or_else(|| good(SAMPLE));
        for _ in 0..3 {
            let any: Vec<u8> =
                (0..random.below(12)).map(|_| b"012|,.-*# \n\xff\xc3\xa9"[random.below(14)]).collect();
            for remark in
                [parse_init(&system, &any).err(), parse_target(&system, &any).err()].iter().flatten()
            {
                show(&any, [remark]);
            }
        }
    }
    assert!(outcomes.iter().all(|&count| count > 200), "both good and bad files were tried: {outcomes:?}");
}

/// A small generator, the same on every machine (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    /// A good file, with repetitions and symbols out of range.
    fn system(&mut self) -> String {
        let shared = 1 + self.below(4);
        let mut text = format!("{shared}\n");
        for _ in 0..=self.below(3) {
            text += &format!("PDA {} {}\n", self.below(3), 2 + self.below(3));
            for _ in 0..self.below(12) {
                let (from, to) = (self.below(shared), self.below(shared));
                let top = if self.below(4) == 0 { "-".to_string() } else { self.below(6).to_string() };
                let word = match self.below(if top == "-" { 2 } else { 3 }) {
                    0 => "-".to_string(),
                    1 => self.below(6).to_string(),
                    _ => format!("{} {}", self.below(6), self.below(6)),
                };
                text += &format!("{from} {top} -> {to} {word}\n");
            }
        }
        text
    }
}
