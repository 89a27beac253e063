//! Deadlocks: small programs in which threads wait for each other for ever, or do not, by the reference semantics, with and
//! without joined steps.

use allways_c::property::Property;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use allways_c::{fuse, lower, read, sema};
use allways_model::program::Program;
use allways_model::program::semantics::{Outcome, State, steps};
use std::collections::HashSet;

const PRELUDE: &str = "typedef unsigned long pthread_t; typedef struct { int x; } pthread_mutex_t;
    typedef struct { int x; } sem_t; typedef struct { int x; } pthread_cond_t; typedef struct { int x; } pthread_barrier_t;
    int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
    int pthread_join(pthread_t, void **); void pthread_exit(void *); int pthread_mutex_lock(pthread_mutex_t *);
    int pthread_mutex_unlock(pthread_mutex_t *); int pthread_mutex_trylock(pthread_mutex_t *);
    int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);
    int pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const void *); int pthread_cond_broadcast(pthread_cond_t *);
    int pthread_barrier_init(pthread_barrier_t *, const void *, unsigned); int pthread_barrier_wait(pthread_barrier_t *);
    int sem_init(sem_t *, int, unsigned); int sem_wait(sem_t *); int sem_post(sem_t *);
    void __VERIFIER_assume(int); void reach_error(void); void abort(void); void exit(int);
    pthread_mutex_t m, k; pthread_cond_t c; sem_t s; pthread_barrier_t b; int x; pthread_t t, u;
    ";

fn stuck(program: &Program) -> bool {
    let mut todo = State::initial(program, &State::counts(program)).expect("initial states");
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let mut found = false;
    while let Some(state) = todo.pop() {
        found |= state.deadlocked(program);
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) if seen.insert(next.clone()) => todo.push(next),
                    Outcome::To(_) => {}
                    outcome => panic!("{outcome:?}"),
                }
            }
        }
    }
    found
}

fn compare(cases: &[(bool, &str)]) {
    let property = Property::named("no-deadlock").expect("its name");
    for (expected, text) in cases {
        let text = format!("{PRELUDE}{text}\n");
        let map = LineMap::identity(text.as_bytes());
        let unit = sema::analyse(text.as_bytes(), &map, DataModel::Lp64).expect("C");
        let plain = lower::lower(&unit, property).expect("it is lowered");
        assert!(plain.left_out.is_empty(), "{:?}\n{text}", plain.left_out);
        let mut plain = plain.program;
        fuse::forget_unreachable(&mut plain);
        let fused = read(text.as_bytes(), &map, DataModel::Lp64, property).expect("it is read").program;
        assert_eq!(stuck(&plain), *expected, "steps alone\n{text}");
        assert_eq!(stuck(&fused), *expected, "joined steps\n{text}");
    }
}

#[test]
fn threads_that_wait_for_each_other_are_stuck() {
    let both = "void *f(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&k); pthread_mutex_unlock(&k); pthread_mutex_unlock(&m); return 0; }";
    let join = "pthread_join(t, 0);";
    let start = "pthread_create(&t, 0, f, 0);";
    let wrong =
        "pthread_mutex_lock(&k); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&k);";
    let right =
        "pthread_mutex_lock(&m); pthread_mutex_lock(&k); pthread_mutex_unlock(&m); pthread_mutex_unlock(&k);";
    let texts = [
        (true, format!("{both} int main(void) {{ {start} {wrong} {join} }}")),
        (true, format!("{both} int main(void) {{ {start} {wrong} }}")),
        (false, format!("{both} int main(void) {{ {start} {right} {join} }}")),
        (false, format!("{both} int main(void) {{ {start} {join} {wrong} }}")),
        (true, "int main(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); }".to_string()),
        (false, "int main(void) { pthread_mutex_lock(&m); return pthread_mutex_trylock(&m); }".to_string()),
        (
            true,
            format!(
                "void *f(void *p) {{ sem_wait(&s); return 0; }} int main(void) {{ sem_init(&s, 0, 0); {start} {join} }}"
            ),
        ),
        (
            false,
            format!(
                "void *f(void *p) {{ sem_wait(&s); return 0; }} int main(void) {{ sem_init(&s, 0, 0); {start} sem_post(&s); {join} }}"
            ),
        ),
        (
            true,
            format!(
                "void *f(void *p) {{ return 0; }} int main(void) {{ pthread_barrier_init(&b, 0, 2); {start} pthread_barrier_wait(&b); {join} }}"
            ),
        ),
        // A lock that a thread holds when it ends.
        (
            true,
            format!(
                "void *f(void *p) {{ pthread_mutex_lock(&m); return 0; }} int main(void) {{ {start} pthread_mutex_lock(&m); {join} }}"
            ),
        ),
        // One that runs for ever keeps the rest from being a deadlock.
        (
            false,
            format!(
                "void *f(void *p) {{ while (1) x = 1 - x; }} int main(void) {{ {start} pthread_mutex_lock(&m); pthread_mutex_lock(&m); }}"
            ),
        ),
    ];
    let cases: Vec<(bool, &str)> = texts.iter().map(|(stuck, text)| (*stuck, text.as_str())).collect();
    compare(&cases);
}

#[test]
fn the_end_of_the_process_ends_all_waiting() {
    let waits = "void *f(void *p) { sem_wait(&s); return 0; }";
    let start = "sem_init(&s, 0, 0); pthread_create(&t, 0, f, 0);";
    let texts = [
        (false, format!("{waits} int main(void) {{ {start} }}")),
        (false, format!("{waits} int main(void) {{ {start} exit(1); }}")),
        (true, format!("{waits} int main(void) {{ {start} pthread_exit(0); }}")),
        (false, format!("{waits} int main(void) {{ {start} reach_error(); pthread_join(t, 0); }}")),
        (false, format!("{waits} int main(void) {{ {start} __VERIFIER_assume(x); pthread_join(t, 0); }}")),
        // A thread that is never created waits for nothing.
        (false, format!("{waits} int main(void) {{ if (x) {{ {start} }} }}")),
        (
            false,
            "void *f(void *p) { abort(); } int main(void) { pthread_create(&t, 0, f, 0); sem_wait(&s); }"
                .to_string(),
        ),
    ];
    let cases: Vec<(bool, &str)> = texts.iter().map(|(stuck, text)| (*stuck, text.as_str())).collect();
    compare(&cases);
}

#[test]
fn a_wait_that_nobody_ends_is_for_ever() {
    let wait = "void *f(void *p) { pthread_mutex_lock(&m); while (!x) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); return 0; }";
    let once = "void *f(void *p) { pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); return 0; }";
    let start = "pthread_create(&t, 0, f, 0);";
    let set = "pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);";
    let two = "pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);";
    let texts = [
        (
            false,
            format!("{wait} int main(void) {{ {start} {set} pthread_cond_signal(&c); pthread_join(t, 0); }}"),
        ),
        (true, format!("{wait} int main(void) {{ {start} {set} pthread_join(t, 0); }}")),
        // The signal comes before the flag.
        (
            true,
            format!("{wait} int main(void) {{ {start} pthread_cond_signal(&c); {set} pthread_join(t, 0); }}"),
        ),
        // The signal may be lost.
        (true, format!("{once} int main(void) {{ {start} pthread_cond_signal(&c); pthread_join(t, 0); }}")),
        // One signal for two that wait, and one for all.
        (
            true,
            format!(
                "{wait} int main(void) {{ {two} {set} pthread_cond_signal(&c); pthread_join(t, 0); pthread_join(u, 0); }}"
            ),
        ),
        (
            false,
            format!(
                "{wait} int main(void) {{ {two} {set} pthread_cond_broadcast(&c); pthread_join(t, 0); pthread_join(u, 0); }}"
            ),
        ),
        (
            false,
            format!(
                "{wait} int main(void) {{ {two} {set} pthread_cond_signal(&c); pthread_cond_signal(&c); pthread_join(t, 0); pthread_join(u, 0); }}"
            ),
        ),
        // Who waits for a while only does not wait for ever.
        (
            false,
            format!("{once} int main(void) {{ {start} pthread_join(t, 0); }}")
                .replace("wait(&c, &m)", "timedwait(&c, &m, 0)"),
        ),
        // A thread that wakes up spuriously may do harm: only then it is not set.
        (
            true,
            format!(
                "void *f(void *p) {{ pthread_mutex_lock(&m); if (!x) pthread_cond_wait(&c, &m); if (!x) sem_wait(&s); pthread_mutex_unlock(&m); return 0; }} int main(void) {{ sem_init(&s, 0, 0); {start} {set} pthread_cond_broadcast(&c); pthread_join(t, 0); }}"
            ),
        ),
    ];
    let cases: Vec<(bool, &str)> = texts.iter().map(|(stuck, text)| (*stuck, text.as_str())).collect();
    compare(&cases);
}
