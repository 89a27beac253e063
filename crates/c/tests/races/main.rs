//! Data races: programs with and without them, and random ones against the definition.

#[path = "../random/dice.rs"]
#[allow(dead_code, reason = "the random programs of other tests use more of it")]
mod dice;
mod locks;
mod order;
mod random;
mod reference;
mod sanitizer;

use allways_c::lower::{self, Lowered};
use allways_c::property::Property;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use allways_c::{read, sema};
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Program, Target, Wrong};
use reference::Found;
use std::collections::HashSet;

const PRELUDE: &str = "typedef unsigned long pthread_t; typedef struct { int x; } pthread_mutex_t;
    typedef struct { int x; } sem_t; typedef struct { int x; } pthread_rwlock_t;
    typedef struct { int x; } pthread_barrier_t; typedef volatile int pthread_spinlock_t; typedef int pthread_once_t;
    int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
    int pthread_join(pthread_t, void **); int pthread_mutex_lock(pthread_mutex_t *);
    int pthread_mutex_unlock(pthread_mutex_t *); int pthread_mutex_trylock(pthread_mutex_t *);
    int pthread_rwlock_rdlock(pthread_rwlock_t *); int pthread_rwlock_wrlock(pthread_rwlock_t *);
    int pthread_rwlock_unlock(pthread_rwlock_t *); int pthread_spin_lock(pthread_spinlock_t *);
    int pthread_spin_unlock(pthread_spinlock_t *); int pthread_once(pthread_once_t *, void (*)(void));
    int pthread_barrier_init(pthread_barrier_t *, const void *, unsigned); int pthread_barrier_wait(pthread_barrier_t *);
    int sem_init(sem_t *, int, unsigned); int sem_wait(sem_t *); int sem_post(sem_t *);
    void *malloc(unsigned long); void *calloc(unsigned long, unsigned long); void free(void *); int printf(const char *, ...);
    void __VERIFIER_assume(int); void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);
    void reach_error(void); void abort(void);
    ";

const RACES: &str = "no-data-race";

fn property() -> Property {
    Property::named(RACES).expect("its name")
}

/// The program as it is lowered, and the one that watches for races.
fn programs(text: &str) -> Result<(Lowered, Program), String> {
    let map = LineMap::identity(text.as_bytes());
    let messages = |errors: Vec<sema::CError>| errors[0].message.clone();
    let unit = sema::analyse(text.as_bytes(), &map, DataModel::Lp64).map_err(messages)?;
    let mut plain = lower::lower(&unit, property()).map_err(|error| error.message)?;
    let mut watching = read(text.as_bytes(), &map, DataModel::Lp64, property()).map_err(messages)?.program;
    initialise(&mut plain.program);
    initialise(&mut watching);
    Ok((plain, watching))
}

/// Zero for what has any value at first: the programs do not read it.
fn initialise(program: &mut Program) {
    let locals = program.procedures.iter_mut().flat_map(|procedure| &mut procedure.locals);
    for variable in program.shared.iter_mut().chain(locals) {
        let least = variable.ty.bounds().map_or(0, |(low, high)| 0.clamp(low, high));
        variable.initial.iter_mut().for_each(|initial| *initial = initial.or(Some(least)));
    }
}

/// What a program that watches for races says; nothing if there are more states than this.
fn watched(program: &Program, most: usize) -> Option<Found> {
    let mut todo = State::initial(program, &State::counts(program))?;
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let mut beyond = false;
    while let Some(state) = todo.pop() {
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) if seen.insert(next.clone()) => todo.push(next),
                    Outcome::To(_) => {}
                    Outcome::Wrong(violation) => {
                        assert_eq!(violation.kind, Wrong::Error);
                        return Some(Found::Race);
                    }
                    Outcome::Beyond(_) => beyond = true,
                }
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(if beyond { Found::Beyond } else { Found::None })
}

/// Checks that programs race or do not, as said, and that the definition agrees.
fn compare(cases: &[(Found, &str)]) {
    let mut wrong = Vec::new();
    for (expected, text) in cases {
        let (plain, watching) = match programs(&format!("{PRELUDE}{text}\n")) {
            Ok(both) => both,
            Err(message) => {
                wrong.push(format!("refused: {message}\n{text}"));
                continue;
            }
        };
        let found = watched(&watching, 400_000);
        let defined = reference::races(&plain, 400_000);
        let ordered = order::races(&plain, 400_000);
        if [found, defined, ordered] != [Some(*expected); 3] {
            wrong.push(format!(
                "{expected:?} expected, {found:?} found, {defined:?} and {ordered:?} defined\n{text}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_orders_accesses_prevents_races() {
    let two = "int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); }";
    let join = "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); x = 2; }";
    let before = "int main(void) { pthread_t t; x = 2; pthread_create(&t, 0, f, 0); }";
    let early = "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 2; pthread_join(t, 0); }";
    let texts = [
        (Found::Race, format!("int x; void *f(void *a) {{ x++; return 0; }} {two}")),
        (Found::None, format!("int x; void *f(void *a) {{ return x ? a : 0; }} {two}")),
        (Found::None, format!("int x; void *f(void *a) {{ x++; return 0; }} {join}")),
        (Found::None, format!("int x; void *f(void *a) {{ x++; return 0; }} {before}")),
        (Found::Race, format!("int x; void *f(void *a) {{ x++; return 0; }} {early}")),
        (Found::Race, format!("int x; void *f(void *a) {{ int y = x; return 0; }} {early}")),
        (
            Found::None,
            format!("int x; pthread_mutex_t m; void *f(void *a) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }} {two}"),
        ),
        (
            Found::Race,
            format!("int x; pthread_mutex_t m; void *f(void *a) {{ pthread_mutex_lock(&m); pthread_mutex_unlock(&m); x++; return 0; }} {two}"),
        ),
        (
            Found::None,
            format!("int x; pthread_mutex_t m; void *f(void *a) {{ if (pthread_mutex_trylock(&m)) return 0; x++; pthread_mutex_unlock(&m); return 0; }} {two}"),
        ),
        (
            Found::None,
            format!("int x; pthread_spinlock_t m; void *f(void *a) {{ pthread_spin_lock(&m); x++; pthread_spin_unlock(&m); return 0; }} {two}"),
        ),
        (
            Found::Race,
            format!("int x; pthread_rwlock_t m; void *f(void *a) {{ pthread_rwlock_rdlock(&m); x++; pthread_rwlock_unlock(&m); return 0; }} {two}"),
        ),
        (
            Found::None,
            format!("int x; pthread_rwlock_t m; void *f(void *a) {{ pthread_rwlock_wrlock(&m); x++; pthread_rwlock_unlock(&m); return 0; }} {two}"),
        ),
        (
            Found::None,
            format!("int x; pthread_once_t o; void g(void) {{ x++; }} void *f(void *a) {{ pthread_once(&o, g); return x ? a : 0; }} {two}"),
        ),
        (
            Found::None,
            "int x; pthread_barrier_t b; void *f(void *a) { x = 1; pthread_barrier_wait(&b); return 0; } int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 2); pthread_create(&t, 0, f, 0); pthread_barrier_wait(&b); x = 2; }".to_string(),
        ),
        (
            Found::None,
            "int x; sem_t s; void *f(void *a) { x = 1; sem_post(&s); return 0; } int main(void) { pthread_t t; sem_init(&s, 0, 0); pthread_create(&t, 0, f, 0); sem_wait(&s); x = 2; }".to_string(),
        ),
        (
            Found::Race,
            "int x; sem_t s; void *f(void *a) { sem_post(&s); x = 1; return 0; } int main(void) { pthread_t t; sem_init(&s, 0, 0); pthread_create(&t, 0, f, 0); sem_wait(&s); x = 2; }".to_string(),
        ),
        // What ends the process happens before nothing; a failed assertion is none of this property's business.
        (Found::None, format!("int x; void *f(void *a) {{ reach_error(); x++; return 0; }} {two}")),
        (Found::None, format!("int x; void *f(void *a) {{ abort(); x++; return 0; }} {two}")),
    ];
    let cases: Vec<(Found, &str)> = texts.iter().map(|(found, text)| (*found, text.as_str())).collect();
    compare(&cases);
}

/// The number of a thread is written when it is created, also by a loop of which the rounds do not matter otherwise.
#[test]
fn numbers_of_many_threads_are_written() {
    let text = format!(
        "{PRELUDE}pthread_t t[300]; void *f(void *a) {{ pthread_t one = t[0]; return 0; }}
        int main(void) {{ for (int i = 0; i < 300; i++) pthread_create(&t[i], 0, f, 0); }}"
    );
    let (lowered, _) = programs(&text).expect("it is read");
    let numbers = lowered.program.shared.iter().find(|variable| variable.name == "t").expect("the array");
    let writes = |target: &Target| matches!(target, Target::SharedElement(slot, ..) if *slot == numbers.slot);
    let edges = lowered.program.locations.iter().flat_map(|location| &location.edges);
    assert!(edges.flat_map(|edge| edge.op.places()).any(|place| writes(&place.target)));
}

#[test]
fn memory_locations_are_told_apart() {
    let two = "int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); }";
    let texts = [
        (Found::None, format!("int a[3]; void *f(void *p) {{ a[0] = 1; return 0; }} void *g(void *p) {{ a[1] = 1; return 0; }} {two}")),
        (Found::Race, format!("int a[3]; void *f(void *p) {{ a[1] = 1; return 0; }} void *g(void *p) {{ return a[1] ? p : 0; }} {two}")),
        (Found::None, format!("struct {{ int x, y; }} s; void *f(void *p) {{ s.x = 1; return 0; }} void *g(void *p) {{ s.y = 1; return 0; }} {two}")),
        (Found::Race, format!("struct {{ int x : 3; int y : 5; }} s; void *f(void *p) {{ s.x = 1; return 0; }} void *g(void *p) {{ s.y = 1; return 0; }} {two}")),
        (Found::Race, format!("struct {{ int x : 30; int y : 5; }} s; void *f(void *p) {{ s.x = 1; return 0; }} void *g(void *p) {{ s.y = 1; return 0; }} {two}")),
        (Found::None, format!("struct {{ int x : 3; int : 0; int y : 5; }} s; void *f(void *p) {{ s.x = 1; return 0; }} void *g(void *p) {{ s.y = 1; return 0; }} {two}")),
        (Found::None, format!("struct {{ int x : 3; char z; int y : 5; }} s; void *f(void *p) {{ s.x = 1; return 0; }} void *g(void *p) {{ s.y = 1; return 0; }} {two}")),
        (Found::Race, format!("struct t {{ int x, y; }} s, c; void *f(void *p) {{ c = s; return 0; }} void *g(void *p) {{ s.y = 1; return 0; }} {two}")),
        (Found::Race, format!("double d; void *f(void *p) {{ d = 1; return 0; }} void *g(void *p) {{ d = 2; return 0; }} {two}")),
        // The index, and the pointer, are accesses as well.
        (Found::Race, format!("int a[3], i; void *f(void *p) {{ a[i] = 1; return 0; }} void *g(void *p) {{ i = 1; return 0; }} {two}")),
        (Found::None, format!("int x, y, *q = &x; void *f(void *p) {{ *q = 1; return 0; }} void *g(void *p) {{ y = *q ? 1 : 2; return 0; }} {two}").replace("*q ? 1 : 2", "q != 0")),
        (Found::Race, format!("int x, y, *q = &x; void *f(void *p) {{ *q = 1; return 0; }} void *g(void *p) {{ q = &y; return 0; }} {two}")),
        (Found::Race, format!("int x, y, *q = &x; void *f(void *p) {{ *q = 1; return 0; }} void *g(void *p) {{ x = 1; return 0; }} {two}")),
        (Found::None, format!("int x, y, *q = &x; void *f(void *p) {{ *q = 1; return 0; }} void *g(void *p) {{ y = 1; return 0; }} {two}")),
        // Values that are dropped are read nevertheless.
        (Found::Race, format!("int x; void *f(void *p) {{ printf(\"%d\", x); return 0; }} void *g(void *p) {{ x = 1; return 0; }} {two}")),
        (Found::Race, format!("int x; void *f(void *p) {{ (void)x; return 0; }} void *g(void *p) {{ x = 1; return 0; }} {two}")),
        // What is not needed is not read.
        (Found::None, format!("int x, n; void *f(void *p) {{ if (n && x) return p; return 0; }} void *g(void *p) {{ x = 1; return 0; }} {two}")),
        (Found::None, format!("int x, n; void *f(void *p) {{ int y = n; if (y && x) return p; return 0; }} void *g(void *p) {{ x = 1; return 0; }} {two}")),
        (Found::Race, format!("int x, n; void *f(void *p) {{ int y = n; if (y || x) return p; return 0; }} void *g(void *p) {{ x = 1; return 0; }} {two}")),
        (
            Found::None,
            "int *c[2]; void *f(void *p) { *(int *)p = 1; return 0; } int main(void) { pthread_t t, u; c[0] = (int *)malloc(sizeof(int)); c[1] = (int *)malloc(sizeof(int)); pthread_create(&t, 0, f, c[0]); pthread_create(&u, 0, f, c[1]); }".to_string(),
        ),
        (
            Found::Race,
            "void *f(void *p) { *(int *)p = 1; return 0; } int main(void) { pthread_t t, u; int *c = (int *)malloc(sizeof(int)); pthread_create(&t, 0, f, c); pthread_create(&u, 0, f, c); }".to_string(),
        ),
        (
            Found::Race,
            "void *f(void *p) { *(int *)p = 1; return 0; } int main(void) { pthread_t t; int l = 0; pthread_create(&t, 0, f, &l); l = 2; }".to_string(),
        ),
        // To free memory may change all of it.
        (
            Found::Race,
            "struct s { int x, y; }; void *f(void *p) { return ((struct s *)p)->y ? p : 0; } int main(void) { pthread_t t; struct s *c = (struct s *)malloc(sizeof(struct s)); c->y = 1; pthread_create(&t, 0, f, c); free(c); }".to_string(),
        ),
        (
            Found::None,
            "struct s { int x, y; }; void *f(void *p) { return ((struct s *)p)->y ? p : 0; } int main(void) { pthread_t t; struct s *c = (struct s *)malloc(sizeof(struct s)), *d = (struct s *)malloc(sizeof(struct s)); c->y = 1; pthread_create(&t, 0, f, c); free(d); }".to_string(),
        ),
        // The number of a thread is stored by the one that creates it.
        (
            Found::Race,
            "pthread_t t; void *f(void *p) { return t ? p : 0; } int main(void) { pthread_create(&t, 0, f, 0); }".to_string(),
        ),
    ];
    let cases: Vec<(Found, &str)> = texts.iter().map(|(found, text)| (*found, text.as_str())).collect();
    compare(&cases);
}

#[test]
fn atomic_accesses_race_with_plain_ones_only() {
    let two = "int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); }";
    let texts = [
        // The value that is expected is written if it is another one only.
        (
            Found::None,
            "_Atomic int x; int e; void *f(void *p) { __atomic_compare_exchange_n(&x, &e, 1, 0, 5, 5); return 0; } void *g(void *p) { return e ? p : 0; }",
        ),
        (
            Found::Race,
            "_Atomic int x = 5; int e; void *f(void *p) { __atomic_compare_exchange_n(&x, &e, 1, 0, 5, 5); return 0; } void *g(void *p) { return e ? p : 0; }",
        ),
        // What is not atomic although its type is.
        (
            Found::Beyond,
            "struct s { _Atomic int x; int y; } s, c; void *f(void *p) { s.x = 1; return 0; } void *g(void *p) { c = s; return 0; }",
        ),
        (
            Found::Beyond,
            "struct s { _Atomic int x; int y; } s, c; void *f(void *p) { s.x = 1; return 0; } void *g(void *p) { memcpy(&s, &c, sizeof s); return 0; }",
        ),
        (
            Found::Beyond,
            "_Atomic int x[2]; void *f(void *p) { x[1] = 1; return 0; } void *g(void *p) { memset(x, 0, sizeof x); return 0; }",
        ),
        (
            Found::Beyond,
            "_Atomic int x; void *f(void *p) { x = 1; return 0; } void *g(void *p) { return *(int *)&x ? p : 0; }",
        ),
        (
            Found::Beyond,
            "_Atomic int x; int *q; void *f(void *p) { x = 1; return 0; } void *g(void *p) { q = (int *)(void *)&x; *q = 2; return 0; }",
        ),
        (
            Found::None,
            "struct s { _Atomic int x; int y; } s; void *f(void *p) { s.x = 1; return 0; } void *g(void *p) { _Atomic int *q = &s.x; *q += 2; return 0; }",
        ),
        (
            Found::None,
            "struct s { int a, b; }; _Atomic struct s x; void *f(void *p) { struct s y = { 1, 1 }; x = y; return 0; } void *g(void *p) { struct s y = x; return y.a ? p : 0; }",
        ),
        (
            Found::None,
            "_Atomic int x; void *f(void *p) { x++; return 0; } void *g(void *p) { x = 3; return 0; }",
        ),
        (
            Found::None,
            "int x; void *f(void *p) { __sync_fetch_and_add(&x, 1); return 0; } void *g(void *p) { __sync_fetch_and_add(&x, 1); return 0; }",
        ),
        (
            Found::Race,
            "int x; void *f(void *p) { __sync_fetch_and_add(&x, 1); return 0; } void *g(void *p) { x = 1; return 0; }",
        ),
        (
            Found::Race,
            "int x; void *f(void *p) { __sync_fetch_and_add(&x, 1); return 0; } void *g(void *p) { return x ? p : 0; }",
        ),
        (
            Found::Race,
            "int x; void *f(void *p) { return __atomic_load_n(&x, 5) ? p : 0; } void *g(void *p) { x = 1; return 0; }",
        ),
        (
            Found::None,
            "int x; void *f(void *p) { return __atomic_load_n(&x, 5) ? p : 0; } void *g(void *p) { return x ? p : 0; }",
        ),
        (
            Found::None,
            "int x; void *f(void *p) { __VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end(); return 0; } void *g(void *p) { __VERIFIER_atomic_begin(); x = 2; __VERIFIER_atomic_end(); return 0; }",
        ),
        (
            Found::Race,
            "int x; void *f(void *p) { __VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end(); return 0; } void *g(void *p) { return x ? p : 0; }",
        ),
        (
            Found::Race,
            "int x, y; void *f(void *p) { __VERIFIER_atomic_begin(); y = 1; if (y) x++; __VERIFIER_atomic_end(); return 0; } void *g(void *p) { return x ? p : 0; }",
        ),
        (
            Found::None,
            "int x, y; void *f(void *p) { __VERIFIER_atomic_begin(); if (y) x++; __VERIFIER_atomic_end(); return 0; } void *g(void *p) { x = 2; return 0; }",
        ),
        // In the middle of a section nobody else moves.
        (
            Found::None,
            "int x, y; void *f(void *p) { __VERIFIER_atomic_begin(); y = 1; x++; y = 0; __VERIFIER_atomic_end(); return 0; } void *g(void *p) { int r; __VERIFIER_atomic_begin(); r = y; __VERIFIER_atomic_end(); if (r) x = 2; return 0; }",
        ),
        (
            Found::Race,
            "struct { _Atomic int a; int b; } s[2]; int k; void *f(void *p) { s[k].a = 1; s[k].b = 1; return 0; } void *g(void *p) { return s[k].b ? p : 0; }",
        ),
        (
            Found::None,
            "struct { _Atomic int a; int b; } s[2]; int k; void *f(void *p) { s[k].a = 1; s[k].b = 1; return 0; } void *g(void *p) { return s[k].a ? p : 0; }",
        ),
        // Who stores relaxed orders nothing: that is not followed.
        (
            Found::Beyond,
            "int x; void *f(void *p) { __atomic_store_n(&x, 1, 0); return 0; } void *g(void *p) { return __atomic_load_n(&x, 5) ? p : 0; }",
        ),
    ];
    let texts: Vec<(Found, String)> =
        texts.iter().map(|(found, text)| (*found, format!("{text} {two}"))).collect();
    let cases: Vec<(Found, &str)> = texts.iter().map(|(found, text)| (*found, text.as_str())).collect();
    compare(&cases);
}

#[test]
fn random_programs_race_as_defined() {
    let (mut racing, mut free, mut large, mut refused, mut ordered) = (0, 0, 0, 0, 0);
    for seed in dice::seeds(300) {
        let text = format!("{PRELUDE}{}", random::program(seed));
        let Ok((plain, watching)) = programs(&text) else {
            refused += 1;
            continue;
        };
        let both = (watched(&watching, 60_000), reference::races(&plain, 60_000));
        let (Some(found), Some(defined)) = both else {
            large += 1;
            continue;
        };
        assert_eq!(found, defined, "seed {seed}:\n{text}");
        // There are more executions than states, so that fewer programs are small enough.
        if let Some(happens) = order::races(&plain, 60_000) {
            assert_eq!(found, happens, "seed {seed}, by what happens before:\n{text}");
            ordered += 1;
        }
        match found {
            Found::Race => racing += 1,
            _ => free += 1,
        }
    }
    println!("{racing} programs race, {free} do not; {large} are too large, {refused} refused");
    println!("{ordered} were also compared with what happens before what");
    assert!(racing > large && free > large, "{racing} race, {free} do not, {large} are too large");
}
