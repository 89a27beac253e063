//! Small programs of threads: the results that the reference semantics finds for them, with and without joined steps, and
//! that of a native run, which must be one of them.

#[path = "random/explore.rs"]
mod explore;
#[path = "random/native.rs"]
#[allow(dead_code, reason = "the random programs use more of it")]
mod native;
#[path = "random/ours.rs"]
#[allow(dead_code, reason = "programs of one thread use more of it")]
mod ours;

use ours::End;
use std::collections::BTreeSet;

/// What the reader knows of the thread library.
const PRELUDE: &str = "typedef unsigned long pthread_t; typedef struct { int x; } pthread_mutex_t;
    typedef struct { int x; } pthread_cond_t; typedef struct { int x; } sem_t; typedef struct { int x; } pthread_rwlock_t;
    typedef struct { int x; } pthread_barrier_t; typedef int pthread_once_t;
    int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
    int pthread_join(pthread_t, void **); void pthread_exit(void *); pthread_t pthread_self(void); int pthread_equal(pthread_t, pthread_t);
    int pthread_mutex_init(pthread_mutex_t *, const void *); int pthread_mutex_lock(pthread_mutex_t *);
    int pthread_mutex_unlock(pthread_mutex_t *); int pthread_mutex_trylock(pthread_mutex_t *);
    int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);
    int pthread_cond_broadcast(pthread_cond_t *);
    int pthread_rwlock_rdlock(pthread_rwlock_t *); int pthread_rwlock_wrlock(pthread_rwlock_t *); int pthread_rwlock_unlock(pthread_rwlock_t *);
    int pthread_barrier_init(pthread_barrier_t *, const void *, unsigned); int pthread_barrier_wait(pthread_barrier_t *);
    int pthread_once(pthread_once_t *, void (*)(void));
    void __VERIFIER_assume(int); void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); void reach_error(void);
    int sem_timedwait(sem_t *, const void *); int sem_getvalue(sem_t *, int *); int pthread_rwlock_tryrdlock(pthread_rwlock_t *);
    int pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const void *); struct timespec { long s, n; };
    int pthread_mutex_timedlock(pthread_mutex_t *, const void *); typedef struct { int x; } pthread_mutexattr_t;
    int pthread_mutexattr_init(pthread_mutexattr_t *); int pthread_mutexattr_settype(pthread_mutexattr_t *, int);
    int sem_init(sem_t *, int, unsigned); int sem_wait(sem_t *); int sem_post(sem_t *); int sem_trywait(sem_t *); void *malloc(unsigned long);\n";

/// Compares the results that are found with those that there are.
fn compare(programs: &[(&[i64], &str)]) {
    let mut wrong = Vec::new();
    let native = native::compiler();
    for (expected, text) in programs {
        let both = match ours::programs(&format!("{PRELUDE}unsigned result;\n{text}\n")) {
            Ok(both) => both,
            Err(message) => {
                wrong.push(format!("refused: {message}\n{text}"));
                continue;
            }
        };
        let [plain, fused] = both.map(|program| explore::ends(&program, 200_000));
        if plain != fused {
            wrong.push(format!("joined steps: {fused:?}, steps alone: {plain:?}\n{text}"));
            continue;
        }
        let found: BTreeSet<End> = plain.into_iter().flatten().map(|(end, _)| end).collect();
        let wanted: BTreeSet<End> = expected.iter().map(|&value| End::Result(value)).collect();
        if found != wanted {
            wrong.push(format!("{found:?} instead of {wanted:?}\n{text}"));
        }
        if native {
            let headers =
                "#include <pthread.h>\n#include <semaphore.h>\n#include <stdlib.h>\nunsigned result;\n";
            let result = native::result(&format!("{headers}{text}\n"));
            if !expected.contains(&result) {
                wrong.push(format!("natively {result}, not one of {expected:?}\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} programs differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn who_joins_itself_is_told_so() {
    compare(&[(
        &[36],
        "int got; void *t(void *u) { got = pthread_join(pthread_self(), 0); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_join(a, 0); result = got + 1; }",
    ), (
        &[5],
        "pthread_t first; int got = 1; void *s(void *u) { return (void *)4; } void *t(void *u) { void *r; got = pthread_join(first, &r); got += (long)r; return 0; }
         int main(void) { pthread_t a; pthread_create(&first, 0, s, 0); pthread_create(&a, 0, t, 0); pthread_join(a, 0); result = got + 1; }",
    )]);
}

#[test]
fn races_have_all_their_outcomes() {
    compare(&[
        (
            &[1, 2],
            "int x; void *f(void *a) { x++; return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); pthread_join(t, 0); pthread_join(u, 0); result = x; }",
        ),
        (
            &[2],
            "_Atomic int x; void *f(void *a) { x++; return 0; } int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, 0); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); result = x; }",
        ),
        (
            &[1, 10, 11],
            "int x, y, a, b; void *f(void *p) { x = 1; a = y; return 0; } void *g(void *p) { y = 1; b = x; return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(t, 0); pthread_join(u, 0); result = a * 10 + b; }",
        ),
        (
            &[0, 11, 12, 21, 22, 10, 20],
            "struct s { int a, b; } s; int i; void *f(void *p) { struct s t = { 1, 1 }; s = t; return 0; } void *g(void *p) { struct s t = { 2, 2 }; s = t; return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); struct s r = s; pthread_join(t, 0); pthread_join(u, 0); result = r.a ? r.a * 10 + r.b : 0; }",
        ),
        (
            &[12, 3],
            "int x = 3, y, *p = &x; void *f(void *a) { *p = 1; return 0; } int main(void) { pthread_t t; y = 2; pthread_create(&t, 0, f, 0); p = &y; pthread_join(t, 0); result = x == 3 ? (y == 1 ? 3 : 0) : x * 10 + y; }",
        ),
    ]);
}

#[test]
fn threads_get_and_return_values() {
    compare(&[
        (
            &[15],
            "void *f(void *a) { return (void *)((long)a * 5); } int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, (void *)3); pthread_join(t, &r); result = (long)r; }",
        ),
        (
            &[97],
            "struct a { int in, out; } v[2] = { { 3, 0 }, { 4, 0 } }; void *f(void *p) { struct a *a = p; a->out = a->in * a->in; return 0; } int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, &v[i]); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); result = v[0].out * 9 + v[1].out; }",
        ),
        (
            &[7],
            "void *f(void *p) { *(int *)p += 4; pthread_exit(0); } int main(void) { int l = 3; pthread_t t; pthread_create(&t, 0, f, &l); pthread_join(t, 0); result = l; }",
        ),
        (
            &[5],
            "struct w { int v; struct w *next; }; void *f(void *p) { struct w *w = p; w->next->v = w->v + 1; return w->next; } int main(void) { struct w *a = malloc(sizeof(struct w)); struct w *b = malloc(sizeof(struct w)); a->v = 4; a->next = b; b->v = 0; b->next = 0; pthread_t t; void *r; pthread_create(&t, 0, f, a); pthread_join(t, &r); result = ((struct w *)r)->v; }",
        ),
        (
            &[6],
            "__thread int own = 1; int sum; pthread_mutex_t m; void *f(void *p) { own += (long)p; pthread_mutex_lock(&m); sum += own; pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, (void *)1); pthread_create(&u, 0, f, (void *)2); pthread_join(t, 0); pthread_join(u, 0); result = sum + own; }",
        ),
        (
            &[12],
            "void *g(void *p) { int *x = p; *x *= 3; return 0; } void *f(void *p) { pthread_t t; pthread_create(&t, 0, g, p); pthread_join(t, 0); return 0; } int main(void) { int x = 4; pthread_t t; pthread_create(&t, 0, f, &x); pthread_join(t, 0); result = x; }",
        ),
    ]);
}

#[test]
fn locks_and_events_order_what_they_protect() {
    compare(&[
        (
            &[4],
            "int x; pthread_mutex_t m; void *f(void *a) { for (int i = 0; i < 2; i++) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); } return 0; } int main(void) { pthread_t t, u; pthread_mutex_init(&m, 0); pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); pthread_join(t, 0); pthread_join(u, 0); result = x; }",
        ),
        (
            &[22],
            "struct a { pthread_mutex_t m; int v; } a[2]; void add(struct a *a, int v) { pthread_mutex_lock(&a->m); a->v += v; pthread_mutex_unlock(&a->m); } void *f(void *p) { add(&a[0], 1); add(&a[1], 1); return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); pthread_join(t, 0); pthread_join(u, 0); result = a[0].v * 10 + a[1].v; }",
        ),
        (
            &[30],
            "int d; sem_t e, k; void *f(void *a) { sem_wait(&e); d = d * 10; sem_post(&k); return 0; } int main(void) { pthread_t t; sem_init(&e, 0, 0); sem_init(&k, 0, 0); pthread_create(&t, 0, f, 0); d = 3; sem_post(&e); sem_wait(&k); result = d; pthread_join(t, 0); }",
        ),
        (
            &[42],
            "int ready, d; pthread_mutex_t m; pthread_cond_t c; void *f(void *a) { pthread_mutex_lock(&m); d = 42; ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); result = d; pthread_mutex_unlock(&m); pthread_join(t, 0); }",
        ),
        (
            &[33],
            "int a, b; pthread_barrier_t w; void *f(void *p) { a = 1; pthread_barrier_wait(&w); b += a + 1; return 0; } int main(void) { pthread_t t; pthread_barrier_init(&w, 0, 2); pthread_create(&t, 0, f, 0); b = 1; pthread_barrier_wait(&w); int l = a + 2; pthread_join(t, 0); result = l * 10 + b; }",
        ),
        (
            &[1],
            "int n; pthread_once_t o; void once(void) { n++; } void *f(void *p) { pthread_once(&o, once); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_once(&o, once); pthread_join(t, 0); result = n; }",
        ),
        (
            &[10, 12],
            "int x = 1; pthread_rwlock_t l; void *f(void *p) { pthread_rwlock_wrlock(&l); x = 7; x = 2; pthread_rwlock_unlock(&l); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_rwlock_rdlock(&l); int a = x; int b = x; pthread_rwlock_unlock(&l); pthread_join(t, 0); result = a == b ? 10 + (a == 2) * 2 : 99; }",
        ),
        (
            &[5, 6],
            "int x = 5; pthread_mutex_t m; void *f(void *p) { if (pthread_mutex_trylock(&m) == 0) { x++; pthread_mutex_unlock(&m); } return 0; } int main(void) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0); pthread_mutex_unlock(&m); pthread_join(t, 0); result = x; }",
        ),
        (
            &[3],
            "int lock, x; void *f(void *p) { while (__sync_lock_test_and_set(&lock, 1)) ; x += (long)p; __sync_lock_release(&lock); return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, (void *)1); pthread_create(&u, 0, f, (void *)2); pthread_join(t, 0); pthread_join(u, 0); result = x; }",
        ),
        (
            &[3],
            "int x; void *f(void *p) { int o = __atomic_load_n(&x, 5); while (!__atomic_compare_exchange_n(&x, &o, o + (long)p, 0, 5, 5)) ; return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, (void *)1); pthread_create(&u, 0, f, (void *)2); pthread_join(t, 0); pthread_join(u, 0); result = x; }",
        ),
    ]);
}

#[test]
fn pointers_travel_through_threads_and_atomics() {
    let list = "struct n { int v; struct n *next; }; struct n *head, a = { 1, 0 }, b = { 2, 0 };";
    let ends = "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); g(&b); pthread_join(t, 0); for (struct n *p = head; p; p = p->next) result = result * 10 + p->v; }";
    let cases = [
        "void g(struct n *n) { do n->next = head; while (!__sync_bool_compare_and_swap(&head, n->next, n)); } void *f(void *p) { g(&a); return 0; }",
        "void g(struct n *n) { struct n *o = __atomic_load_n(&head, 5); do n->next = o; while (!__atomic_compare_exchange_n(&head, &o, n, 0, 5, 5)); } void *f(void *p) { g(&a); return 0; }",
        "void g(struct n *n) { for (;;) { struct n *o = head; n->next = o; if (__sync_val_compare_and_swap(&head, o, n) == o) return; } } void *f(void *p) { g(&a); return 0; }",
        "void g(struct n *n) { struct n *o; __atomic_load(&head, &o, 5); do n->next = o; while (!__atomic_compare_exchange(&head, &o, &n, 0, 5, 5)); } void *f(void *p) { g(&a); return 0; }",
    ];
    let texts: Vec<String> = cases.iter().map(|case| format!("{list} {case} {ends}")).collect();
    let mut programs: Vec<(&[i64], &str)> = texts.iter().map(|text| (&[12, 21][..], text.as_str())).collect();
    programs.extend([
        (&[1, 3][..], "struct n { int v; } a = { 1 }, b = { 3 }, *p = &a; void *f(void *q) { __atomic_exchange_n(&p, &b, 5); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); struct n *q = __atomic_load_n(&p, 5); result = q->v; pthread_join(t, 0); }"),
        (&[13, 31][..], "struct n { int v; } a = { 1 }, b = { 3 }, c = { 5 }, *p = &a, *x, *y; void *f(void *q) { x = __sync_lock_test_and_set(&p, &b); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); y = __atomic_exchange_n(&p, &c, 5); pthread_join(t, 0); result = x->v == 5 ? 31 : x->v * 10 + y->v; result = x->v == 5 ? y->v * 31 : result; }"),
        (&[8][..], "int a = 4, b = 8; void *f(void *p) { pthread_exit(p ? &b : &a); } int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, &a); pthread_join(t, &r); result = *(int *)r; }"),
        (&[44][..], "__thread struct { int a, b[2]; } own = { 1, { 2, 3 } }; int sum; void *f(void *p) { own.b[1] += (long)p; sum += own.a * 10 + own.b[0] + own.b[1]; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, (void *)4); pthread_join(t, 0); pthread_create(&t, 0, f, (void *)10); pthread_join(t, 0); result = sum + own.b[1] - 3; }"),
    ]);
    compare(&programs);
}

#[test]
fn what_a_thread_did_before_it_waits_for_ever_is_seen() {
    let threads = [
        "void *f(void *a) { int l = (int)(long)a; x = 1; __VERIFIER_assume(l == 5); return 0; }",
        "sem_t s; void *f(void *a) { x = 1; sem_wait(&s); return 0; }",
        "pthread_mutex_t m; void *f(void *a) { pthread_mutex_lock(&m); x = 1; pthread_mutex_lock(&m); return 0; }",
        "void *f(void *a) { int l = (int)(long)a; __VERIFIER_atomic_begin(); x = 1; __VERIFIER_atomic_end(); __VERIFIER_assume(l); return 0; }",
        "void *f(void *a) { int k = 0, z[2] = { 0, 0 }; x = 1; switch (z[k]) { case 0: k = 1; break; case 4: k = 0; } __VERIFIER_assume(z[k] == 2); return 0; }",
    ];
    for thread in threads {
        let main = "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); if (x) reach_error(); }";
        let text = format!("{PRELUDE}unsigned result; int x; {thread} {main}");
        let [plain, fused] =
            ours::programs(&text).expect("it is read").map(|program| explore::ends(&program, 10_000));
        assert_eq!(plain, fused, "{thread}");
        let wrong = |(end, _): &(End, _)| matches!(end, End::Wrong(how) if how.contains("Error"));
        assert!(fused.expect("few states").iter().any(wrong), "{thread}");
    }
}

#[test]
fn a_section_is_one_on_every_way_or_not_followed() {
    // Two threads that add without a section may lose one of their additions.
    let lost = [
        "if (0) __VERIFIER_atomic_begin(); x++; if (0) __VERIFIER_atomic_end();",
        "if (flag) __VERIFIER_atomic_begin(); x++; if (flag) __VERIFIER_atomic_end();",
        "if (flag) { __VERIFIER_atomic_begin(); flag = 0; } x++;",
        "goto in; __VERIFIER_atomic_begin(); in: x++; __VERIFIER_atomic_end();",
        "switch (flag) { case 1: __VERIFIER_atomic_begin(); default: x++; } if (flag) __VERIFIER_atomic_end();",
        "enter(); x++; if (flag) __VERIFIER_atomic_end();",
        "__VERIFIER_atomic_begin(); if (!flag) goto out; x = x; out: x++; __VERIFIER_atomic_end(); x--; x++;",
    ];
    // These are in a section, or in none, on every way.
    let kept = [
        "if (flag) { __VERIFIER_atomic_begin(); x++; } else { __VERIFIER_atomic_begin(); x++; } __VERIFIER_atomic_end();",
        "__VERIFIER_atomic_begin(); if (flag) { x++; __VERIFIER_atomic_end(); return 0; } x++; __VERIFIER_atomic_end();",
        "goto in; in: __VERIFIER_atomic_begin(); x++; if (flag) goto end; y = 1; end: __VERIFIER_atomic_end();",
    ];
    for (index, body) in lost.iter().chain(&kept).enumerate() {
        let text = format!(
            "{PRELUDE}unsigned result; int x, y, flag; void enter(void) {{ if (flag) return; if (flag) __VERIFIER_atomic_begin(); }}\n\
             void *f(void *a) {{ {body} return 0; }}\n\
             int main(void) {{ pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);\n\
             pthread_join(t, 0); pthread_join(u, 0); result = x; return 0; }}"
        );
        for program in ours::programs(&text).expect("it is read") {
            let ends = explore::ends(&program, 100_000).expect("few states");
            let has = |wanted: &End| ends.iter().any(|(end, _)| end == wanted);
            let loses = has(&End::Result(1)) || has(&End::Beyond);
            assert_eq!(loses, index < lost.len(), "{body}: {ends:?}");
            assert!(index < lost.len() || has(&End::Result(2)), "{body}: {ends:?}");
        }
    }
}

#[test]
fn locks_have_the_names_of_their_types_whatever_the_tags() {
    let tags = PRELUDE.replace(
        "typedef struct { int x; } pthread_rwlock_t",
        "typedef struct tag { unsigned char x; } pthread_rwlock_t",
    );
    let text = format!(
        "{tags}unsigned result; pthread_rwlock_t r;\n\
         int main(void) {{ pthread_rwlock_wrlock(&r); result = 3; pthread_rwlock_unlock(&r); return 0; }}"
    );
    for program in ours::programs(&text).expect("it is read") {
        let ends = explore::ends(&program, 1_000).expect("few states");
        assert!(ends.iter().all(|(end, _)| *end == End::Result(3)), "{ends:?}");
    }
}

#[test]
fn who_waits_for_a_while_may_get_nothing() {
    compare(&[
        (
            &[1, 2],
            "sem_t s; struct timespec z; void *f(void *a) { sem_post(&s); return 0; } int main(void) { pthread_t t; sem_init(&s, 0, 0); pthread_create(&t, 0, f, 0); result = sem_timedwait(&s, &z) ? 1 : 2; pthread_join(t, 0); }",
        ),
        (
            &[0, 110],
            "pthread_mutex_t m; pthread_cond_t c; struct timespec z; void *f(void *a) { pthread_cond_signal(&c); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); if (pthread_cond_timedwait(&c, &m, &z) == 110) result = 110; pthread_mutex_unlock(&m); pthread_join(t, 0); }",
        ),
        (
            &[110],
            "pthread_mutex_t m; struct timespec z; void *f(void *a) { result = pthread_mutex_timedlock(&m, &z); return 0; } int main(void) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0); pthread_join(t, 0); }",
        ),
        (
            &[1600],
            "pthread_rwlock_t l; int v; void *f(void *a) { v = pthread_rwlock_tryrdlock(&l); return 0; } int main(void) { pthread_t t; pthread_rwlock_wrlock(&l); pthread_create(&t, 0, f, 0); pthread_join(t, 0); result = v * 100; pthread_rwlock_unlock(&l); pthread_create(&t, 0, f, 0); pthread_join(t, 0); result += v; }",
        ),
        (
            &[32],
            "sem_t s; int main(void) { int v = 0; sem_init(&s, 0, 3); sem_getvalue(&s, &v); result = v * 10; sem_wait(&s); sem_getvalue(&s, &v); result += v; }",
        ),
    ]);
}

/// 1 is `PTHREAD_MUTEX_RECURSIVE`, 2 is `PTHREAD_MUTEX_ERRORCHECK`; 1, 16 and 35 are `EPERM`, `EBUSY` and `EDEADLK`.
#[test]
fn mutexes_of_each_kind_know_their_owner() {
    let init = "pthread_mutex_t m; void init(int kind) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, kind); pthread_mutex_init(&m, &a); }";
    let start = "pthread_t t; pthread_create(&t, 0, f, 0);";
    let programs: Vec<(Vec<i64>, String)> = [
        // Taken twice, it is free when it was given back twice.
        (vec![6], "int x; void *f(void *a) { pthread_mutex_lock(&m); x *= 2; pthread_mutex_unlock(&m); return 0; } int main(void) { init(1); pthread_mutex_lock(&m); START pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); x = 3; pthread_mutex_unlock(&m); pthread_join(t, 0); result = x; }"),
        (vec![1, 2], "int x; void *f(void *a) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); return 0; } int main(void) { init(1); START x++; pthread_join(t, 0); result = x; }"),
        // Another thread cannot take it, nor give it back.
        (vec![1601], "int r; void *f(void *a) { r = pthread_mutex_trylock(&m) * 100 + pthread_mutex_unlock(&m); return 0; } int main(void) { init(1); pthread_mutex_lock(&m); START pthread_join(t, 0); result = r; }"),
        (vec![1601], "int r; void *f(void *a) { r = pthread_mutex_trylock(&m) * 100 + pthread_mutex_unlock(&m); return 0; } int main(void) { init(2); pthread_mutex_lock(&m); START pthread_join(t, 0); result = r; }"),
        // A plain one is given back by whoever does so.
        (vec![1600], "int r; void *f(void *a) { r = pthread_mutex_trylock(&m) * 100 + pthread_mutex_unlock(&m); return 0; } int main(void) { init(0); pthread_mutex_lock(&m); START pthread_join(t, 0); result = r; }"),
        (vec![3516], "int main(void) { init(2); pthread_mutex_lock(&m); result = pthread_mutex_lock(&m) * 100 + pthread_mutex_trylock(&m); pthread_mutex_unlock(&m); result += pthread_mutex_unlock(&m) - 1; }"),
        (vec![1], "int main(void) { init(1); pthread_mutex_trylock(&m); pthread_mutex_trylock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); result = pthread_mutex_unlock(&m); }"),
        // Who waits for a signal gives it back.
        (vec![7], "int x; pthread_cond_t c; void *f(void *a) { pthread_mutex_lock(&m); x = 7; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; } int main(void) { init(1); pthread_mutex_lock(&m); START while (!x) pthread_cond_wait(&c, &m); result = x; pthread_mutex_unlock(&m); pthread_join(t, 0); }"),
    ]
    .map(|(expected, text)| (expected, format!("{init} {}", text.replace("START", start))))
    .into();
    compare(&programs.iter().map(|(expected, text)| (&expected[..], &text[..])).collect::<Vec<_>>());
}

/// Who is in a function that calls itself does not know which thread it is.
#[test]
fn recursive_functions_do_not_take_threads_for_main() {
    for body in ["return pthread_equal(pthread_self(), me);", "return pthread_mutex_unlock(&m);"] {
        let text = format!(
            "{PRELUDE}unsigned result; pthread_mutex_t m; pthread_t me; int g(int n) {{ if (n) return g(n - 1); {body} }}
            void *f(void *a) {{ result = g(1); return 0; }} int main(void) {{ pthread_t t; pthread_mutexattr_t a; me = pthread_self();
            pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutex_lock(&m);
            pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }}"
        );
        let program = ours::programs(&text).expect("it is read").into_iter().next().expect("a program");
        let ends = explore::ends(&program, 200_000).expect("few states");
        assert!(ends.iter().all(|(end, _)| *end == End::Beyond), "{ends:?}");
    }
}

#[test]
fn threads_are_created_in_loops() {
    let head = "int x, k, g; void skip(void) { k += 5; } pthread_mutex_t m; void *f(void *a) { pthread_mutex_lock(&m); x = x + (int)(long)a; pthread_mutex_unlock(&m); return 0; }";
    let loops = [
        (
            1,
            "pthread_t t[4]; for (k = 0; k < 3; k++) { pthread_create(&t[k], 0, f, (void *)1); skip(); } pthread_join(t[0], 0);",
        ),
        (
            3,
            "pthread_t t[4]; for (g = 0; g < 3; g++) pthread_create(&t[g], 0, f, (void *)1); for (g = 0; g < 3; g++) pthread_join(t[g], 0);",
        ),
        (
            2,
            "pthread_t t; for (unsigned char i = 254; i != 0; i++) { pthread_create(&t, 0, f, (void *)1); pthread_join(t, 0); }",
        ),
        (
            2,
            "pthread_t t; for (int i = 1; (unsigned)i < 5; i--) { pthread_create(&t, 0, f, (void *)1); pthread_join(t, 0); }",
        ),
        (
            12,
            "pthread_t t; int n = 0; for (int i = 0; i < 2; i++) { pthread_create(&t, 0, f, (void *)1); pthread_join(t, 0); if (i) goto over; n += 5; over: n += 0; x += n; }",
        ),
        (
            6,
            "pthread_t t[3]; for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, f, (void *)(i + 1)); for (int i = 0; i < 3; i++) pthread_join(t[i], 0);",
        ),
        (
            6,
            "pthread_t t[3]; long i = 3; while (i > 0) { pthread_create(&t[i - 1], 0, f, (void *)i); i--; } for (i = 0; i < 3; i++) pthread_join(t[i], 0);",
        ),
        (
            4,
            "pthread_t t[4]; for (long i = 0; i < 4; i += 2) pthread_create(&t[i], 0, f, (void *)(i + 1)); pthread_join(t[0], 0); pthread_join(t[2], 0);",
        ),
        (
            5,
            "pthread_t t[4]; for (long i = 1; i < 4; i++) { if (i == 1) continue; pthread_create(&t[i], 0, f, (void *)i); } pthread_join(t[2], 0); pthread_join(t[3], 0);",
        ),
        (
            3,
            "pthread_t t[4]; int n = 0; for (long i = 1; i < 4; i++) { pthread_create(&t[n++], 0, f, (void *)i); if (i == 2) break; } while (n > 0) pthread_join(t[--n], 0);",
        ),
        (
            7,
            "pthread_t t[2][2]; for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) pthread_create(&t[i][j], 0, f, (void *)(long)(i * 2 + j + (i < j))); for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) pthread_join(t[i][j], 0);",
        ),
        (
            9,
            "pthread_t t[2]; long v[2] = { 4, 5 }; for (int i = 1; i >= 0; --i) pthread_create(&t[i], 0, f, (void *)v[i]); for (int i = 0; i <= 1; ++i) pthread_join(t[i], 0);",
        ),
        (
            3,
            "pthread_t t[2], *p = t; do pthread_create(p, 0, f, (void *)(p - t + 1)); while (++p < t + 2); pthread_join(t[0], 0); pthread_join(t[1], 0);",
        ),
    ];
    for (sum, body) in loops {
        let text = format!("{PRELUDE}unsigned result; {head} int main(void) {{ {body} result = x; }}");
        let [plain, fused] =
            ours::programs(&text).expect("it is read").map(|program| explore::ends(&program, 200_000));
        assert_eq!(plain, fused, "{body}");
        let ends = fused.expect("few states");
        // A join with one of any number of threads does not wait, so there may be more.
        assert!(ends.iter().any(|(end, _)| *end == End::Result(sum)), "{ends:?} without {sum}: {body}");
        assert!(ends.iter().all(|(end, _)| matches!(end, End::Result(_))), "{ends:?}: {body}");
        println!("{} results: {body}", ends.len());
    }
}

#[test]
fn threads_of_a_loop_are_told_apart_where_something_does() {
    compare(&[
        // Alike: each adds one, or loses it.
        (
            &[4],
            "void *f(void *p) { __sync_fetch_and_add(&result, 1); return 0; }
             int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0);
             for (int i = 0; i < 4; i++) pthread_join(t[i], 0); }",
        ),
        (
            &[1, 2, 3, 4],
            "int x; void *f(void *p) { x++; return 0; }
             int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0);
             for (int i = 0; i < 4; i++) pthread_join(t[i], 0); result = x; }",
        ),
        // What main does in between is seen by some.
        (
            &[0, 1, 2, 3, 4],
            "int x, n; void *f(void *p) { if (x) __sync_fetch_and_add(&n, 1); return 0; }
             int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0);
             x = 1; for (int i = 0; i <= 3; i++) pthread_join(t[i], 0); result = n; }",
        ),
        // Fewer are joined than there are, or another part of them.
        (
            &[3, 4],
            "void *f(void *p) { __sync_fetch_and_add(&result, 1); return 0; } unsigned seen;
             int main(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0);
             for (int i = 0; i < 3; i++) pthread_join(t[i], 0); seen = result; result = seen; pthread_exit(0); }",
        ),
        // They get different numbers, return what is looked at, or know who they are.
        (
            &[6],
            "void *f(void *p) { __sync_fetch_and_add(&result, (long)p); return 0; }
             int main(void) { pthread_t t[4]; for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, f, (void *)i);
             for (int i = 0; i < 4; i++) pthread_join(t[i], 0); }",
        ),
        (
            &[10],
            "int x; void *f(void *p) { return (void *)(long)__sync_add_and_fetch(&x, 1); }
             int main(void) { pthread_t t[4]; void *r; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0);
             for (int i = 0; i < 4; i++) { pthread_join(t[i], &r); result += (long)r; } }",
        ),
        (
            &[1],
            "pthread_t t[4]; int go; void *f(void *p) { while (!go); if (pthread_equal(pthread_self(), t[2]))
             __sync_fetch_and_add(&result, 1); return 0; }
             int main(void) { for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0); go = 1;
             for (int i = 0; i < 4; i++) pthread_join(t[i], 0); }",
        ),
        // A loop that is left, and one that may have no rounds.
        (
            &[2],
            "void *f(void *p) { __sync_fetch_and_add(&result, 1); return 0; }
             int main(void) { pthread_t t[5]; int n; for (n = 0; n < 5; n++) { pthread_create(&t[n], 0, f, 0); if (n == 1) break; }
             for (int i = 0; i < n + 1; i++) pthread_join(t[i], 0); }",
        ),
        // The variable after the loop.
        (
            &[5],
            "void *f(void *p) { return 0; } int main(void) { pthread_t t[5]; int i; for (i = 1; i <= 4; i++) pthread_create(&t[i], 0, f, 0);
             for (i = 1; i <= 4; i++) pthread_join(t[i], 0); result = i; }",
        ),
        // Two crews, one after the other.
        (
            &[8],
            "void *f(void *p) { __sync_fetch_and_add(&result, 1); return 0; }
             int main(void) { pthread_t t[4], u[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0);
             for (int i = 0; i < 4; i++) pthread_join(t[i], 0); for (int i = 0; i < 4; i++) pthread_create(&u[i], 0, f, 0);
             for (int i = 0; i < 4; i++) pthread_join(u[i], 0); }",
        ),
    ]);
}

#[test]
fn nobody_moves_when_the_process_ends_in_an_atomic_section() {
    let ends = [
        (false, "__VERIFIER_atomic_begin(); x = 1; return 0;"),
        (false, "__VERIFIER_atomic_begin(); x = 1; exit(0);"),
        (true, "__VERIFIER_atomic_begin(); x = 1; __VERIFIER_atomic_end(); return 0;"),
    ];
    for (seen, end) in ends {
        let text = format!(
            "{PRELUDE}unsigned result; void exit(int); int x; void *f(void *p) {{ if (x) reach_error(); return 0; }}
             int main(void) {{ pthread_t t; result = 0; pthread_create(&t, 0, f, 0); {end} }}"
        );
        let [plain, fused] =
            ours::programs(&text).expect("it is read").map(|program| explore::ends(&program, 10_000));
        assert_eq!(plain, fused, "{end}");
        let wrong = |(end, _): &(End, _)| matches!(end, End::Wrong(how) if how.contains("Error"));
        assert_eq!(fused.expect("few states").iter().any(wrong), seen, "{end}");
    }
}

#[test]
fn a_weak_exchange_may_fail_for_no_reason() {
    compare(&[
        (
            &[0, 1],
            "int x; int main(void) { int e = 0; result = __atomic_compare_exchange_n(&x, &e, 1, 1, 5, 5); if (x != result) result = 2; if (e) result = 3; }",
        ),
        (
            &[1],
            "int x; int main(void) { int e = 0; result = __atomic_compare_exchange_n(&x, &e, 1, 0, 5, 5); if (x != result) result = 2; if (e) result = 3; }",
        ),
        (
            &[2],
            "int x; void *f(void *p) { int e = x; while (!__atomic_compare_exchange_n(&x, &e, e + 1, 1, 5, 5)); return 0; }
             int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); result = x; }",
        ),
    ]);
}

#[test]
fn a_struct_that_is_atomic_is_copied_in_one_step() {
    compare(&[(
        &[0, 11],
        "struct s { int a, b; }; _Atomic struct s x; void *f(void *p) { struct s y = { 1, 1 }; x = y; return 0; }
         int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); struct s y = x; result = y.a * 10 + y.b; }",
    )]);
}

#[test]
fn an_expression_reads_one_shared_variable_after_the_other() {
    let ways = [
        "r = x * 10 + y;",
        "r = x ? y + 10 : 0;",
        "r = x && y == 7 ? 17 : 0;",
        "r = (x == 1) + y + 9;",
        "r = g(x, y);",
        "r = ({ int t = x; t * 10 + y; });",
        "r = x == 1 ? y == 7 ? 17 : 1 : 0;",
        "r = !(!x || y != 7) ? 17 : 0;",
        "if (x && y) r = 17;",
        "if (!x || !y) r = 1; else r = 17;",
        "r = x * 10; r += y;",
        "switch (x * 10 + y) { case 17: r = 17; }",
        "r = *q[x] + 10;",
        "r = v[x] + 10;",
        "r = s[x].n + 10;",
        "r = (x ? &y : &z)[0] + 10;",
        "while (x * 10 + y == 17) { r = 17; break; }",
        "for (; x * 10 + y == 17; ) { r = 17; break; }",
        "do r = 17; while (r == 17 && x * 10 + y != 17 && (r = 0));",
        "r = h();",
        "int t[2] = { x, y }; r = t[0] * 10 + t[1];",
        "struct p t = { x, y }; r = t.a * 10 + t.b;",
        "r = k((struct p){ x, y });",
        "z = x; z = z * 10 + y; r = z;",
        "r = x ?: 0; r = r * 10 + y;",
        "int t = x; t *= 10; t -= -y; r = t;",
        "r = (x << 4 | y) == 23 ? 17 : 0;",
    ];
    let head = "struct p { int a, b; }; struct n { int n; } s[2]; int x, y, z, v[2], *q[2] = { &z, &y };
        int g(int a, int b) { return a * 10 + b; } int h(void) { return x * 10 + y; } int k(struct p p) { return p.a * 10 + p.b; }
        void *f(void *a) { x = 1; x = 0; y = 7; v[1] = 7; s[1].n = 7; return 0; }";
    for way in ways {
        let main = format!(
            "int main(void) {{ pthread_t t_; int r = 0; pthread_create(&t_, 0, f, 0); {way} result = r; }}"
        );
        let text = format!("{PRELUDE}unsigned result; {head} {main}");
        let [plain, fused] = ours::programs(&text).expect(way).map(|program| explore::ends(&program, 10_000));
        assert_eq!(plain, fused, "{way}");
        let ends = fused.expect("few states");
        assert!(ends.iter().any(|(end, _)| *end == End::Result(17)), "{ends:?}: {way}");
    }
}

#[test]
fn a_place_is_found_before_it_is_written() {
    let ways = [
        (5, "v[x] = 5;"),
        (5, "*(v + x) = 5;"),
        (5, "*p = 5;"),
        (5, "*q[x] = 5;"),
        (5, "s[x].n = 5;"),
        (5, "set(&v[x]);"),
        (5, "set(p);"),
        (5, "set(&s[x].n);"),
        (5, "struct n t = { 5 }; s[x] = t;"),
        (1, "v[1] = x;"),
        (1, "v[1] = x + 0 * x;"),
        (1, "v[x]++;"),
        (1, "(*p)++;"),
        (1, "v[x] += 1;"),
        (12, "__sync_fetch_and_add(&v[x], 5);"),
        (12, "__sync_fetch_and_add(p, 5);"),
        (12, "__atomic_fetch_add(&s[x].n, 5, 5);"),
    ];
    // Something ends with a value that it has only if its place was found, or its value read, long before.
    let head = "struct n { int n; } s[2]; int x, v[2], a, *p = &a, b, *q[2] = { &a, &b }; void set(int *p) { *p = 5; }
        void *f(void *z) { x = 1; x = 0; p = &b; p = &a; v[1] = 7; b = 7; s[1].n = 7; return 0; }";
    for (value, way) in ways {
        let main = format!(
            "int main(void) {{ pthread_t t_; pthread_create(&t_, 0, f, 0); {way} pthread_join(t_, 0);
            result = v[1] != 7 ? v[1] : b != 7 ? b : s[1].n; }}"
        );
        let text = format!("{PRELUDE}unsigned result; {head} {main}");
        let [plain, fused] = ours::programs(&text).expect(way).map(|program| explore::ends(&program, 20_000));
        assert_eq!(plain, fused, "{way}");
        let ends = fused.expect("few states");
        assert!(ends.iter().any(|(end, _)| *end == End::Result(value)), "{ends:?}: {way}");
    }
}

#[test]
fn bit_fields_of_one_storage_unit_are_written_back_together() {
    let fields = |types: &str, start: &str| {
        format!(
            "struct {{ {types} char c; }} f; void *w(void *p) {{ f.b = 5; return 0; }}
             int main(void) {{ pthread_t t; {start} pthread_create(&t, 0, w, 0); f.a = 1; f.c = 1; pthread_join(t, 0);
             result = f.a * 100 + f.b * 10 + f.c; return 0; }}"
        )
    };
    // Either may be lost, the member behind them never; nor can fields of two units be.
    compare(&[
        (&[51, 101, 151], &fields("unsigned a : 4; unsigned b : 4;", "")),
        (&[51, 111, 151], &fields("unsigned a : 4; int b : 4;", "f.b = 1;")),
        (&[151], &fields("unsigned a : 32; unsigned b : 32;", "")),
    ]);
}

#[test]
fn a_thread_starts_with_the_function_that_a_pointer_says() {
    compare(&[
        (
            &[3],
            "int x; void *one(void *p) { x += 1; return 0; } void *two(void *p) { x += 2; return 0; }
             void *(*table[2])(void *) = { one, two };
             int main(void) { pthread_t t; for (int i = 0; i < 2; i++) { pthread_create(&t, 0, table[i], 0);
             pthread_join(t, 0); } result = x; return 0; }",
        ),
        (
            &[1, 3],
            "int x; void *one(void *p) { x = 1; return 0; } void *two(void *p) { x = 3; return 0; }
             struct { void *(*run)(void *); } task = { one };
             int main(void) { pthread_t t, u; pthread_create(&t, 0, task.run, 0); task.run = two;
             pthread_create(&u, 0, task.run, 0); pthread_join(t, 0); pthread_join(u, 0); result = x; return 0; }",
        ),
    ]);
}

/// The memory order that keeps a program from being called safe.
fn weak_order(text: &str) -> Option<&'static str> {
    let text = format!("{PRELUDE}int unused;\n{text}\n");
    let map = allways_c::source::LineMap::identity(text.as_bytes());
    let property = allways_c::property::Property::named("unreach-call").expect("a property");
    let read = allways_c::read(text.as_bytes(), &map, allways_c::typed::DataModel::Lp64, property);
    read.unwrap_or_else(|errors| panic!("{errors:?}")).weak.map(|(_, order)| order)
}

#[test]
fn relaxed_operations_on_one_location_are_interleavings() {
    let program = |shared: &str, run: &str, rest: &str| {
        format!(
            "{shared} void *run(void *p) {{ {run} return 0; }}
             int main(void) {{ pthread_t t, u; pthread_create(&t, 0, run, 0); pthread_create(&u, 0, run, 0); {rest} return 0; }}"
        )
    };
    let add = "__atomic_fetch_add(&x, 1, 0);";
    let join = "pthread_join(t, 0); if (x > 3) reach_error();";
    assert_eq!(weak_order(&program("int x;", add, join)), None);
    assert_eq!(weak_order(&program("int x, before = 1;", &format!("int i = before; {add}"), join)), None);
    // A second location, of any kind, may be seen in another order.
    let flag =
        |access: &str| weak_order(&program("int x, y; pthread_mutex_t m;", &format!("{add} {access}"), join));
    assert!(flag("y = 1; if (y) reach_error();").is_some());
    assert!(flag("if (__atomic_load_n(&y, 0)) __atomic_store_n(&y, 2, 0);").is_some());
    assert!(flag("pthread_mutex_lock(&m); pthread_mutex_unlock(&m);").is_some());
    assert!(
        weak_order(&program("int x[2];", "__atomic_fetch_add(&x[0], 1, 0); if (x[1]) x[1]++;", "")).is_some()
    );
    assert!(weak_order(&program("int x, y;", &format!("{add} if (y) reach_error();"), "y = x;")).is_some());
}

#[test]
fn who_starts_threads_for_others_starts_what_it_is_given() {
    let start = "pthread_t start(void *(*run)(void *), int *data) { pthread_t t; pthread_create(&t, 0, run, data); return t; }";
    compare(&[
        (
            &[3],
            &format!(
                "{start} void *one(void *p) {{ result += 1; return 0; }}
                 void *two(void *p) {{ pthread_join(start(one, p), 0); result += 2; return 0; }}
                 int main(void) {{ int i; pthread_join(start(two, &i), 0); }}"
            ),
        ),
        (
            &[5],
            "int twice(int n) { return 2 * n; } int more(int n) { return n + 1; }
             int apply(int (*f)(int), int n) { return f(n); } int both(int (*f)(int), int n) { return apply(f, apply(more, n)); }
             int main(void) { result = apply(more, both(twice, 1)); }",
        ),
        (
            // A parameter that is changed, or whose address is known, is not what it was given.
            &[7],
            "int twice(int n) { return 2 * n; } int more(int n) { return n + 1; } typedef int (*function)(int);
             int other(function f, int n) { f = more; return f(n); } void set(function *f) { *f = more; }
             int changed(function f, int n) { set(&f); return f(n); }
             int main(void) { result = other(twice, 2) + changed(twice, 3); }",
        ),
    ]);
}
