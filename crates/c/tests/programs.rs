//! Small programs that are hard on pointers, and what they compute: by the reference semantics, and natively.
//!
//! Where there is no `cc`, the test says so and passes.

#[path = "random/compare.rs"]
mod compare;
#[path = "random/native.rs"]
#[allow(dead_code, reason = "the random programs use more of it")]
mod native;
#[path = "random/ours.rs"]
mod ours;

use compare::compare;

#[test]
fn pointers_lead_where_they_do_natively() {
    compare(&[
        ("", "int a = 1, b = 2; void *keep(void *p) { return p; }
              int main(void) { int *p = keep(&a); *p += 5; void *q = p; p = keep(&b); *(int *)q += *p; result = a * 10 + b; }"),
        ("", "int a = 1, b = 2, c = 3; int main(void) { int *t[3] = { &a, &b, &c }; for (int i = 0; i < 3; i++) *t[i] += i * 10;
              int *x = t[0]; t[0] = t[2]; t[2] = x; *t[0] *= 2; *t[2] *= 3; result = a * 10000 + b * 100 + c; }"),
        ("", "struct s { int *p; int v; }; int a = 4; struct s g = { &a, 5 };
              int main(void) { struct s l = g; *l.p += l.v; l.p = &l.v; *l.p = 77; g = l; *g.p += 1; result = a * 1000 + l.v * 10 + g.v; }"),
        ("", "int add(int x, int y) { return x + y; } int sub(int x, int y) { return x - y; } int (*ops[2])(int, int) = { add, sub };
              int apply(int (*f)(int, int), int x) { return f(x, 3); }
              int main(void) { for (int i = 0; i < 4; i++) result = result * 10 + apply(ops[i & 1], 5); result += (result ? add : sub)(100, 1); }"),
        ("", "void set(int **p, int *v) { *p = v; } void move(int **p) { (*p)++; } int a[3] = { 5, 6, 7 }, b = 9;
              int main(void) { int *p = &b; result = *p; set(&p, a); move(&p); result = result * 10 + *p; set(&p, &a[2]); *p = 1; result = result * 100 + a[2] + b; }"),
        ("", "void *malloc(unsigned long); struct n { int v; struct n *next; };
              struct n *push(struct n *h, int v) { struct n *n = malloc(sizeof *n); n->v = v; n->next = h; return n; }
              struct n *turn(struct n *h) { struct n *r = 0; while (h) { struct n *t = h->next; h->next = r; r = h; h = t; } return r; }
              int main(void) { struct n *h = 0; for (int i = 1; i < 6; i++) h = push(h, i); h = turn(h); for (struct n *p = h; p; p = p->next) result = result * 10 + p->v; }"),
        ("", "void f(int *p, int *q) { *p = *p + 1; *q = *q * 3; *p = *p + *q; } int x = 2; int main(void) { f(&x, &x); int y = 5; f(&y, &y); f(&x, &y); result = x * 1000 + y; }"),
        ("", "void swap(int *p, int *q) { int t = *p; *p = *q; *q = t; } void turn(int **p, int **q) { int *t = *p; *p = *q; *q = t; }
              int a[4] = { 1, 2, 3, 4 }; int main(void) { swap(&a[0], &a[3]); int *p = a, *q = a + 2; turn(&p, &q); swap(p, q); p[1] = 9; for (int i = 0; i < 4; i++) result = result * 10 + a[i]; }"),
        ("", "void twice(int *p) { *p *= 2; } void four(int *p) { twice(p); twice(p); } void at(int *a, int i) { four(&a[i]); four(a + 1); }
              int t[3] = { 1, 2, 3 }; int main(void) { at(t, 2); at(&t[1], 0); for (int i = 0; i < 3; i++) result = result * 100 + t[i]; }"),
        ("", "struct in { int a[2]; }; struct out { int k; struct in i[2]; }; struct out g = { 1, { { { 2, 3 } }, { { 4, 5 } } } };
              void up(struct in *p) { p->a[1] += 10; } int sum(struct out o) { o.i[0].a[0] = 100; return o.k + o.i[0].a[0] + o.i[1].a[1]; }
              int main(void) { up(&g.i[1]); struct in *p = g.i; up(p++); up(p); result = sum(g) * 1000 + g.i[0].a[0] * 100 + g.i[0].a[1] + g.i[1].a[1]; }"),
        ("", "int m[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } }; int row(int r[3]) { return r[0] + r[2]; } int all(int (*p)[3]) { int s = 0; for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) s += p[i][j] * (i + j); return s; }
              int main(void) { int (*p)[3] = m; p++; (*p)[1] = 9; result = row(m[1]) * 1000 + all(m) + *(*(m + 1) + 1) + *m[1]; }"),
        ("", "union u { int i; char c[4]; }; union u g; int main(void) { g.i = 7; union u h = g; union u *p = &h; p->i++; result = g.i * 10 + h.i; }"),
        ("", "int count(void) { static int n = 3; return n++; } int *where(void) { static int x = 1; return &x; } int main(void) { count(); *where() += 5; *where() *= 2; result = count() * 100 + *where(); }"),
        ("", "int length(const char *s) { int n = 0; while (*s++) n++; return n; } const char *t[] = { \"one\", \"three\", \"\" };
              int main(void) { for (int i = 0; i < 3; i++) result = result * 10 + length(t[i]); result = result * 1000 + t[1][2] + \"xyz\"[1]; }"),
        ("", "int a[5] = { 1, 2, 3, 4, 5 }; int main(void) { int *p = a, *e = a + 5; while (p < e) result = result * 7 + *p++; p = e; while (p-- > a) result += *p; result = result * 10 + (e - a) + (&a[4] - &a[1]); }"),
        ("", "struct s { int x; struct s *other; }; int main(void) { struct s a = { 1, 0 }, b = { 2, &a }; a.other = &b; a.other->other->x = 7; b.other->other->x = 8; result = a.x * 10 + b.x; }"),
        ("", "int f(int n, int *acc) { if (n == 0) return 0; *acc += n; return f(n - 1, acc) + 1; } int g; int main(void) { int d = f(4, &g); result = g * 10 + d; }"),
        ("", "struct p { int x, y; }; struct p mk(int x, int y) { struct p r = { x, y }; return r; } struct p add(struct p a, struct p b) { a.x += b.x; a.y += b.y; return a; }
              int main(void) { struct p a = mk(1, 2); struct p b = add(a, add(a, mk(10, 20))); result = b.x * 100 + b.y + mk(3, 4).y + a.x; }"),
        ("", "int x = 1, y = 2; int *pick(int c) { return c ? &x : &y; } int main(void) { *pick(1) = 5; *pick(0) += 6; int **pp; int *p = &x; pp = &p; **pp = 9; *pp = &y; **pp += 1; result = x * 100 + y; }"),
        ("", "void f(int *p) { int *q = p; *q += 1; } void g(int *p) { p = p + 1; *p = 8; } int a[2] = { 1, 2 }; int main(void) { int l = 5; f(&l); f(&a[0]); g(a); result = l * 100 + a[0] * 10 + a[1]; }"),
        ("", "int *last; void note(int *p) { last = p; } int main(void) { int a = 1, b = 2; note(&a); *last = 5; note(&b); *last += a; result = a * 10 + b; }"),
        ("", "struct s { int a; char b; int c[2]; }; int main(void) { struct s v[2] = { { 1, 2, { 3, 4 } }, { 5, 6, { 7, 8 } } }; struct s *p = &v[1]; struct s t = v[0]; v[0] = *p; *p = t; p--; p->c[1] = 99; result = v[0].c[1] * 100 + v[0].a * 10 + v[1].c[0]; }"),
        ("", "void f(int *a, int *b, int n) { for (int i = 0; i < n; i++) { *a += *b; b++; } } int t[3] = { 1, 2, 3 }; int main(void) { int s = 0; f(&s, t, 3); f(&t[0], t, 3); result = s * 100 + t[0]; }"),
        ("", "void *malloc(unsigned long); int main(void) { int *a = (int *)malloc(3 * sizeof(int)); for (int i = 0; i < 3; i++) a[i] = i * i + 1; int *b = a + 1; b[1] += *b; result = a[0] * 100 + a[1] * 10 + a[2]; }"),
        ("", "struct o { int n; int (*get)(struct o *); }; int one(struct o *o) { return o->n; } int two(struct o *o) { return o->n++ * 2; } int main(void) { struct o a = { 3, one }, b = { 4, two }; struct o *l[2] = { &a, &b }; for (int i = 0; i < 4; i++) result = result * 10 + l[i & 1]->get(l[i & 1]); }"),
    ]);
}

#[test]
fn side_effects_come_in_the_order_of_c() {
    compare(&[
        (
            "",
            "int a[3] = { 1, 2, 3 }; int main(void) { int i = 0; int *p = a; *p++ = 7; *p += *p; result = *p++; result = result * 10 + *p; a[i++] = 9; result = result * 100 + a[0] * 10 + i; }",
        ),
        (
            "",
            "int n; int f(void) { return ++n; } int main(void) { int x = (f(), f()) * 10; x += f() && !f() || f(); result = x * 10 + n; }",
        ),
        (
            "",
            "int g = 1; int up(void) { g *= 3; return g; } int main(void) { int x; x = up(); g = up() - g / 9; x = g ? up() : 0, x++; result = x * 100 + g; }",
        ),
        (
            "",
            "int main(void) { unsigned char c = 250; c += 10; signed char s = 127; s++; short h = -32768; h--; _Bool b = 5; b += 7; b--; result = c * 1000000 + (s + 128) * 1000 + h / 100 + b; }",
        ),
        (
            "",
            "struct b { unsigned x : 3; int y : 4; unsigned z : 9; }; int main(void) { struct b v = { 7, -8, 300 }; v.x++; v.y--; v.z = v.z * 2; int k = (v.x = 13); int l = v.y++; result = v.x * 100000 + (v.y + 20) * 1000 + v.z + k * 7 + l; }",
        ),
        (
            "",
            "int main(void) { int i, s = 0; for (i = 0; i < 10; i++) { if (i == 2) continue; if (i == 6) break; switch (i) { case 0: s += 1; case 1: s += 10; break; default: s += 100; case 3 ... 4: s += 1000; } } result = s * 10 + i; }",
        ),
        (
            "",
            "int main(void) { int i = 0, n = 0; again: n += i; if (++i < 5) goto again; switch (n) { int k; case 10: k = 3; n += k; goto out; default: n = 0; } n = 99; out: result = n; }",
        ),
        (
            "",
            "int f(int n) { if (n > 100) return n - 10; return f(f(n + 11)); } int ack(int m, int n) { return m ? ack(m - 1, n ? ack(m, n - 1) : 1) : n + 1; } int main(void) { result = f(97) * 100 + ack(2, 2); }",
        ),
        (
            "",
            "int even(int n); int odd(int n) { return n ? even(n - 1) : 0; } int even(int n) { return n ? odd(n - 1) : 1; } int main(void) { result = even(6) * 10 + odd(4) + 5; }",
        ),
        (
            "",
            "int main(void) { int x = 3; { int x = 4; result += x; { static int x = 9; x++; result += x; } } for (int x = 0; x < 2; x++) result += x; result = result * 10 + x; }",
        ),
        (
            "",
            "long long big = 1LL << 40; int main(void) { big += 12345; big >>= 3; int lo = (int)big; short s = (short)lo; result = (unsigned)(big % 1000003) + lo + (unsigned short)s; }",
        ),
        (
            "",
            "unsigned u = 0; int main(void) { u--; int i = -1; result = (u == i) + ((long)u == i) * 2 + (u > 5) * 4 + (i < 5u) * 8 + ((unsigned char)i == 255) * 16 + (-1 >> 1 == -1) * 32 + ((~0u >> 31) == 1) * 64; }",
        ),
    ]);
}

#[test]
fn arguments_are_those_at_the_time_of_the_call() {
    compare(&[
        (
            "",
            "int i, a[3] = { 1, 2, 3 }; void f(int *p) { i = 2; *p = 9; } int main(void) { f(&a[i]); result = a[0] * 100 + a[1] * 10 + a[2]; }",
        ),
        (
            "",
            "int x = 1, y = 2, *q = &x; void f(int *p) { q = &y; *p = 9; *q = 8; } int main(void) { f(q); result = x * 10 + y; }",
        ),
        (
            "",
            "struct s { int v, w; } a = { 1, 2 }, b = { 3, 4 }, *q = &a; void f(int *p) { q = &b; *p += 50; } void g(struct s *p) { q = &a; p->w += 7; } int main(void) { f(&q->w); g(q); result = a.w * 1000 + b.w; }",
        ),
        (
            "",
            "struct n { int v; struct n *next; } c = { 3, 0 }, b = { 2, &c }, a = { 1, &b }; void f(struct n *p) { a.next = &c; p->v += 10; } int main(void) { f(a.next); f(a.next); result = a.v * 10000 + b.v * 100 + c.v; }",
        ),
        (
            "",
            "int k; int a[4] = { 1, 2, 3, 4 }; void in(int *p) { *p += 1; k++; } void out(int *p) { in(p + k); in(p + k); in(&p[k]); } int main(void) { out(a); result = a[0] * 1000 + a[1] * 100 + a[2] * 10 + a[3]; }",
        ),
        (
            "",
            "struct p { int x, y; }; struct p mk(int x) { struct p r = { x, x + 1 }; return r; } int sum(struct p a, struct p b) { return a.x * 1000 + a.y * 100 + b.x * 10 + b.y; } int id(int x) { return x; } int two(int a, int b) { return a * 10 + b; } int main(void) { result = sum(mk(1), mk(5)) + two(id(3), two(id(1), id(2))); }",
        ),
        (
            "",
            "int g = 5; int f(int v) { g = 7; return v + g; } int main(void) { int l = g; int r = f(g); result = r * 100 + f(l) + g; }",
        ),
        (
            "",
            "void f(int *p, int v) { *p = v; *p += v; } int main(void) { int x = 3; f(&x, x); f(&x, x + 1); result = x; }",
        ),
        (
            "",
            "int f(int *p) { return p ? *p : -1; } int g(int *p) { if (!p) return 50; return p && *p ? 1 : 2; } int main(void) { int x = 3, z = 0; result = f(&x) * 1000 + (f(0) + 2) * 100 + g(0) + g(&x) + g(&z) * 10; }",
        ),
        (
            "",
            "void w(int *p) { *({ p; }) = 4; *(1, p) += 2; *(*p ? p : 0) += 3; } int main(void) { int x = 0; w(&x); result = x; }",
        ),
        (
            "",
            "struct s { int a[3]; int n; }; void add(struct s *s, int v) { s->a[s->n++] = v; } int top(struct s *s) { return s->a[--s->n]; } int main(void) { struct s s = { { 0 }, 0 }; add(&s, 4); add(&s, 5); add(&s, 6); result = top(&s) * 10; result += top(&s); result = result * 10 + s.n; }",
        ),
        (
            "",
            "int f(int a[2][2], int i) { a[i][1 - i] = i + 5; return a[1][0]; } int main(void) { int m[2][2] = { { 1, 2 }, { 3, 4 } }; result = f(m, 1) * 100; result += f(m, 0) * 10 + m[0][1]; }",
        ),
    ]);
}

#[test]
fn what_writes_is_noticed() {
    compare(&[
        (
            "",
            "int g = 1, h = 2; int main(void) { __sync_fetch_and_add(&g, 4); __atomic_store_n(&h, 7, 5); result = g * 10 + h; }",
        ),
        (
            "",
            "int g = 5; int main(void) { int e = 3; int ok = __atomic_compare_exchange_n(&g, &e, 9, 0, 5, 5); result = ok * 1000 + e * 100 + g * 10; ok = __atomic_compare_exchange_n(&g, &e, 9, 0, 5, 5); result += ok * 2000 + e + g; }",
        ),
        (
            "",
            "void *memset(void *, int, unsigned long); void *memcpy(void *, const void *, unsigned long); struct s { int a, b; } x = { 1, 2 }, y = { 3, 4 }; int main(void) { memcpy(&x, &y, sizeof x); result = x.a * 10 + x.b; memset(&y, 0, sizeof y); result = result * 100 + y.a + y.b; }",
        ),
        (
            "",
            "void *memcpy(void *, const void *, unsigned long); int a[3] = { 1, 2, 3 }, b[3]; int main(void) { memcpy(b, a, sizeof a); b[1] = 8; memcpy(a, b, sizeof b); result = a[0] * 100 + a[1] * 10 + a[2]; }",
        ),
        (
            "",
            "int g = 1; struct s { int x; } s = { 2 }; int a[2] = { 3, 4 }; int main(void) { *&g += 5; (&s)->x = 7; *(a + 1) = 9; (*&a)[0] = 6; result = g * 1000 + s.x * 100 + a[0] * 10 + a[1]; }",
        ),
        (
            "",
            "int a[4] = { 1, 2, 3, 4 }; int *p = &a[1]; struct s { int k, v[2]; } s[2] = { { 1, { 2, 3 } }, { 4, { 5, 6 } } }; int *q = &s[1].v[0], *r = s[0].v + 1; struct s *t = &s[1]; int **pp = &p; const char *c = &\"hello\"[1]; int main(void) { *q += 10; *r += 20; t->k++; **pp = 7; result = a[1] * 1000000 + s[1].v[0] * 10000 + s[0].v[1] * 100 + s[1].k + c[0] + (t - s); }",
        ),
        (
            "",
            "int g = 3; int main(void) { const int *p = &g; int *q = (int *)p; *q = 4; result = g * 10 + *p; }",
        ),
        (
            "",
            "struct a { int x; }; struct b { struct a first; int y; }; int main(void) { struct b v = { { 1 }, 2 }; struct a *p = &v.first; struct b *w = (struct b *)p; w->y = 6; p->x = 5; result = v.first.x * 10 + v.y; }",
        ),
        (
            "",
            "union u { struct { int a, b; } s; }; union u f(union u v) { v.s.b += v.s.a; return v; } int main(void) { union u v = { { 3, 4 } }; union u w = f(v); result = v.s.b * 10 + w.s.b; }",
        ),
        (
            "",
            "struct s { int x; } f(void) { static struct s k = { 5 }; k.x++; return k; } struct s *g(void) { static struct s k = { 1 }; return &k; } int main(void) { result = f().x; result = result * 10 + f().x; g()->x += 4; result = result * 10 + g()->x; }",
        ),
        (
            "",
            "int x = 1; int main(void) { int *p = &x, **pp = &p, ***ppp = &pp; ***ppp = 4; int y = 6; **ppp = &y; *p += 1; result = x * 10 + y; }",
        ),
        (
            "",
            "void inc(void *p) { (*(int *)p)++; } void each(int *a, int n, void (*f)(void *)) { for (int i = 0; i < n; i++) f(&a[i]); } int main(void) { int a[3] = { 1, 2, 3 }; each(a, 3, inc); result = a[0] * 100 + a[1] * 10 + a[2]; }",
        ),
        (
            "",
            "int v[3] = { 3, 1, 2 }; void sort(int *a, int n) { for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) if (a[j] < a[i]) { int t = a[i]; a[i] = a[j]; a[j] = t; } } int main(void) { sort(v, 3); result = v[0] * 100 + v[1] * 10 + v[2]; }",
        ),
        (
            "",
            "int a = 1, b = 2; int main(void) { int *p = &a, *q = &b; int *t = p; p = q; q = t; *p = 7; result = a * 1000 + b * 100 + *q * 10 + (p == &b) + (q != &b) + (p == t); }",
        ),
    ]);
}
