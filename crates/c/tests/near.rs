//! Programs of which only what leads to an assertion is read: what is found there is found in the whole program.

#[path = "random/dice.rs"]
#[allow(dead_code, reason = "the random programs use more of it")]
mod dice;
#[path = "random/explore.rs"]
mod explore;
#[path = "random/ours.rs"]
#[allow(dead_code, reason = "the random programs use more of it")]
mod ours;

use allways_c::property::Property;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use allways_c::{fuse, lower, near, strings};
use dice::Dice;
use ours::End;
use std::fmt::Write as _;

const PRELUDE: &str = "typedef unsigned long pthread_t; int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
    int pthread_join(pthread_t, void **); void reach_error(void); int __VERIFIER_nondet_int(void); void *malloc(unsigned long);
    int result; ";

/// How runs end, without what is in `result`: of the whole program, or of what is left if it is too large.
///
/// None if there are too many states.
fn ends(text: &str, whole: bool) -> Option<Vec<End>> {
    let text = format!("{PRELUDE}{text}");
    let map = LineMap::identity(text.as_bytes());
    let mut unit = strings::analyse(text.as_bytes(), &map, DataModel::Lp64).expect("it is C");
    assert_eq!(near::cut(&mut unit, if whole { u64::MAX } else { 0 }), !whole);
    let property = Property::named("unreach-call").expect("there is such a property");
    let mut program = lower::lower(&unit, property).expect("it can be lowered").program;
    fuse::forget_unreachable(&mut program);
    ours::initialise(&mut program);
    let mut ends: Vec<End> = explore::ends(&program, 20_000)?
        .into_iter()
        .map(|(end, _)| match end {
            End::Wrong(how) if how == "no thread can move" => End::Beyond,
            End::Wrong(_) => End::Wrong(String::new()),
            End::Result(_) => End::Result(0),
            End::Beyond => End::Beyond,
        })
        .collect();
    ends.sort();
    ends.dedup();
    Some(ends)
}

fn goes_wrong(text: &str, whole: bool) -> bool {
    ends(text, whole).expect("few states").contains(&End::Wrong(String::new()))
}

/// A driver whose interrupt is asked for before all of the device is set up.
const DRIVER: &str = "struct device { int state, *clock, *reset; }; int rest;
    int *get(void) { return malloc(4); }
    void check(int holds) { if (!holds) reach_error(); rest = 1; }
    void log(int what) { rest = what; }
    void *interrupt(void *data) { struct device *d = data; int *now = d->reset; log(1); check(now == d->reset); log(2); return 0; }
    int probe(struct device *d) { pthread_t t; d->state = 0; d->reset = 0;
      if (__VERIFIER_nondet_int()) { rest = 7; return -1; }
      pthread_create(&t, 0, interrupt, d);
      d->clock = get(); if (!d->clock) return -1;
      d->reset = get(); log(3); pthread_join(t, 0); d->state = 1; return 0; }
    int main(void) { struct device *d = malloc(sizeof *d); result = 1; probe(d); log(4); return rest; }";

#[test]
fn a_race_before_an_assertion_is_found_in_what_is_left() {
    assert!(goes_wrong(DRIVER, true));
    assert!(goes_wrong(DRIVER, false));
    let fixed = DRIVER.replace("d->reset = get(); log(3);", "log(3);");
    assert!(!goes_wrong(&fixed, true));
    assert!(!goes_wrong(&fixed, false));
}

#[test]
fn a_run_that_is_not_followed_to_its_end_is_not_over() {
    // All that is left of such a program ends where it is not followed, whatever the functions after it do.
    let fixed = DRIVER.replace("d->reset = get(); log(3);", "log(3);");
    assert_eq!(ends(&fixed, false), Some(vec![End::Beyond]));
    let harmless = "int main(void) { result = 1; return 0; }";
    assert_eq!(ends(harmless, false), Some(vec![End::Beyond]));
}

#[test]
fn what_follows_a_cut_is_not_reached() {
    // The assertion fails if the round of a loop, or the branch, is passed as if it did nothing.
    let text = "int x = 1; void spoil(void) { int i; for (i = 0; i < 3; i++) result++; }
        int main(void) { result = 1; if (__VERIFIER_nondet_int()) { spoil(); return 0; } x = 0; if (x) reach_error(); return 0; }";
    assert!(!goes_wrong(text, true));
    assert!(!goes_wrong(text, false));
}

/// A random program of two threads that share three variables.
struct Random {
    dice: Dice,
    labels: usize,
}

impl Random {
    fn program(seed: u64) -> String {
        let mut random = Random { dice: Dice::new(seed), labels: 0 };
        let mut text = "int a, b, c; struct s { int m, n; } s;\n".to_string();
        for function in 0..3 {
            let body = random.block(1, function);
            let way = random.dice.pick(&["return 0;", "if (b) return 1; return s.m;"]);
            let _ = writeln!(text, "int f{function}(int p) {{ int i, l = p; {body} {way} }}");
        }
        let (one, two) = (random.block(2, 3), random.block(2, 3));
        let join = if random.dice.once_in(2) { "pthread_join(t, 0);" } else { "" };
        let _ = writeln!(text, "void *worker(void *p) {{ int i, l = 0; {one} return 0; }}");
        let _ = write!(
            text,
            "int main(void) {{ int i, l = 0; pthread_t t; result = 1; pthread_create(&t, 0, worker, 0); {two} {join} if (s.n == 2) reach_error(); return 0; }}"
        );
        text
    }

    fn block(&mut self, depth: usize, functions: usize) -> String {
        (0..1 + self.dice.roll(3)).map(|_| self.statement(depth, functions)).collect()
    }

    fn value(&mut self) -> String {
        let parts = ["a", "b", "c", "l", "s.m", "s.n", "0", "1", "2"];
        let (left, right) = (*self.dice.pick(&parts), *self.dice.pick(&parts));
        (*self.dice.pick(&[left.to_string(), format!("{left} == {right}"), format!("!{left}")])).to_string()
    }

    fn statement(&mut self, depth: usize, functions: usize) -> String {
        let value = self.value();
        let to = *self.dice.pick(&["a", "b", "c", "l", "s.m", "s.n"]);
        if depth == 0 {
            return format!("{to} = {value};\n");
        }
        match self.dice.roll(9) {
            0 => format!("if ({value}) {{ {} }}\n", self.block(depth - 1, functions)),
            1 => {
                let (then, other) = (self.block(depth - 1, functions), self.block(depth - 1, functions));
                format!("if ({value}) {{ {then} }} else {{ {other} }}\n")
            }
            2 => format!(
                "for (i = 0; i < 2; i++) {{ {} }}\n",
                self.block(depth - 1, functions).replace("for (i = 0; i < 2; i++)", "")
            ),
            3 if functions > 0 => format!("{to} = f{}({value});\n", self.dice.roll(functions)),
            4 => format!("if ({value}) reach_error();\n"),
            5 => {
                self.labels += 1;
                let label = self.labels;
                let inside = self.block(depth - 1, functions);
                format!("if ({value}) goto l{label}; {inside} l{label}: ;\n")
            }
            6 => format!(
                "switch ({value}) {{ case 0: {to} = 1; break; case 1: {} default: {to} = 0; }}\n",
                self.block(depth - 1, functions)
            ),
            _ => format!("{to} = {value};\n"),
        }
    }
}

#[test]
fn random_programs_go_wrong_only_where_the_whole_does() {
    let (mut found, mut lost) = (0, 0);
    for seed in dice::seeds(300) {
        let text = Random::program(seed);
        let (Some(whole), Some(part)) = (ends(&text, true), ends(&text, false)) else { continue };
        let wrong = End::Wrong(String::new());
        let (whole, part) = (whole.contains(&wrong), part.contains(&wrong));
        assert!(whole || !part, "seed {seed}: {text}");
        found += usize::from(part);
        lost += usize::from(whole && !part);
    }
    println!("{found} found, {lost} lost");
    assert!(found > 3 * lost, "{found} programs go wrong in what is left, {lost} only as a whole");
}
