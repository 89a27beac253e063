//! What functions of the library and of compilers do, by the reference semantics and natively.

#[path = "random/explore.rs"]
mod explore;
#[path = "random/native.rs"]
#[allow(dead_code, reason = "the random programs use more of it")]
mod native;
#[path = "random/ours.rs"]
#[allow(dead_code, reason = "programs of one thread use more of it")]
mod ours;

use allways_c::property::Property;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use ours::End;
use std::collections::BTreeSet;

/// What the reader knows of the thread library.
const PRELUDE: &str = "typedef unsigned long pthread_t; typedef unsigned pthread_key_t; typedef struct { int x; } pthread_mutex_t;
    int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
    void pthread_exit(void *); pthread_t pthread_self(void);
    int pthread_key_create(pthread_key_t *, void (*)(void *)); int pthread_key_delete(pthread_key_t);
    int pthread_setspecific(pthread_key_t, const void *); void *pthread_getspecific(pthread_key_t);
    int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *); int pthread_mutex_destroy(pthread_mutex_t *);
    void *malloc(unsigned long); void abort(void); void reach_error(void); int abs(int); int ffs(int);
    unsigned long strlen(const char *); unsigned long strnlen(const char *, unsigned long); char *strcpy(char *, const char *);
    char *stpcpy(char *, const char *); char *strncpy(char *, const char *, unsigned long); char *strcat(char *, const char *);
    char *strncat(char *, const char *, unsigned long); int strcmp(const char *, const char *); char *strchr(const char *, int);
    int strncmp(const char *, const char *, unsigned long); char *strrchr(const char *, int);
    unsigned long strspn(const char *, const char *); unsigned long strcspn(const char *, const char *);\n";

/// How the runs of a program end.
fn ends(text: &str) -> BTreeSet<End> {
    let text = format!("{PRELUDE}unsigned result;\n{text}\n");
    let [plain, fused] = ours::programs(&text).unwrap().map(|program| explore::ends(&program, 200_000));
    assert_eq!(plain, fused, "{text}");
    plain.into_iter().flatten().map(|(end, _)| end).collect()
}

fn compare(programs: &[(i64, &str)]) {
    let native = native::compiler();
    for (expected, text) in programs {
        assert_eq!(ends(text), BTreeSet::from([End::Result(*expected)]), "{text}");
        if native {
            let headers = "#include <pthread.h>\n#include <stdlib.h>\nunsigned result;\n";
            assert_eq!(native::result(&format!("{headers}{text}\n")), *expected, "{text}");
        }
    }
}

#[test]
fn functions_of_strings_do_what_the_library_does() {
    let calls = [
        "strlen(s)",
        "strnlen(s, 2) * 10 + strnlen(s, 9)",
        "strcmp(s, t) < 0 ? 1 : strcmp(s, t) > 0 ? 2 : 3",
        "strncmp(s, t, 2) < 0 ? 1 : strncmp(s, t, 2) > 0 ? 2 : 3",
        "strlen(strcpy(b, s)) + (unsigned char)b[0]",
        "stpcpy(b, s) - b",
        "strncpy(b, s, 5)[1] * 100 + b[4]",
        "strlen(strcat(b, s)) * 100 + (unsigned char)b[3]",
        "strlen(strncat(b, s, 1)) * 100 + (unsigned char)b[2]",
        "strchr(s, 'b') ? strchr(s, 'b') - s : 77",
        "strchr(s, 0) - s",
        "strrchr(s, 'a') ? strrchr(s, 'a') - s : 77",
        "strrchr(s, 0) - s",
        "strspn(s, t) * 10 + strcspn(s, t)",
    ];
    for call in calls {
        for (s, t) in [("", "a"), ("abab", "ab"), ("b", "b"), ("\\200a", "a"), ("aac", "acb")] {
            let text = format!(
                "char s[8] = \"{s}\", t[8] = \"{t}\", b[16] = \"xy\"; int main(void) {{ result = {call}; return 0; }}"
            );
            let found = ends(&text);
            let [End::Result(found)] = found.into_iter().collect::<Vec<_>>()[..] else { panic!("{text}") };
            if native::compiler() {
                let text = format!("#define _GNU_SOURCE\n#include <string.h>\nunsigned result;\n{text}\n");
                assert_eq!(native::result(&text), found, "{text}");
            }
        }
    }
    // What does not fit is written outside of the object.
    let text = "char b[3]; int main(void) { strcpy(b, \"abc\"); return 0; }";
    assert!(matches!(ends(text).into_iter().collect::<Vec<_>>()[..], [End::Wrong(_)]));
}

#[test]
fn bits_are_counted_as_compilers_count_them() {
    let counts = [
        ("__builtin_clz(v)", 32),
        ("__builtin_ctz(v)", 32),
        ("__builtin_ffs(v)", 32),
        ("ffs(v)", 32),
        ("__builtin_popcount(v)", 32),
        ("__builtin_parity(v)", 32),
        ("__builtin_clzl(v)", 64),
        ("__builtin_ctzll(v)", 64),
        ("__builtin_popcountl(v)", 64),
        ("abs((int)v)", 32),
    ];
    for (call, bits) in counts {
        let ty = if bits == 32 { "unsigned" } else { "unsigned long" };
        for value in ["1", "6", "40", "0x7fffffff", "0x80000000", "0xfffffffe", "0x12340000"] {
            let text = format!("{ty} v = {value}; int main(void) {{ v++; v--; result = {call}; return 0; }}");
            let found = ends(&text);
            let [End::Result(found)] = found.into_iter().collect::<Vec<_>>()[..] else { panic!("{text}") };
            if native::compiler() {
                let text = format!("#include <stdlib.h>\n#include <strings.h>\nunsigned result;\n{text}\n");
                assert_eq!(native::result(&text), found, "{text}");
            }
        }
    }
    let zero = "unsigned v; int main(void) { v++; v--; result = __builtin_clz(v); return 0; }";
    assert_eq!(ends(zero), BTreeSet::from([End::Beyond]));
}

#[test]
fn threads_have_their_own_data() {
    compare(&[
        (
            37,
            "pthread_key_t k; void *f(void *a) { long old = (long)pthread_getspecific(k); pthread_setspecific(k, a); return (void *)(old * 10 + (long)pthread_getspecific(k)); } int main(void) { pthread_t t; void *r; pthread_key_create(&k, 0); pthread_setspecific(k, (void *)30); pthread_create(&t, 0, f, (void *)7); pthread_join(t, &r); result = (long)pthread_getspecific(k) + (long)r; return 0; }",
        ),
        (
            12,
            "pthread_key_t k, l; int main(void) { pthread_key_create(&k, 0); pthread_key_create(&l, 0); pthread_setspecific(l, (void *)2); pthread_setspecific(k, (void *)1); result = (long)pthread_getspecific(k) * 10 + (long)pthread_getspecific(l); return 0; }",
        ),
        // Destructors get what the thread left, if it is not null; not what `main` leaves when it returns.
        (
            5,
            "pthread_key_t k; int seen; void d(void *v) { seen += *(int *)v; } int five = 5; void *f(void *a) { pthread_setspecific(k, &five); if (a) pthread_exit(0); return 0; } void *g(void *a) { pthread_setspecific(k, a); return 0; } int main(void) { pthread_t t; pthread_key_create(&k, d); pthread_setspecific(k, &five); pthread_create(&t, 0, f, &five); pthread_join(t, 0); pthread_create(&t, 0, g, 0); pthread_join(t, 0); result = seen; return 0; }",
        ),
        (
            0,
            "pthread_key_t k; int seen; void d(void *v) { seen = 1; } void *f(void *a) { pthread_setspecific(k, a); pthread_key_delete(k); return 0; } int main(void) { pthread_t t; pthread_key_create(&k, d); pthread_create(&t, 0, f, &seen); pthread_join(t, 0); result = seen; return 0; }",
        ),
    ]);
}

#[test]
fn what_posix_leaves_undefined_is_not_followed() {
    for text in [
        "pthread_key_t k; int main(void) { pthread_setspecific(k, &k); return 0; }",
        "pthread_key_t k; int main(void) { for (int i = 0; i < 2; i++) pthread_key_create(&k, 0); return 0; }",
        "pthread_mutex_t m; int main(void) { pthread_mutex_destroy(&m); pthread_mutex_lock(&m); return 0; }",
        "int main(void) { pthread_join(pthread_self(), 0); return 0; }",
    ] {
        assert!(ends(text).contains(&End::Beyond), "{text}");
    }
    assert_eq!(
        ends(
            "void *f(void *a) { pthread_join(pthread_self(), 0); result = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return 0; }"
        ),
        BTreeSet::from([End::Beyond])
    );
}

/// Whether a program has a run that is wrong, and one that is not followed.
fn judged(text: &str) -> (bool, bool) {
    let text = text.replace("int main(void) {", "int main(void) { result = 0; ");
    let text = format!("{PRELUDE}unsigned result;\n{text}\n");
    let read = allways_c::read(
        text.as_bytes(),
        &LineMap::identity(text.as_bytes()),
        DataModel::Lp64,
        Property::default(),
    )
    .unwrap();
    let ends = explore::ends(&read.program, 200_000).unwrap_or_default();
    let is = |wanted: fn(&End) -> bool| ends.iter().any(|(end, _)| wanted(end));
    (is(|end| matches!(end, End::Wrong(_))), is(|end| *end == End::Beyond))
}

#[test]
fn what_is_dropped_may_go_wrong_whatever_main_is_given() {
    assert!(judged("int main(int count, char **words) { result = 0; return 10 / (count - 5); }").0);
    assert!(
        judged("int main(int count, char **words) { int a[2] = { 0, 0 }; result = 0; return a[count]; }").0
    );
    assert!(
        judged("int main(int count, char **words) { int *p = 0; result = 0; return *p + (words[0] != 0); }")
            .0
    );
    // Whether there is a word, nobody knows.
    assert_eq!(
        judged("int main(int count, char **words) { result = 0; return words[1][0]; }"),
        (false, true)
    );
    assert_eq!(judged("int main(int count, char **words) { result = 0; words[0]; }"), (false, false));
}

#[test]
fn an_assertion_in_a_comment_holds_or_not_in_one_state() {
    // x and y are equal in every state, but not if they are read one after the other.
    let both = "int x, y; void __VERIFIER_atomic_move(void) { x++; y++; } void *f(void *a) { __VERIFIER_atomic_move(); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);\n//@ assert x == y;\n return 0; }";
    assert_eq!(judged(both), (false, false));
    assert_eq!(judged(&both.replace("x == y", "x == 0")), (true, false));
    assert_eq!(
        judged("int main(void) { int x = 1; /*@ assert x != 1 || \\true; */ return 0; }"),
        (false, false)
    );
    assert_eq!(judged("int main(void) { int x = 1; /*@ assert \\false; */ return 0; }"), (true, false));
    // -1 is less than 1 there, but not in C.
    let mixed =
        "unsigned u = 1; int i = -1; int main(void) { u++; u--; i++; i--; /*@ assert i < u; */ return 0; }";
    assert_eq!(judged(mixed), (false, true));
}

#[test]
fn inputs_that_nothing_depends_on_have_one_value() {
    let sum = "int __VERIFIER_nondet_int(void); int a, b; int main(void) { a = __VERIFIER_nondet_int(); b = a + 5 + b; if (a == 7) result = 1; return 0; }";
    assert_eq!(judged(&sum.replace("if (a == 7)", "")), (false, false));
    // A temporary that is used for something else as well changes nothing.
    let text = "int __VERIFIER_nondet_int(void); int a, b, c, d; int main(void) { a = __VERIFIER_nondet_int(); b = a * b + c * a; if (c * d + d > 0) reach_error(); return 0; }";
    assert_eq!(judged(text), (false, false));
    // A divisor matters.
    let text = "int __VERIFIER_nondet_int(void); int a, b; int main(void) { a = __VERIFIER_nondet_int(); b = 5 / (a + 1); return 0; }";
    assert_eq!(judged(text), (true, true));
}

#[test]
fn a_variable_without_a_value_has_any() {
    assert_eq!(judged("int main(void) { int x; if (x == 5) reach_error(); return 0; }"), (true, false));
    assert_eq!(
        judged("int main(void) { int x; x = 4; if (x == 5) reach_error(); return 0; }"),
        (false, false)
    );
    assert_eq!(
        judged(
            "int main(void) { for (int i = 0; i < 2; i++) { int x; if (i == 1 && x == 5) reach_error(); x = 1; } return 0; }"
        ),
        (true, false)
    );
}

#[test]
fn what_one_of_any_number_of_threads_returned_is_not_known() {
    let text = "void *f(void *a) { return a; } int main(void) { pthread_t t; void *r; goto start; end: pthread_join(t, &r); if (r == (void *)9) reach_error(); return 0; start: pthread_create(&t, 0, f, (void *)9); goto end; }";
    assert!(judged(text).1);
}

#[test]
fn what_two_calls_allocate_is_told_apart() {
    let text = "long *t; int *a; int main(void) { t = (long *)malloc(3 * sizeof(long)); a = (int *)malloc(2 * sizeof(int)); t[2] = 7; a[1] = 8; result = t[2] + a[1]; return 0; }";
    compare(&[(15, text)]);
}

#[test]
fn what_one_call_allocates_is_as_large_as_each_caller_asks_for() {
    // What is given out next must not begin in the middle of what was asked for.
    let text = "int n = 2; int *g, *h; int *ints(unsigned long n) { return (int *)malloc(n * sizeof(int)); } int main(void) { for (int i = 0; i < n; i++) { g = ints(1); *g = i; } for (int i = 0; i < n; i++) { int *b = ints(3); b[0] = 5; if (h) { h[2] = 1; b[0] = 7; result = h[2] * 10 + *g; } h = b; } }";
    compare(&[(11, text)]);
}

#[test]
fn what_is_where_a_pointer_points_is_found_out_when_it_is_used() {
    compare(&[
        // A pointer to the head of a list, and to the links in it.
        (
            37,
            "struct node { int key; struct node *next; } *head; void add(struct node *n) { struct node **at = &head; while (*at && (*at)->key < n->key) at = &(*at)->next; n->next = *at; *at = n; } int main(void) { struct node a = { 7 }, b = { 3 }; add(&a); add(&b); result = head->key * 10 + head->next->key; }",
        ),
        // Members that point to different things.
        (
            42,
            "struct job { void (*run)(void *); void *on; struct job *next; } *jobs; int x = 1, y = 1; void twice(void *p) { *(int *)p *= 2; } void more(void *p) { *(int *)p += 20; } int main(void) { struct job a = { more, &x }, b = { twice, &x, &a }, c = { twice, &y, &b }; for (jobs = &c; jobs; jobs = jobs->next) jobs->run(jobs->on); result = x + y * 10; }",
        ),
        // The type of what a function allocates is that of its callers.
        (
            59,
            "struct a { int x; } *a; struct b { long l; int x[2]; } *b; void *get(unsigned long n) { void *p = malloc(n); if (!p) abort(); return p; } int main(void) { for (int i = 0; i < 2; i++) { a = get(sizeof *a); a->x = 5; b = get(sizeof *b); b->x[1] = 9; b->l = 1; } void *p = get(sizeof *a); ((struct a *)p)->x = a->x; result = ((struct a *)p)->x * 10 + b->x[1]; }",
        ),
        // Addresses as integers are equal where the pointers are.
        (
            5,
            "int x, y, *p = &x; int main(void) { result = ((unsigned long)p == (unsigned long)&x) * 4 + ((unsigned long)p != (unsigned long)&x) * 2 + ((long)p != 0); p = &y; result += ((unsigned long)p == (unsigned long)&x) * 100; }",
        ),
    ]);
    // Memory that is taken for something else is not followed.
    let text = "struct a { int x; int *p; } a; struct b { int *p; int x; } b; void *v; int main(void) { v = &a; v = &b; struct a *q = (struct a *)v; if (q->x) reach_error(); return 0; }";
    assert_eq!(judged(text), (false, true));
    assert_eq!(judged(&text.replace("v = &b;", "b.x = v != (void *)&b;")), (false, false));
}

#[test]
fn a_variable_gets_a_value_where_it_is_read() {
    // Nobody reads it where it has none.
    let text = "int has, y = 3; int find(int *to) { if (!has) return 0; *to = y; return 1; } int main(void) { int x; has = !has; if (find(&x) && x != y) reach_error(); has = 0; int z; if (find(&z)) reach_error(); return 0; }";
    assert_eq!(judged(text), (false, false));
    let text = text.replace("if (find(&z)) reach_error()", "find(&z); if (z == 8) reach_error()");
    assert_eq!(judged(&text), (true, false));
    // Each time that it is declared, it loses its value.
    let again = "int n = 2, s; int main(void) { for (int i = 0; i < n; i++) { int x; if (i == 0) x = 4; s += x == 4; } if (s == 1) reach_error(); return 0; }";
    assert_eq!(judged(again), (true, false));
    assert_eq!(judged(&again.replace("i == 0", "i < 7")), (false, false));
}

/// Inputs that are restricted before they are used have all their values, and no others; what can come out is read off the text.
#[test]
fn inputs_are_tried_where_they_matter() {
    let input = "int __VERIFIER_nondet_int(void); unsigned __VERIFIER_nondet_uint(void);";
    let programs: [(&[i64], &str); 6] = [
        (
            &[0, 3, 5, 7, 9],
            "int a[4] = { 3, 5, 7, 9 }; int main(void) { int i = __VERIFIER_nondet_int(); if (i < 0 || i >= 4) return 0; result = a[i]; }",
        ),
        (
            &[22, 24],
            "int main(void) { unsigned u = __VERIFIER_nondet_uint(); if (!(u > 10 && 13 > u)) return result = 22, 0; result = u * 2; }",
        ),
        (
            &[1, 2, 49, 50, 51],
            "int main(void) { int i = __VERIFIER_nondet_int(); if (i == 100) result = i / 2; else if (i > 110) result = 1; else if (i != 98 && i != 102) result = 2; else result = i / 2; }",
        ),
        (
            &[0, 1, 3, 6],
            "int main(void) { int i = __VERIFIER_nondet_int(); if (!(i > 0 && i <= 3)) return 0; for (int k = 0; k <= i; k++) result += k; }",
        ),
        // Another value comes after the use.
        (
            &[4, 5, 6],
            "int main(void) { int i = __VERIFIER_nondet_int(); if (i < 4) i = 4; else if (i > 6) i = 6; result = i; }",
        ),
        // Both ways are joined again, and then restricted further.
        (
            &[7, 14, 16],
            "int main(void) { int i = __VERIFIER_nondet_int(), d = 7; if (i < 5) return result = 7, 0; if (i == 6) d = 9; if (i > 7) return result = 7, 0; if (i < 6) return result = 7, 0; result = i + d + (i == 6); }",
        ),
    ];
    for (expected, text) in programs {
        let text = format!("{PRELUDE}{input} unsigned result;\n{text}\n");
        let map = LineMap::identity(text.as_bytes());
        let read =
            allways_c::read(text.as_bytes(), &map, DataModel::Lp64, Property::default()).expect("it is read");
        let ends = explore::ends(&read.program, 200_000).expect("few states");
        let found: BTreeSet<End> = ends.into_iter().map(|(end, _)| end).collect();
        let wanted: BTreeSet<End> = expected.iter().map(|&value| End::Result(value)).collect();
        assert_eq!(found, wanted, "{text}");
    }
}
