//! Programs that were read wrongly once, and what they compute: by the reference semantics, and natively.
//!
//! Where there is no `cc`, the tests say so and pass.

#[path = "random/compare.rs"]
mod compare;
#[path = "random/native.rs"]
#[allow(dead_code, reason = "the random programs use more of it")]
mod native;
#[path = "random/ours.rs"]
mod ours;

use compare::compare;

#[test]
fn pointers_into_the_middle_lead_both_ways() {
    compare(&[
        (
            "",
            "int a[3] = { 1, 2, 3 }; int f(int *p) { return p[-1] * 100 + p[0] * 10 + p[1]; } int main(void) { result = f(&a[1]); result = result * 1000 + f(a + 1); }",
        ),
        (
            "",
            "int a[3] = { 1, 2, 3 }, i = 1; int f(int *p) { return p[-1] * 100 + p[0] * 10 + p[1]; } int main(void) { result = f(&a[i]); int b[3] = { 4, 5, 6 }; result = result * 1000 + f(&b[1]) + f(&b[i]); }",
        ),
        (
            "",
            "struct s { int k, v[3]; } s = { 1, { 2, 3, 4 } }; int f(int *p) { return *(p - 1) * 10 + p[1]; } int main(void) { struct s t = s; t.v[0] = 9; result = f(&s.v[1]) * 100 + f(t.v + 1); }",
        ),
        (
            "",
            "int m[2][2] = { { 1, 2 }, { 3, 4 } }; int f(int (*p)[2]) { return p[-1][1] * 10 + (*p)[0]; } int g(int *p) { return p[0] * 10 + p[-1]; } int main(void) { result = f(&m[1]) * 100 + g(&m[1][1]); int l[2][2] = { { 5, 6 }, { 7, 8 } }; result = result * 10000 + f(l + 1) * 100 + g(&l[0][1]); }",
        ),
        (
            "",
            "struct s { int a, b; } v[3] = { { 1, 2 }, { 3, 4 }, { 5, 6 } }; int f(struct s *p) { return p[-1].b * 100 + p->a * 10 + (p + 1)->b; } int g(struct s *p, int i) { return f(p + i); } int main(void) { result = f(&v[1]); result = result * 1000 + g(v, 1) + g(&v[2], -1); }",
        ),
        (
            "",
            "int a[4] = { 1, 2, 3, 4 }; int g(int *p) { return p[-2]; } int f(int *p) { return g(p + 1) * 10 + g(&p[2]); } int main(void) { int k = 1; result = f(a + k) * 100 + f(&a[1]); }",
        ),
    ]);
}

#[test]
fn values_of_an_initialiser_are_those_of_their_time() {
    compare(&[
        (
            "",
            "int n; int next(void) { return ++n; } int main(void) { int a[3] = { next(), next(), next() }; result = a[0] * 100 + a[1] * 10 + a[2]; }",
        ),
        (
            "",
            "struct p { int x, y; }; struct p pair(int a) { struct p p = { a, a + 1 }; return p; } int main(void) { struct p a[2] = { pair(1), pair(5) }; result = a[0].x * 1000 + a[0].y * 100 + a[1].x * 10 + a[1].y; }",
        ),
        (
            "",
            "int id(int x) { int y = x; return y; } int main(void) { struct { int x, y; } s = { .y = id(4), .x = id(5) }; result = s.x * 10 + s.y; result = result * 10 + (&(struct { int a[2]; }){ { id(6), id(7) } })->a[0]; }",
        ),
    ]);
}

#[test]
fn a_bit_field_that_is_chosen_has_the_type_of_both_branches() {
    compare(&[(
        "",
        "struct s { unsigned b : 6; } s = { 1 }; int main(void) { result = (3 ? s.b : 7u) - 2 < 0; result = result * 2 + ((0 ? 7 : s.b) - 2 < 0); }",
    )]);
}

#[test]
fn values_of_bit_fields_are_promoted_after_a_comma() {
    compare(&[(
        "",
        "struct s { unsigned b : 24; } s; int g; int main(void) { result = (g, s.b) <= -255; result = result * 2 + (({ g; s.b; }) > -1); result = result * 2 + ((g, (g, s.b)) - 1 < 0); }",
    )]);
}

#[test]
fn a_bit_field_that_is_cast_to_its_own_type_is_none() {
    compare(&[(
        "",
        "struct s { unsigned b : 3; unsigned char c : 2; } s; enum e { A, B } ; int g = -32; int main(void) { result = g >= (unsigned)s.b; result = result * 2 + (g >= (enum e)s.b); result = result * 2 + (g >= (g, (unsigned)s.b)); result = result * 2 + (g >= (unsigned char)s.c); result = result * 2 + ((unsigned)s.b - 1 > 0); }",
    )]);
}

#[test]
fn containers_are_found_wherever_the_address_of_a_part_goes() {
    let head = "struct empty { }; struct part { int v; }; struct whole { int a; struct empty e; struct part p; int b; } w = { 1, { }, { 2 }, 3 };
        struct part *q; struct empty *r;";
    let of = |member: &str| {
        format!(
            "({{ const typeof(((struct whole *)0)->{member}) *m = x; (struct whole *)((char *)m - (unsigned long)&((struct whole *)0)->{member}); }})"
        )
    };
    let programs = [
        format!(
            "{head} struct whole *f(struct part *x) {{ struct whole *y; y = {}; return y; }} int main(void) {{ q = &w.p; result = f(q)->a * 10 + f(q)->b; }}",
            of("p")
        ),
        format!(
            "{head} struct whole *f(struct empty *x) {{ return {}; }} int main(void) {{ r = &w.e; result = f(r)->a * 10 + f(r)->b; }}",
            of("e")
        ),
        format!(
            "{head} int main(void) {{ struct part *x = &w.p; struct whole *y = {}; y->b = 7; result = w.b; }}",
            of("p")
        ),
    ];
    compare(&programs.iter().map(|text| ("", &text[..])).collect::<Vec<_>>());
}

#[test]
fn a_call_in_a_place_does_not_change_what_is_stored() {
    compare(&[(
        "",
        "int o[2]; int w(int a) { return a * 3; } int main(void) { o[w(2) & 1] ^= w(7); o[w(3) & 1] += w(5); result = o[0] * 100 + o[1]; }",
    )]);
}

#[test]
fn places_that_become_known_have_the_types_of_their_variables() {
    let text = "typedef unsigned long pthread_t; int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
        int pthread_join(pthread_t, void **); void *malloc(unsigned long); struct node { int value; struct node *next; } *top;
        int other(void);
        void *push(void *argument) { struct node *node = malloc(sizeof *node); node->value = (int)(long)argument;
          node->next = (struct node *)(long)other(); top = node; return 0; }
        int main(void) { pthread_t one, two; pthread_create(&one, 0, push, (void *)1); pthread_create(&two, 0, push, (void *)2);
          pthread_join(one, 0); pthread_join(two, 0); return top->value; }";
    let map = allways_c::source::LineMap::identity(text.as_bytes());
    let model = allways_c::typed::DataModel::Lp64;
    let lowered = allways_c::read(text.as_bytes(), &map, model, Default::default()).expect("it is read");
    assert_eq!(lowered.program.validate(), Ok(()));
}

/// What an assignment stores is its value, also where that was computed from what it overwrites, or decides where it is stored.
#[test]
fn the_value_of_an_assignment_to_local_memory_is_what_was_stored() {
    compare(&[
        (
            "",
            "struct s { int a, b; } g; int main(void) { struct s s = { 1, 2 }; int x; x = s.a = s.a + 1; result = x * 10 + s.a; x = (s.b += s.a); result = result * 100 + x * 10 + s.b; g.a = s.a = -s.a - 3; result = result * 10 + g.a; }",
        ),
        (
            "",
            "struct s { unsigned short f : 14; short n; }; int g; int f(struct s v) { for (int i = 0; i != 3; i++) g = v.f = -23 - v.f; return g; } int main(void) { struct s z = { 0, 1 }; result = f(z); }",
        ),
        (
            "",
            "int main(void) { int a[4] = { 0, 5, 6, 7 }, b[4] = { 0, 5, 6, 7 }, y; y = a[a[0]] = a[0] + 1; result = y * 10 + a[0]; y = ++b[b[0]]; result = result * 100 + y * 10 + b[1]; y = b[b[0]]++; result = result * 100 + y * 10 + b[1]; y = (b[b[0] & 3] += b[1]); result = result * 100 + y; }",
        ),
    ]);
}
