//! Accesses to what is not there: programs that make one, and programs that do not.

#[path = "random/explore.rs"]
mod explore;
#[path = "random/ours.rs"]
#[allow(dead_code, reason = "the random programs use more of it")]
mod ours;

use ours::End;

const PRELUDE: &str = "typedef unsigned long pthread_t; typedef struct { int x; } pthread_mutex_t;
    int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
    void pthread_exit(void *); int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
    void *malloc(unsigned long); void *calloc(unsigned long, unsigned long); void free(void *);
    int printf(const char *, ...); void *memset(void *, int, unsigned long); void *memcpy(void *, const void *, unsigned long);
    void *memmove(void *, const void *, unsigned long); int result; ";

const MOST_STATES: usize = 20_000;

/// Whether a program can go wrong, as it is lowered and with its steps joined, which must be the same.
fn goes_wrong(text: &str) -> bool {
    let text = format!("{PRELUDE}{}", text.replace("main(void) {", "main(void) { result = 0;"));
    let programs = ours::programs(&text).unwrap_or_else(|message| panic!("{message}: {text}"));
    let [plain, fused] = programs.map(|program| {
        let ends = explore::ends(&program, MOST_STATES).expect("few states");
        assert!(!ends.iter().any(|(end, _)| *end == End::Beyond), "not followed: {text}");
        ends.iter().any(|(end, _)| matches!(end, End::Wrong(_)))
    });
    assert_eq!(plain, fused, "{text}");
    fused
}

fn all(expected: bool, texts: &[&str]) {
    for text in texts {
        assert_eq!(goes_wrong(text), expected, "{text}");
    }
}

#[test]
fn memory_that_was_freed_is_not_there() {
    all(
        true,
        &[
            "int main(void) { int *p = malloc(4); *p = 1; free(p); result = *p; }",
            "int main(void) { int *p = malloc(4); free(p); *p = 1; }",
            "int main(void) { int *p = malloc(4); int *q = p; free(p); p = malloc(4); *q = 1; }",
            "void end(int *p) { free(p); *p = 2; } int main(void) { end(malloc(4)); }",
            "struct s { int a; int *b; }; int main(void) { struct s *s = malloc(sizeof *s); s->b = malloc(4); free(s); *s->b = 1; }",
            "struct n { struct n *next; }; int main(void) { struct n *list = 0; for (int i = 0; i < 3; i++) { struct n *n = malloc(sizeof *n); n->next = list; list = n; } while (list) { free(list); list = list->next; } }",
            "int main(void) { int *p = malloc(4); free(p); free(p); }",
            "int *p; void *t(void *u) { *p = 1; return 0; } int main(void) { pthread_t a; p = malloc(4); pthread_create(&a, 0, t, 0); free(p); pthread_join(a, 0); }",
            "struct s { pthread_mutex_t m; } *p; void *t(void *u) { pthread_mutex_lock(&p->m); pthread_mutex_unlock(&p->m); return 0; } int main(void) { pthread_t a; p = calloc(1, sizeof *p); pthread_create(&a, 0, t, 0); free(p); pthread_join(a, 0); }",
        ],
    );
    all(
        false,
        &[
            "int main(void) { int *p = malloc(4); *p = 1; result = *p; free(p); p = malloc(4); *p = 2; }",
            "int main(void) { for (int i = 0; i < 4; i++) { int *p = malloc(4); *p = i; free(p); } }",
            "struct n { struct n *next; }; int main(void) { struct n *list = 0; for (int i = 0; i < 3; i++) { struct n *n = malloc(sizeof *n); n->next = list; list = n; } while (list) { struct n *next = list->next; free(list); list = next; } }",
            "int *p; void *t(void *u) { *p = 1; return 0; } int main(void) { pthread_t a; p = malloc(4); pthread_create(&a, 0, t, 0); pthread_join(a, 0); free(p); }",
            "int main(void) { int *p = malloc(4); int *q = malloc(4); free(p); *q = 1; free(q); }",
        ],
    );
}

#[test]
fn variables_of_functions_that_have_returned_are_not_there() {
    all(
        true,
        &[
            "int *f(void) { int x = 1; int *p = &x; return p; } int main(void) { int *p = f(); result = *p; }",
            "int *g; void f(void) { int x = 1; g = &x; } int main(void) { f(); *g = 2; }",
            "int *g; void f(int x) { g = &x; } int main(void) { f(3); result = *g; }",
            "struct s { int *p; }; void f(struct s *s) { int x = 1; s->p = &x; } int main(void) { struct s s; f(&s); result = *s.p; }",
            "int *g; void *t(void *u) { int x = 1; g = &x; return 0; } int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_join(a, 0); result = *g; }",
            "int *g; void f(void) { int x = 1; g = &x; pthread_exit(0); } void *t(void *u) { f(); return 0; } int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_join(a, 0); result = *g; }",
            "void *t(void *p) { *(int *)p = 2; return 0; } pthread_t a; void f(void) { int x = 1; pthread_create(&a, 0, t, &x); } int main(void) { f(); pthread_join(a, 0); }",
        ],
    );
    all(
        false,
        &[
            "int *f(int *p) { return p; } int main(void) { int x = 1; int *p = f(&x); result = *p; }",
            "int *g; void h(void) { *g = 2; } void f(void) { int x = 1; g = &x; h(); g = 0; } int main(void) { f(); f(); }",
            "int *g; int *f(void) { static int x = 1; return &x; } int main(void) { g = f(); result = *g; }",
            "void *t(void *p) { *(int *)p = 2; return 0; } void f(void) { int x = 1; pthread_t a; pthread_create(&a, 0, t, &x); pthread_join(a, 0); } int main(void) { f(); f(); }",
            "int *g; void *t(void *u) { int x = 1; g = &x; result = *g; return 0; } int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_join(a, 0); }",
            "struct n { int v; struct n *next; }; int sum(struct n *n) { int s = 0; while (n) { s += n->v; n = n->next; } return s; } int f(void) { struct n a = { 1, 0 }, b = { 2, &a }; return sum(&b); } int main(void) { result = f() + f(); }",
        ],
    );
}

#[test]
fn what_is_dropped_is_nevertheless_read() {
    all(
        true,
        &[
            "int *p; int main(void) { return *p; }",
            "int *p; int main(void) { *p; }",
            "int *p; int main(void) { printf(\"%d\", *p); }",
            "int i = 3, a[3]; int main(void) { (void)a[i]; }",
            "int i, j; int main(void) { i / j; }",
            "double *p; int main(void) { printf(\"%f\", *p); }",
        ],
    );
    all(
        false,
        &[
            "int x, *p = &x; int main(void) { return *p; }",
            "int i = 2, a[3]; int main(void) { (void)a[i]; a[0]; printf(\"%d\", a[i]); }",
            "int main(int argc, char **argv) { result = 0; printf(\"%s\", argv[0]); }",
            "double a[2]; int i = 1; int main(void) { printf(\"%f\", a[i]); }",
        ],
    );
}

#[test]
fn the_least_number_cannot_be_divided_by_minus_one() {
    all(
        true,
        &[
            "int i = -2147483647 - 1, j = -1; int main(void) { result = i / j; }",
            "int i = -2147483647 - 1, j = -1; int main(void) { i %= j; }",
            "int i = -2147483647 - 1; int main(void) { i /= -1; }",
        ],
    );
    all(
        false,
        &[
            "int i = -2147483647 - 1, j = 1; int main(void) { result = i / j; }",
            "int i = -2147483647, j = -1; int main(void) { result = i / j; i %= j; }",
            "short i = -32768, j = -1; int main(void) { result = i / j; }",
        ],
    );
}

#[test]
fn memory_ends_where_it_was_asked_for() {
    let head = "int n = 2; ";
    let texts = |texts: &[&str]| texts.iter().map(|text| format!("{head}{text}")).collect::<Vec<String>>();
    let some = texts(&[
        "int main(void) { n++; int *p = malloc(n * sizeof(int)); p[3] = 1; }",
        "int main(void) { n++; int *p = calloc(n, sizeof(int)); result = p[n]; }",
        "int main(void) { int a[n]; for (int i = 0; i <= n; i++) a[i] = i; n = 1; }",
        "int main(void) { n++; char *p = malloc(n); p[n] = 1; }",
        "struct s { int a, b; }; int main(void) { n++; struct s *p = malloc(n * sizeof *p); p[n].b = 1; }",
        "int main(void) { n++; int *p = malloc(n * sizeof(int)); free(p + 1); }",
        "int main(void) { n++; int *p = malloc(n * sizeof(int)); free(p); p[0] = 1; }",
        "int main(void) { n++; int *p = malloc(n * sizeof(int)); free(p); free(p); }",
        "int main(void) { for (n = 1; n < 4; n++) { int *p = malloc(n * sizeof(int)); p[2] = 1; free(p); } }",
        "int *p; void *t(void *u) { p[1] = 1; return 0; } int main(void) { pthread_t a; n--; p = malloc(n * sizeof(int)); pthread_create(&a, 0, t, 0); pthread_join(a, 0); }",
    ]);
    all(true, &some.iter().map(String::as_str).collect::<Vec<&str>>());
    let none = texts(&[
        "int main(void) { n++; int *p = malloc(n * sizeof(int)); p[2] = 1; free(p); }",
        "int main(void) { n++; int *p = calloc(n, sizeof(int)); result = p[n - 1]; }",
        "int main(void) { int a[n]; for (int i = 0; i < n; i++) a[i] = i; n = 1; }",
        "struct s { int a, b; }; int main(void) { n++; struct s *p = malloc(n * sizeof *p); p[n - 1].b = 1; free(p); }",
        "int main(void) { for (n = 1; n < 4; n++) { int *p = malloc(n * sizeof(int)); p[n - 1] = 1; free(p); } }",
        "int main(void) { n = 0; int *p = malloc(n * sizeof(int)); free(p); p = malloc(4); *p = 1; free(p); }",
    ]);
    all(false, &none.iter().map(String::as_str).collect::<Vec<&str>>());
}

#[test]
fn memory_of_a_function_is_followed_unless_something_outlives_it() {
    let program = |body: &str| {
        format!(
            "int *g; int two = 2; void use(int *p) {{ p[1] = 1; }} {body} int main(void) {{ f(two); two = 3; }}"
        )
    };
    assert!(!goes_wrong(&program("void f(int n) { int a[n]; use(a); }")));
    assert!(goes_wrong(&program("void f(int n) { int a[n]; use(a + 1); }")));
    for body in [
        "void f(int n) { int a[n]; g = a; }",
        "int *m(int n) { int a[n]; return a; } void f(int n) { *m(n) = 1; }",
    ] {
        let text = format!("{PRELUDE}{}", program(body));
        for program in ours::programs(&text).expect("it is read") {
            let ends = explore::ends(&program, MOST_STATES).expect("few states");
            assert!(ends.iter().any(|(end, _)| *end == End::Beyond), "{body}");
        }
    }
}

#[test]
fn what_is_seen_as_more_than_it_is_ends_where_it_did() {
    all(
        true,
        &[
            "int a[2], b = 5; int main(void) { memset(a, 0, 3 * sizeof(int)); }",
            "int main(void) { int a[2], b = 5; memset(a, 0, 3 * sizeof(int)); }",
            "int a[3]; int main(void) { memset(&a[1], 0, sizeof a); }",
            "int a[3]; int main(void) { int b[4]; memcpy(b, a, sizeof b); }",
            "struct s { int a, b; } x; void clear(struct s *p) { memset(p, 0, 2 * sizeof *p); } int main(void) { clear(&x); }",
            "struct s { int a, b; }; int x, y; int main(void) { ((struct s *)&x)->b = 5; }",
            "struct s { int a, b; }; int main(void) { int x, y; ((struct s *)&x)->b = 5; }",
            "int x, y; int main(void) { (*(int (*)[3])&x)[1] = 3; }",
            "struct s { int a, b; }; struct t { struct s s; int c; }; struct s v; struct t w; int y; int main(void) { *(struct t *)&v = w; }",
            "struct s { int a, b; }; struct t { struct s s; int c; }; int main(void) { struct s v; int y; ((struct t *)&v)->c = 1; }",
        ],
    );
    all(
        false,
        &[
            "struct s { int a, b; } x = { 1, 2 }; void clear(struct s *p) { memset(p, 0, sizeof *p); } int main(void) { clear(&x); }",
            "int a[3]; int main(void) { int b[4]; memcpy(b, a, sizeof a); memset(&a[1], 0, 2 * sizeof(int)); memmove(&b[1], b, 3 * sizeof(int)); }",
            "struct s { int a, b; }; int main(void) { struct s x = { 1, 2 }, y; memcpy(&y.a, &x.a, sizeof x); }",
            "struct s { int a, b; }; int x; int main(void) { ((struct s *)&x)->a = 5; }",
            "struct s { int a, b; }; struct t { struct s s; int c; }; struct t w; int main(void) { struct s *p = (struct s *)&w; p->b = 1; ((struct t *)p)->c = 2; }",
        ],
    );
}

#[test]
fn bit_fields_of_one_location_are_written_together() {
    let race = "struct s { int a : 4; int b : 4; } s; void *t(void *u) { s.a = 1; return 0; } int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); s.b = 2; pthread_join(a, 0); int *none = 0; if (s.a != 1) result = *none; }";
    all(true, &[race]);
    // A member of no width, or one that is none, is between two locations.
    all(
        false,
        &[
            &race.replace("int a : 4; int", "int a : 4; int : 0; int c; int"),
            &race.replace("int a : 4; int", "int a : 4; int : 0; int"),
            &race.replace("int a : 4; int", "int a : 4; char : 0; int"),
            &race.replace("int a : 4;", "int a;"),
            &race.replace("s.b = 2; pthread_join(a, 0);", "pthread_join(a, 0); s.b = 2;"),
        ],
    );
}
