//! Mutexes and their owners: circles of threads that wait for each other, and threads that end with a mutex, against a search over
//! lists of operations that knows nothing of C.

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

const PRELUDE: &str = "typedef unsigned long pthread_t; typedef struct { int x; } pthread_mutex_t;
    typedef struct { int x; } pthread_cond_t; typedef struct { int x; } pthread_rwlock_t;
    int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
    int pthread_join(pthread_t, void **); void pthread_exit(void *); int pthread_mutex_lock(pthread_mutex_t *);
    int pthread_mutex_unlock(pthread_mutex_t *); int pthread_mutex_trylock(pthread_mutex_t *);
    int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_rwlock_wrlock(pthread_rwlock_t *);
    pthread_mutex_t m[3]; pthread_cond_t c; pthread_rwlock_t r; int x; pthread_t t, u;
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

fn verdicts(property: &str, text: &str) -> [Option<bool>; 2] {
    let property = Property::named(property).expect("its name");
    let text = format!("{PRELUDE}{text}\n");
    let map = LineMap::identity(text.as_bytes());
    let unit = sema::analyse(text.as_bytes(), &map, DataModel::Lp64).expect("C");
    let mut plain = lower::lower(&unit, property).expect("it is lowered").program;
    fuse::forget_unreachable(&mut plain);
    let fused = read(text.as_bytes(), &map, DataModel::Lp64, property).expect("it is read").program;
    [wrong(&plain), wrong(&fused)]
}

fn compare(property: &str, cases: &[(Option<bool>, &str)]) {
    for (expected, text) in cases {
        assert_eq!(verdicts(property, text), [*expected; 2], "{property}\n{text}");
    }
}

const LOCK: &str = "pthread_mutex_lock";
const UNLOCK: &str = "pthread_mutex_unlock";

#[test]
fn circles_are_found_whatever_others_do() {
    let loops = "void *g(void *p) { while (1) x = 1 - x; }";
    let both = format!(
        "void *f(void *p) {{ {LOCK}(&m[0]); {LOCK}(&m[1]); {UNLOCK}(&m[1]); {UNLOCK}(&m[0]); return 0; }}"
    );
    let start = "pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0);";
    let other = format!("{LOCK}(&m[1]); {LOCK}(&m[0]);");
    let same = format!("{LOCK}(&m[0]); {LOCK}(&m[1]);");
    let apart = format!("{LOCK}(&m[1]); {UNLOCK}(&m[1]); {LOCK}(&m[0]);");
    let tried = format!("{LOCK}(&m[1]); if (!pthread_mutex_trylock(&m[0])) {UNLOCK}(&m[0]);");
    let waits = format!("{LOCK}(&m[1]); pthread_cond_wait(&c, &m[1]); {UNLOCK}(&m[1]);");
    let main = |body: &str| format!("{loops} {both} int main(void) {{ {start} {body} }}");
    let texts = [
        (Some(true), main(&other)),
        (Some(false), main(&same)),
        (Some(false), main(&apart)),
        (Some(false), main(&tried)),
        (Some(false), main(&waits)),
        (Some(true), format!("{loops} int main(void) {{ {LOCK}(&m[0]); {LOCK}(&m[0]); }}")),
        (Some(false), format!("int main(void) {{ {LOCK}(&m[0]); {UNLOCK}(&m[0]); {LOCK}(&m[0]); }}")),
        // Joined before: one after the other.
        (
            Some(false),
            format!("{both} int main(void) {{ pthread_create(&t, 0, f, 0); pthread_join(t, 0); {other} }}"),
        ),
        // Not followed: who has a read-write lock.
        (None, "int main(void) { pthread_rwlock_wrlock(&r); }".to_string()),
    ];
    let cases: Vec<(Option<bool>, &str)> =
        texts.iter().map(|(wrong, text)| (*wrong, text.as_str())).collect();
    compare("no-partial-deadlock", &cases);
}

#[test]
fn threads_end_without_mutexes() {
    let thread = |body: &str| {
        format!(
            "void *f(void *p) {{ {body} return 0; }} int main(void) {{ pthread_create(&t, 0, f, 0); {LOCK}(&m[1]); }}"
        )
    };
    let texts = [
        (Some(false), thread(&format!("{LOCK}(&m[0]); {UNLOCK}(&m[0]);"))),
        (Some(true), thread(&format!("{LOCK}(&m[0]); if (x) {UNLOCK}(&m[0]);"))),
        (Some(true), thread(&format!("{LOCK}(&m[0]); pthread_exit(0);"))),
        (Some(true), thread("pthread_mutex_trylock(&m[0]);")),
        (Some(false), thread(&format!("if (!pthread_mutex_trylock(&m[0])) {UNLOCK}(&m[0]);"))),
        (Some(false), thread(&format!("{LOCK}(&m[0]); pthread_cond_wait(&c, &m[0]); {UNLOCK}(&m[0]);"))),
        (Some(true), thread(&format!("{LOCK}(&m[0]); pthread_cond_wait(&c, &m[0]);"))),
    ];
    let cases: Vec<(Option<bool>, &str)> =
        texts.iter().map(|(wrong, text)| (*wrong, text.as_str())).collect();
    compare("no-held-mutex", &cases);
}

/// A thread: mutexes that it takes (positive, from 1 on) and gives back (negative).
type Operations = Vec<i32>;

/// Whether some threads wait in a circle in some state, and whether some thread but the first ends with a mutex.
fn search(threads: &[Operations]) -> (bool, bool) {
    let start = (vec![0usize; threads.len()], [None::<usize>; 3]);
    let mut todo = vec![start.clone()];
    let mut seen = HashSet::from([start]);
    let (mut circle, mut held) = (false, false);
    while let Some((at, owners)) = todo.pop() {
        let waits = |thread: usize| match threads[thread].get(at[thread]) {
            Some(&lock) if lock > 0 => owners[lock as usize - 1],
            _ => None,
        };
        for first in 0..threads.len() {
            let mut thread = first;
            for _ in 0..threads.len() {
                let Some(next) = waits(thread) else { break };
                thread = next;
                circle |= thread == first;
            }
        }
        for thread in 0..threads.len() {
            let Some(&operation) = threads[thread].get(at[thread]) else {
                held |= thread > 0 && owners.contains(&Some(thread));
                continue;
            };
            let (mut at, mut owners) = (at.clone(), owners);
            at[thread] += 1;
            let lock = operation.unsigned_abs() as usize - 1;
            if operation > 0 {
                if owners[lock].is_some() {
                    continue;
                }
                owners[lock] = Some(thread);
            } else {
                owners[lock] = None;
            }
            if seen.insert((at.clone(), owners)) {
                todo.push((at, owners));
            }
        }
    }
    (circle, held)
}

#[test]
fn random_lists_of_operations_agree() {
    let mut found = [0; 4];
    for number in seeds(300) {
        let mut random = Dice::new(number);
        let threads: Vec<Operations> = (0..2 + random.roll(2))
            .map(|_| {
                let mut held: Vec<i32> = Vec::new();
                let mut operations = Vec::new();
                for _ in 0..1 + random.roll(4) {
                    // Only what a thread has is given back: all else is undefined.
                    if !held.is_empty() && random.once_in(2) {
                        operations.push(-held.swap_remove(random.roll(held.len())));
                    } else {
                        let lock = 1 + random.roll(3) as i32;
                        operations.push(lock);
                        if held.contains(&lock) {
                            break;
                        }
                        held.push(lock);
                    }
                }
                operations
            })
            .collect();
        let mut text = String::new();
        for (number, thread) in threads.iter().enumerate().rev() {
            let mut body = String::new();
            for operation in thread {
                let name = if *operation > 0 { LOCK } else { UNLOCK };
                let _ = write!(body, "{name}(&m[{}]); ", operation.abs() - 1);
            }
            if number > 0 {
                let _ = writeln!(text, "void *f{number}(void *p) {{ {body}return 0; }}");
            } else {
                let creates: String = (1..threads.len())
                    .map(|thread| format!("pthread_create(&t, 0, f{thread}, 0); "))
                    .collect();
                let _ = writeln!(text, "int main(void) {{ {creates}{body}return 0; }}");
            }
        }
        let (circle, held) = search(&threads);
        assert_eq!(verdicts("no-partial-deadlock", &text), [Some(circle); 2], "{number}\n{text}");
        assert_eq!(verdicts("no-held-mutex", &text), [Some(held); 2], "{number}\n{text}");
        found[usize::from(circle)] += 1;
        found[2 + usize::from(held)] += 1;
    }
    assert!(found.iter().all(|&count| count > 0), "{found:?}");
}
