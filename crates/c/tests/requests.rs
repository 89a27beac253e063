//! What is only looked for on request: memory that is not freed, and signed overflow.

#[path = "random/dice.rs"]
#[allow(dead_code, reason = "the random programs of other tests use more of it")]
mod dice;

use allways_c::property::Property;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use allways_c::{fuse, lower, read, sema};
use allways_model::program::Program;
use allways_model::program::semantics::{Outcome, State, steps};
use dice::{Dice, seeds};
use std::collections::HashSet;
use std::fmt::Write;
use std::process::Command;

const PRELUDE: &str = "typedef unsigned long pthread_t; typedef unsigned long size_t;
    int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
    void *malloc(size_t); void free(void *); void *alloca(size_t); void exit(int); void abort(void);
    int __VERIFIER_nondet_int(void); void reach_error(void);
    int x; int *g; pthread_t t;
    ";

/// Whether something goes wrong, by the reference semantics; nothing if not all is followed.
fn wrong(program: &Program) -> Option<bool> {
    let mut todo = State::initial(program, &State::counts(program)).expect("initial states");
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let mut beyond = false;
    while let Some(state) = todo.pop() {
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) if seen.insert(next.clone()) => todo.push(next),
                    Outcome::To(_) => {}
                    Outcome::Wrong(_) => return Some(true),
                    Outcome::Beyond(_) => beyond = true,
                }
            }
        }
    }
    (!beyond).then_some(false)
}

fn verdicts(property: Property, text: &str) -> [Option<bool>; 2] {
    let text = format!("{PRELUDE}{text}\n");
    let map = LineMap::identity(text.as_bytes());
    let unit = sema::analyse(text.as_bytes(), &map, DataModel::Lp64).expect("C");
    let mut plain = lower::lower(&unit, property).expect("it is lowered").program;
    fuse::forget_unreachable(&mut plain);
    let mut fused = read(text.as_bytes(), &map, DataModel::Lp64, property).expect("it is read").program;
    initialise(&mut plain);
    initialise(&mut fused);
    [wrong(&plain), wrong(&fused)]
}

/// Zero for what has any value at first: the programs do not read it.
fn initialise(program: &mut Program) {
    let locals = program.procedures.iter_mut().flat_map(|procedure| &mut procedure.locals);
    for variable in program.shared.iter_mut().chain(locals) {
        let least = variable.ty.bounds().map_or(0, |(low, high)| 0.clamp(low, high));
        variable.initial.iter_mut().for_each(|initial| *initial = initial.or(Some(least)));
    }
}

fn compare(property: Property, cases: &[(Option<bool>, &str)]) {
    for (expected, text) in cases {
        assert_eq!(verdicts(property, text), [*expected; 2], "{property:?}\n{text}");
    }
}

#[test]
fn memory_is_freed_when_the_process_ends() {
    compare(
        Property::named("valid-memcleanup").expect("its name"),
        &[
            (Some(false), "int main(void) { int *p = malloc(4); free(p); }"),
            (Some(true), "int main(void) { int *p = malloc(4); *p = 1; }"),
            (Some(true), "int main(void) { g = malloc(4); return 0; }"),
            (Some(true), "int main(void) { int *p = malloc(4); if (x) { free(p); return 0; } return 1; }"),
            (Some(true), "int main(void) { int *p = malloc(4); if (!x) exit(0); free(p); }"),
            (Some(false), "int main(void) { int *p = malloc(4); if (x) exit(0); free(p); }"),
            (None, "int main(void) { int *p = malloc(4); if (!x) abort(); free(p); }"),
            (Some(false), "int main(void) { int *p = alloca(4); *p = 1; return 0; }"),
            (Some(true), "int main(void) { for (int i = 0; i < 2; i++) { int *p = malloc(4); if (i) free(p); } }"),
            (Some(false), "int main(void) { for (int i = 0; i < 2; i++) { int *p = malloc(4); free(p); } }"),
            // A process that does not end has time.
            (Some(false), "int main(void) { g = malloc(4); while (1) x = 1 - x; }"),
            // Who frees, and when.
            (
                Some(true),
                "void *f(void *p) { free(g); return 0; } int main(void) { g = malloc(4); pthread_create(&t, 0, f, 0); return 0; }",
            ),
            (
                Some(false),
                "void *f(void *p) { free(g); return 0; }
                 int main(void) { g = malloc(4); pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }",
            ),
        ],
    );
}

#[test]
fn memory_is_lost_when_nothing_points_to_it() {
    let property = Property { leaks: true, ..Property::named("valid-memsafety").expect("its name") };
    compare(
        property,
        &[
            (Some(true), "int main(void) { int *p = malloc(4); *p = 1; return 0; }"),
            (Some(false), "int main(void) { g = malloc(4); return 0; }"),
            (Some(true), "int main(void) { g = malloc(4); g = 0; return 0; }"),
            (Some(false), "int main(void) { g = malloc(8); g = g + 1; return 0; }"),
            (Some(false), "int main(void) { g = malloc(4); free(g); g = 0; return 0; }"),
            (Some(false), "int **h; int main(void) { h = malloc(sizeof(int *)); *h = malloc(4); return 0; }"),
        ],
    );
}

#[test]
fn signed_numbers_stay_in_range() {
    compare(
        Property::named("no-overflow").expect("its name"),
        &[
            (Some(true), "int main(void) { x = 2147483647; x++; }"),
            (Some(false), "int main(void) { x = 2147483646; x++; }"),
            (Some(true), "int main(void) { x = 2147483647; int y = x + 1; }"),
            (Some(true), "int main(void) { x = 65536; x *= x; }"),
            (Some(true), "int main(void) { x = -2147483647; x = x - 2; }"),
            (Some(true), "int main(void) { x = -2147483647 - 1; x = -x; }"),
            (
                Some(true),
                "int main(void) { x = 2147483647; if (g && x + 1 > 0) x = 0; if (!g && x + 1 > 0) x = 1; }",
            ),
            (Some(false), "int main(void) { x = 2147483647; if (g && x + 1 > 0) x = 0; }"),
            (Some(false), "int main(void) { x = 2147483647; x = g ? x + 1 : 0; }"),
            (Some(true), "int main(void) { x = 2147483647; x + 1; }"),
            // These wrap around.
            (
                Some(false),
                "int main(void) { unsigned y = 4294967295u; y++; signed char z = 127; z++; short s = 32767; s += 1; }",
            ),
            (Some(false), "int main(void) { _Atomic int y = 2147483647; y++; }"),
            (None, "int main(void) { x = 1; x = x << 31; }"),
            // Two threads add: together it is too much.
            (
                Some(true),
                "void *f(void *p) { x += 1; return 0; } int main(void) { x = 2147483646; pthread_create(&t, 0, f, 0); x += 1; }",
            ),
            (
                Some(false),
                "void *f(void *p) { x += 1; return 0; } int main(void) { x = 2147483645; pthread_create(&t, 0, f, 0); x += 1; }",
            ),
        ],
    );
}

/// An expression of variables, by chance.
fn expression(random: &mut Dice, depth: usize) -> String {
    // Of constants, gcc computes some things in another order.
    let leaf = ["a", "b", "c", "one", "root", "above", "half", "most", "least"];
    if depth == 0 || random.once_in(4) {
        return random.pick(&leaf).to_string();
    }
    let left = expression(random, depth - 1);
    let right = expression(random, depth - 1);
    match random.roll(8) {
        0 => format!("-({left})"),
        1 => format!("(({left}) < ({right}) && ({right}) + a)"),
        2 => format!("(({left}) > 0 ? ({right}) : ({left}))"),
        3 => format!("({left}) * ({right})"),
        4 | 5 => format!("({left}) - ({right})"),
        _ => format!("({left}) + ({right})"),
    }
}

/// What gcc's sanitizer stops is what overflows here, on programs with one run.
#[test]
fn the_sanitizer_of_gcc_agrees() {
    let folder = std::env::temp_dir().join(format!("allways-overflow-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let property = Property::named("no-overflow").expect("its name");
    let mut found = [0; 2];
    for number in seeds(60) {
        let mut random = Dice::new(number);
        let mut body = String::new();
        for _ in 0..1 + random.roll(3) {
            let (to, value) = (*random.pick(&["a", "b", "c"]), expression(&mut random, 2));
            let operator = random.pick(&["=", "+=", "-=", "*=", "="]);
            let _ = write!(body, "{to} {operator} {value}; ");
        }
        let text = format!(
            "volatile int a = 3, b = -2, c = 1000, one = 1, root = 46340, above = 46341, half = 1073741823, most = 2147483647,
             least = -2147483647; int main(void) {{ {body}return 0; }}"
        );
        let file = folder.join("program.c");
        std::fs::write(&file, &text).expect("it is written");
        let built = Command::new("gcc")
            .args(["-w", "-fsanitize=signed-integer-overflow", "-fno-sanitize-recover=all", "-o"])
            .arg(folder.join("program"))
            .arg(&file)
            .output();
        match built {
            Ok(output) if output.status.success() => {}
            _ => {
                eprintln!("skipped: gcc, or its sanitizer, is not there");
                return;
            }
        }
        let run = Command::new(folder.join("program")).output().expect("it runs");
        let overflows = !run.status.success();
        assert_eq!(verdicts(property, &text), [Some(overflows); 2], "{number}\n{text}");
        found[usize::from(overflows)] += 1;
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(found.iter().all(|&count| count > 0), "{found:?}");
}
