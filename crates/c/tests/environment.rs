//! What is not the program's: pointers that the environment gives, ports, memory of several types at once.
//!
//! Where there is no `cc`, the tests that compare with it say so and pass.

#[path = "random/compare.rs"]
mod compare;
#[path = "random/explore.rs"]
mod explore;
#[path = "random/native.rs"]
#[allow(dead_code, reason = "the random programs use more of it")]
mod native;
#[path = "random/ours.rs"]
mod ours;

use allways_c::property::Property;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use compare::compare;
use ours::End;

const PRELUDE: &str = "void *__VERIFIER_nondet_pointer(void); void reach_error(void); void free(void *);
    struct s { int a; struct s *next; }; int result; ";

/// What can become of a program whose variables without a value are zero.
fn ends(text: &str) -> Vec<End> {
    let text = format!("{PRELUDE}{text}");
    let [plain, fused] = ours::programs(&text).unwrap_or_else(|message| panic!("{message}: {text}"));
    let [plain, fused] = [plain, fused].map(|program| {
        let mut ends: Vec<End> =
            explore::ends(&program, 5_000).expect("few states").into_iter().map(|(end, _)| end).collect();
        ends.iter_mut().for_each(|end| {
            if let End::Wrong(how) = end {
                how.clear();
            }
        });
        ends.sort();
        ends.dedup();
        ends
    });
    assert_eq!(plain, fused, "{text}");
    fused
}

fn wrong() -> End {
    End::Wrong(String::new())
}

/// Whether it matters which pointers the environment gives.
fn matters(text: &str) -> bool {
    let text = format!("{PRELUDE}{text}");
    let map = LineMap::identity(text.as_bytes());
    let read = allways_c::read(text.as_bytes(), &map, DataModel::Lp64, Property::default());
    read.unwrap_or_else(|errors| panic!("{errors:?}: {text}")).given_here.is_some()
}

#[test]
fn a_given_pointer_is_null_or_points_to_an_object_of_its_own() {
    let two = "struct s *p = (struct s *)__VERIFIER_nondet_pointer(); struct s *q = (struct s *)__VERIFIER_nondet_pointer();";
    let given = |body: &str| ends(&format!("int main(void) {{ {two} {body} }}"));
    assert_eq!(given("result = 1; if (p) { p->a = 2; result = p->a; }"), [End::Result(1), End::Result(2)]);
    assert_eq!(given("if (p && q) { p->a = 2; q->a = 3; result = p->a; }"), [End::Result(0), End::Result(2)]);
    assert_eq!(given("result = 1; if (p) free(p);"), [End::Result(1)]);
    assert!(given("result = 1; p->a = 1;").contains(&wrong()), "the null pointer");
    assert!(given("result = 1; if (p) p[1].a = 1;").contains(&wrong()), "one object only");
    let wrapped = "void *get(void) { return __VERIFIER_nondet_pointer(); }
        int main(void) { void *t = get(); struct s *p = (struct s *)t; if (p) { p->a = 4; result = p->a; } }";
    assert_eq!(ends(wrapped), [End::Result(0), End::Result(4)]);
}

#[test]
fn nothing_is_claimed_of_pointers_that_matter() {
    let given = "struct s *p = (struct s *)__VERIFIER_nondet_pointer();";
    assert!(matters(&format!("int main(void) {{ {given} if (p) p->a = 1; }}")));
    assert!(matters(&format!("int main(void) {{ {given} if (p == (struct s *)&result) reach_error(); }}")));
    assert!(!matters(&format!("int main(void) {{ {given} result = 1; }}")));
}

#[test]
fn what_a_port_gives_is_any_value() {
    let port = "static unsigned char in(int port) { unsigned char value; __asm__ volatile (\"inb %w1, %b0\" : \"=a\" (value) : \"Nd\" (port)); return value; }";
    let found = ends(&format!("{port} int main(void) {{ if (in(3) == 200) reach_error(); result = 1; }}"));
    assert_eq!(found, [End::Result(1), wrong()]);
}

#[test]
fn assembly_reads_the_memory_of_a_device_and_no_other() {
    let read = "static unsigned char read(const volatile void *p) { unsigned char value; __asm__ volatile (\"movb %1,%0\" : \"=q\" (value) : \"m\" (*(volatile unsigned char *)p) : \"memory\"); return value; }";
    let device = format!(
        "{read} int main(void) {{ void *base = __VERIFIER_nondet_pointer(); if (base && read(base + 8) == 7) reach_error(); result = 1; }}"
    );
    assert_eq!(ends(&device), [End::Result(1), wrong()]);
    let own = format!(
        "{read} unsigned char x = 7; int main(void) {{ unsigned char *p = &x; if (read(p) == 3) reach_error(); }}"
    );
    assert_eq!(ends(&own), [End::Beyond]);
}

#[test]
fn parts_of_structs_are_read_as_numbers_of_other_types() {
    compare(&[
        ("", "struct s { int a; unsigned b; long c; int *d; short e[4]; } g = { -1, 4000000000u, 5, 0, { 1, -2, 3, 4 } }; struct s *keep = &g;
              int main(void) { struct s *p = keep; unsigned u = *(unsigned *)p; unsigned long l = *((unsigned long *)p + 1); result = (u == 4294967295u) + 2 * (l == 5) + 4 * (*((unsigned short *)p + 13) == 65534); }"),
        ("", "int *p; unsigned char b = 200; int x; int main(void) { *(unsigned long *)&p = 0; result = p == 0; result = result * 1000 + (*(signed char *)&b < 0); *(signed char *)&b = -1; result += b; *(unsigned *)&x = 4294967295u; result += x; result += *(unsigned *)&x == 4294967295u; }"),
        ("", "int x; struct s { char c; int *d; } g = { 1, 0 }; struct s *keep = &g;
              int main(void) { struct s *p = keep; result = *((unsigned long *)p + 1) != 0UL; p->d = &x; result = result * 2 + (*((unsigned long *)p + 1) != 0UL); }"),
    ]);
}

#[test]
fn memory_has_the_type_that_it_is_converted_to_later() {
    compare(&[
        ("", "void *malloc(unsigned long); struct s { int a; char b; }; void *get(unsigned long n) { void *t; t = malloc(n); return t; }
              int main(void) { struct s *p; void *t; t = get(sizeof(struct s)); p = (struct s *)t; p->a = 5; p->b = 3; void *u; u = get(20); int *q = (int *)u; q[4] = 7; result = p->a * 100 + p->b * 10 + q[4]; }"),
        ("", "void *malloc(unsigned long); struct s { int a; char b; long c; }; int main(void) { void *t; t = malloc(30); struct s *p = (struct s *)t; p->c = 9; p->b = 1; result = p->c + p->b; }"),
        ("", "void *calloc(unsigned long, unsigned long); struct head { int n; void *own; char c; }; struct mine { struct head *h; int *r; unsigned u; };
              struct head *make(unsigned n) { void *t; t = calloc(1, sizeof(struct head) + n); struct head *h = (struct head *)t; h->own = (void *)(h + 1); return h; }
              int main(void) { struct head *h = make(37); void *t = h->own; struct mine *m = (struct mine *)t; m->h = h; m->u += 7; h->n = 2; result = m->u * 10 + m->h->n + (m->r == 0); }"),
    ]);
}

#[test]
fn members_of_large_structs_are_found_through_pointers() {
    let members: String =
        (0..40).map(|number| format!("int i{number}; char c{number}; void *p{number}; ")).collect();
    let text = format!(
        "struct big {{ {members} }}; struct two {{ char c; struct big b; }}; struct two g; struct big *keep = &g.b; void *any = &g;
         int main(void) {{ struct big *b = keep; b->i39 = 4; b->c20 = 'x'; b->p5 = &g; struct two *t = any;
         result = t->b.i39 * 1000 + (t->b.c20 == 'x') * 100 + (t->b.p5 == any) * 10; }}"
    );
    compare(&[("", &text)]);
}

#[test]
fn a_call_through_a_pointer_calls_functions_of_its_type() {
    compare(&[(
        "",
        "struct a { int x; }; struct b { int y; }; struct ops { int (*one)(struct a *); int (*two)(struct b *); void *any; };
         int one(struct a *a) { return a->x; } struct ops *all; int two(struct b *b) { return all->one((struct a *)all->any) + b->y; }
         int main(void) { struct a a = { 3 }; struct b b = { 4 }; struct ops o = { one, two, &a }; all = &o; result = all->two(&b) * 10 + all->one(&a); }",
    )]);
}
