//! The program of locks and of whole objects: that it goes wrong wherever threads race, and what it proves.

use super::reference::{self, Found};
use super::{PRELUDE, dice, initialise, order, programs, property, random};
use allways_c::read;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use allways_model::program::Program;
use allways_model::program::semantics::{Outcome, State, steps};
use std::collections::HashSet;

/// The program of locks.
fn locks(text: &str) -> Option<Program> {
    let map = LineMap::identity(text.as_bytes());
    let lowered = read(text.as_bytes(), &map, DataModel::Lp64, property());
    let mut program = lowered.expect("it is read").locks?;
    initialise(&mut program);
    Some(program)
}

/// Whether a program may go wrong, or do what is not followed; nothing if there are more states than this. Of a thread of which there may
/// be any number there are two.
fn goes_wrong(program: &Program, most: usize) -> Option<bool> {
    let counts: Vec<usize> = State::counts(program).iter().map(|&count| count.max(2)).collect();
    let mut todo = State::initial(program, &counts)?;
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) if seen.insert(next.clone()) => todo.push(next),
                    Outcome::To(_) => {}
                    Outcome::Wrong(_) | Outcome::Beyond(_) => return Some(true),
                }
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(false)
}

/// What proofs of the programs of locks say, against two definitions of races.
#[test]
fn no_race_is_hidden_by_locks() {
    let (mut compared, mut free, mut proved, mut without) = (0, 0, 0, 0);
    for seed in dice::seeds(100) {
        let body = if seed % 4 == 0 { random::program(seed) } else { random::locked(seed) };
        let text = format!("{PRELUDE}{body}");
        let Ok((plain, _)) = programs(&text) else { continue };
        let Some(program) = locks(&text) else {
            without += 1;
            continue;
        };
        let Some(wrong) = goes_wrong(&program, 20_000) else { continue };
        let Some(defined) = reference::races(&plain, 20_000) else { continue };
        compared += 1;
        free += usize::from(defined == Found::None);
        if wrong {
            continue;
        }
        proved += 1;
        assert_eq!(defined, Found::None, "seed {seed}:\n{text}");
        // There are more executions than states.
        if let Some(happens) = order::races(&plain, 6_000) {
            assert_eq!(happens, Found::None, "seed {seed}, by what happens before:\n{text}");
        }
    }
    println!(
        "{compared} programs compared, {free} without races, {proved} of them proved by locks; {without} without such a program"
    );
    assert!(compared > without && proved * 3 > free, "{proved} of {free} proved, {without} without");
}

/// Programs whose data is too much to be listed.
#[test]
fn locks_prove_what_has_much_data() {
    let create =
        "int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); }";
    let texts = [
        "int a[500], n; pthread_mutex_t m; void *f(void *p) { for (int i = 0; i < 500; i++) { pthread_mutex_lock(&m); a[i] += n; n = n * 3 + a[(i * 7) % 500]; pthread_mutex_unlock(&m); } return 0; }",
        "unsigned long n; pthread_mutex_t m; void *f(void *p) { for (;;) { pthread_mutex_lock(&m); n = n * 3 + 1; if (n >> 60) n = 0; pthread_mutex_unlock(&m); } return 0; }",
        "int q[64], head, tail, count; pthread_mutex_t m; void *f(void *p) { for (;;) { pthread_mutex_lock(&m); if (count < 64) { q[tail] = head; tail = (tail + 1) % 64; count++; } else { head = (head + 1) % 64; count -= q[head] < 3; } pthread_mutex_unlock(&m); } return 0; }",
        "int a[100]; pthread_rwlock_t l; void *f(void *p) { int s = 0; pthread_rwlock_rdlock(&l); for (int i = 0; i < 100; i++) s += a[i]; pthread_rwlock_unlock(&l); pthread_rwlock_wrlock(&l); a[7] = s; pthread_rwlock_unlock(&l); return 0; }",
        "long n; pthread_mutex_t m; void *f(void *p) { int r = pthread_mutex_trylock(&m); if (!r) { n = n * 5 + 1; pthread_mutex_unlock(&m); } return 0; }",
        "int a[100]; long n; pthread_mutex_t m; void *f(void *p) { int k = 0; for (int i = 0; i < 100; i++) k += a[i]; pthread_mutex_lock(&m); n += k; pthread_mutex_unlock(&m); return 0; }",
    ];
    for text in texts {
        let program =
            locks(&format!("{PRELUDE}{text}\n{create}")).unwrap_or_else(|| panic!("no locks:\n{text}"));
        assert_eq!(goes_wrong(&program, 20_000), Some(false), "{text}");
    }
    let before = "int a[100]; long n; pthread_mutex_t m; void *f(void *p) { for (int i = 0; i < 100; i++) { pthread_mutex_lock(&m); n += a[i]; pthread_mutex_unlock(&m); } return 0; }
        int main(void) { pthread_t t, u; for (int i = 0; i < 100; i++) a[i] = i * i; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); pthread_join(t, 0); pthread_join(u, 0); n = 0; a[3] = 1; }";
    let program = locks(&format!("{PRELUDE}{before}")).expect("it has locks");
    assert_eq!(goes_wrong(&program, 20_000), Some(false));
}

/// Races that are missed by who looks at the names of locks, or at too little of the order of things.
#[test]
fn races_beside_locks_are_no_secret() {
    let two = "int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); }";
    let one = "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);";
    let texts = [
        // The lock is given back in between.
        format!("int x, y; pthread_mutex_t m; void *f(void *p) {{ pthread_mutex_lock(&m); y = x; pthread_mutex_unlock(&m); x = y; pthread_mutex_lock(&m); y = 0; pthread_mutex_unlock(&m); return 0; }} void *g(void *p) {{ pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); return 0; }} {two}"),
        // Another lock on each way.
        format!("int x, c; pthread_mutex_t m, n; void *f(void *p) {{ if (c) pthread_mutex_lock(&m); else pthread_mutex_lock(&n); x++; return 0; }} void *g(void *p) {{ pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); return 0; }} {two}"),
        // A pointer to one of two mutexes.
        format!("int x, c; pthread_mutex_t m, n; void *f(void *p) {{ pthread_mutex_t *l = c ? &m : &n; pthread_mutex_lock(l); x++; pthread_mutex_unlock(l); return 0; }} void *g(void *p) {{ pthread_mutex_t *l = c ? &n : &m; pthread_mutex_lock(l); x++; pthread_mutex_unlock(l); return 0; }} {two}"),
        // Whether the lock was taken is not looked at.
        format!("int x; pthread_mutex_t m; void *f(void *p) {{ pthread_mutex_trylock(&m); x = 1; return 0; }} void *g(void *p) {{ pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m); return 0; }} {two}"),
        // Looked at the wrong way round.
        format!("int x; pthread_mutex_t m; void *f(void *p) {{ if (pthread_mutex_trylock(&m)) x = 1; return 0; }} void *g(void *p) {{ pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m); return 0; }} {two}"),
        // Between its creation and its use by the thread.
        format!("int x; pthread_mutex_t m; void *f(void *p) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }} {one} x = 5; pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }}"),
        // After another thread has been joined.
        "int x; void *f(void *p) { x++; return 0; } void *g(void *p) { return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(u, 0); x = 2; }".to_string(),
        // Different names of one element.
        format!("int a[4], i = 1; pthread_mutex_t m, n; void *f(void *p) {{ pthread_mutex_lock(&m); a[i + 1] = 1; pthread_mutex_unlock(&m); return 0; }} void *g(void *p) {{ pthread_mutex_lock(&n); a[2] = 2; pthread_mutex_unlock(&n); return 0; }} {two}"),
        // Different locks of the same element.
        format!("int a[2]; pthread_mutex_t m[2]; int k; void *f(void *p) {{ pthread_mutex_lock(&m[0]); a[0]++; pthread_mutex_unlock(&m[0]); return 0; }} void *g(void *p) {{ pthread_mutex_lock(&m[1]); a[k]++; pthread_mutex_unlock(&m[1]); return 0; }} {two}"),
        // A copy of a structure reads all of it.
        format!("struct s {{ int x, y; }} a, b; pthread_mutex_t m; void *f(void *p) {{ pthread_mutex_lock(&m); b = a; pthread_mutex_unlock(&m); return 0; }} void *g(void *p) {{ a.y = 1; return 0; }} {two}"),
        // Freed outside of the lock.
        "int *h; pthread_mutex_t m; void *f(void *p) { pthread_mutex_lock(&m); int v = *h; pthread_mutex_unlock(&m); return v ? p : 0; } int main(void) { pthread_t t; h = (int *)malloc(sizeof(int)); *h = 1; pthread_create(&t, 0, f, 0); free(h); }".to_string(),
        // Readers that write.
        format!("int x; pthread_rwlock_t l; void *f(void *p) {{ pthread_rwlock_rdlock(&l); x++; pthread_rwlock_unlock(&l); return 0; }} void *g(void *p) {{ pthread_rwlock_rdlock(&l); int y = x; pthread_rwlock_unlock(&l); return y ? p : 0; }} {two}"),
        // Waiting gives the lock back.
        format!("int x, y; pthread_mutex_t m; pthread_cond_t c; void *f(void *p) {{ pthread_mutex_lock(&m); y = x; pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); x = y; return 0; }} void *g(void *p) {{ pthread_mutex_lock(&m); x = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }} {two}"),
        // A flag is no lock where somebody takes it who has not waited.
        format!("int x; _Atomic int flag; void *f(void *p) {{ flag = 1; x = 1; flag = 0; return 0; }} void *g(void *p) {{ if (!flag) x = 2; return 0; }} {two}"),
    ];
    let conditions = "typedef struct { int x; } pthread_cond_t; int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);";
    for text in texts {
        let text = format!("{PRELUDE}{conditions}{text}\n");
        let (plain, _) = programs(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert_eq!(reference::races(&plain, 400_000), Some(Found::Race), "{text}");
        let wrong = locks(&text).map(|program| goes_wrong(&program, 400_000));
        assert!(wrong.is_none_or(|wrong| wrong == Some(true)), "{text}");
    }
}
