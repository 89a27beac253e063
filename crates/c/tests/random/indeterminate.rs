//! Programs that copy pointers which were never given a value, access what such pointers point to, and now and then look at them:
//! what they do is what an interpreter of their own says.

use super::dice::{Dice, seeds};
use super::ours::{End, programs, run};
use std::fmt::Write;

/// Where pointers are: locals, elements, members, and global elements, which start with null.
const PLACES: [&str; 13] =
    ["p", "q", "a[0]", "a[1]", "a[2]", "a[i]", "s.f", "s.g", "t.f", "t.g", "kept[0]", "kept[1]", "kept[i]"];

/// Which element `[i]` is, of each array.
const FIRST_OF: [usize; 2] = [2, 10];

#[derive(Clone, Copy, PartialEq)]
enum Pointer {
    Null,
    To(usize),
    Never,
}

#[derive(Clone, Copy)]
enum Step {
    Copy(usize, usize),
    Through(usize, usize),
    Chosen(usize, usize, usize),
    Address(usize, usize),
    Null(usize),
    Structs(bool),
    Write(usize, usize),
    Read(usize),
    Index(usize),
    SeeNull(usize),
    SeeEqual(usize, usize),
}

fn step(dice: &mut Dice, sees: bool) -> Step {
    let (to, from) = (dice.roll(PLACES.len()), dice.roll(PLACES.len()));
    match dice.roll(if sees { 16 } else { 14 }) {
        0..3 => Step::Copy(to, from),
        3 => Step::Through(to, from),
        4 => Step::Chosen(to, from, dice.roll(PLACES.len())),
        5..8 => Step::Address(to, dice.roll(2)),
        8 => Step::Null(to),
        9 => Step::Structs(dice.once_in(2)),
        10 => Step::Index(dice.roll(2)),
        11 | 12 => Step::Write(to, dice.roll(9)),
        13 => Step::Read(to),
        14 => Step::SeeNull(to),
        _ => Step::SeeEqual(to, from),
    }
}

fn text(steps: &[Step]) -> String {
    let mut text = String::from(
        "int result, x0, x1, i; int *kept[2];\nstruct pair { int *f; int *g; };\n\
         int *same(int *one) { return one; }\n\
         int main(void) {\n  int *p, *q, *a[3]; struct pair s, t;\n  result = 0;\n",
    );
    for step in steps {
        let place = |number: usize| PLACES[number];
        let line = match *step {
            Step::Copy(to, from) => format!("{} = {};", place(to), place(from)),
            Step::Through(to, from) => format!("{} = same({});", place(to), place(from)),
            Step::Chosen(to, from, other) => {
                format!("{} = i ? {} : {};", place(to), place(from), place(other))
            }
            Step::Address(to, object) => format!("{} = &x{object};", place(to)),
            Step::Null(to) => format!("{} = 0;", place(to)),
            Step::Structs(true) => "s = t;".to_string(),
            Step::Structs(false) => "t = s;".to_string(),
            Step::Write(to, number) => format!("*{} = {number};", place(to)),
            Step::Read(from) => format!("result += *{};", place(from)),
            Step::Index(index) => format!("i = {index};"),
            Step::SeeNull(from) => format!("if ({}) result += 100;", place(from)),
            Step::SeeEqual(one, other) => format!("result += 1000 * ({} == {});", place(one), place(other)),
        };
        let _ = writeln!(text, "  {line}");
    }
    text + "  return 0;\n}\n"
}

/// How the program ends if it is followed; and whether a pointer that was never given a value is used before that, and is seen.
fn interpret(steps: &[Step]) -> (Option<i64>, bool, bool) {
    let mut held = [Pointer::Never; PLACES.len()];
    held[10..].fill(Pointer::Null);
    let (mut objects, mut result, mut index, mut used) = ([0_i64; 2], 0_i64, 0, false);
    for step in steps {
        let at = |place: usize| match PLACES[place] {
            "a[i]" => FIRST_OF[0] + index,
            "kept[i]" => FIRST_OF[1] + index,
            _ => place,
        };
        let mut take = |place: usize| {
            used |= held[at(place)] == Pointer::Never;
            held[at(place)]
        };
        match *step {
            Step::Copy(to, from) | Step::Through(to, from) => held[at(to)] = take(from),
            Step::Chosen(to, from, other) => held[at(to)] = take(if index == 1 { from } else { other }),
            Step::Address(to, object) => held[at(to)] = Pointer::To(object),
            Step::Null(to) => held[at(to)] = Pointer::Null,
            Step::Structs(forth) => {
                let (to, from) = if forth { (6, 8) } else { (8, 6) };
                (held[to], held[to + 1]) = (take(from), take(from + 1));
            }
            Step::Index(new) => index = new,
            Step::Write(place, number) => match take(place) {
                Pointer::To(object) => objects[object] = number as i64,
                Pointer::Null | Pointer::Never => return (None, used, false),
            },
            Step::Read(place) => match take(place) {
                Pointer::To(object) => result += objects[object],
                Pointer::Null | Pointer::Never => return (None, used, false),
            },
            Step::SeeNull(place) => match take(place) {
                Pointer::Never => return (None, true, true),
                one => result += if one == Pointer::Null { 0 } else { 100 },
            },
            Step::SeeEqual(one, other) => {
                let (one, other) = (take(one), take(other));
                if one == Pointer::Never || other == Pointer::Never {
                    return (None, true, true);
                }
                result += if one == other { 1000 } else { 0 };
            }
        }
    }
    (Some(result), used, false)
}

#[test]
fn pointers_without_a_value_are_copied_and_nothing_else() {
    let (mut copied, mut wrong, mut seen) = (0, 0, 0);
    for seed in seeds(500) {
        let mut dice = Dice::new(seed ^ 0xc0b1);
        let sees = dice.once_in(3);
        let steps: Vec<Step> = (0..3 + dice.roll(10)).map(|_| step(&mut dice, sees)).collect();
        let looks = steps.iter().any(|step| matches!(step, Step::SeeNull(_) | Step::SeeEqual(..)));
        let text = text(&steps);
        let (end, used, undetermined) = interpret(&steps);
        for program in programs(&text).unwrap_or_else(|why| panic!("{seed}: {why}\n{text}")) {
            let found = run(&program);
            let right = match (&found, end) {
                (End::Beyond, _) => looks && used,
                (End::Result(result), Some(end)) => *result == end && !undetermined,
                (End::Wrong(_), None) => !undetermined,
                _ => false,
            };
            assert!(right, "{seed}: {found:?} and not {end:?}\n{text}");
        }
        copied += usize::from(used && !looks && end.is_some());
        wrong += usize::from(used && end.is_none() && !looks);
        seen += usize::from(undetermined);
    }
    println!("{copied} programs copy such pointers, {wrong} use them for an access, {seen} look at them");
    assert!(copied > 0 && wrong > 0 && seen > 0);
}
