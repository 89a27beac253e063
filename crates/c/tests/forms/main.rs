//! The forms of C and the trees that they become.

mod show;

use allways_c::sema::{CError, analyse};
use allways_c::source::LineMap;
use allways_c::typed::{DataModel, Span, StmtKind, Storage, Unit, Variable};

fn try_read(text: &str, model: DataModel) -> Result<Unit, Vec<CError>> {
    analyse(text.as_bytes(), &LineMap::identity(text.as_bytes()), model)
}

fn read(text: &str) -> Unit {
    match try_read(text, DataModel::Lp64) {
        Ok(unit) => unit,
        Err(errors) => panic!("{errors:#?}\n{text}"),
    }
}

/// The body of `f` in a text.
fn body(text: &str) -> String {
    let unit = read(text);
    let function = unit.functions.iter().find(|function| function.name == "f").expect("there is an f");
    show::block(&unit, function.body.as_ref().expect("f has a body"))
}

fn variable<'u>(unit: &'u Unit, name: &str) -> &'u Variable {
    unit.variables.iter().find(|variable| variable.name == name).expect(name)
}

/// The messages for a text that is refused.
fn refused(text: &str) -> Vec<String> {
    let errors = try_read(text, DataModel::Lp64).expect_err(text);
    errors
        .into_iter()
        .map(|error| format!("{}:{} {}", error.span.line, error.span.column, error.message))
        .collect()
}

#[test]
fn conversions_are_written_out() {
    let text =
        "char c; int i; unsigned u; long l; void f(void) { i = c + 1; l = i + u; c += l; c++; u <<= l; }";
    assert_eq!(
        body(text),
        "{ i = ((i32)[c] + 1); l = (i64)((u32)[i] + [u]); c +=(i64) [l]; c+1after; u <<=(u32) [l]; }"
    );
}

#[test]
fn objects_and_addresses() {
    let text = "struct s { int a, b[3]; struct s *n; } v, *p; int x[4], *q; void f(int i) { x[i] = 1; q = x; q = &x[2]; \
                p->n->b[1] = v.a; p = &v; q = &*q; i = *&i; q += i; q = q - 1; i = q - x; p = p->n; v = *p; }";
    assert_eq!(
        body(text),
        "{ *(&x +> (i64)[i]) = 1; q = &x; q = (&x +> 2); *(&*[*[p].2].1 +> 1) = [v.0]; p = &v; q = [q]; i = [i]; \
         q +>= (i64)[i]; q = ([q] +> -1); i = (i32)([q] <-> &x); p = [*[p].2]; v = [*[p]]; }"
    );
}

#[test]
fn pointers_and_integers_mix() {
    let text = "int *p; void *v; char *c; void f(int i) { p = 0; p = v; i = p == 0; v = p; c = i ? p : 0; if (!p) i = (long)p; \
                p = i; i = c < v; p = i ? v : p; }";
    assert_eq!(
        body(text),
        "{ p = (i32*)0; p = (i32*)[v]; i = ([p] == (i32*)0); v = (void*)[p]; c = (i8*)([i] ? [p] : (i32*)0); \
         if ![p] i = (i32)(i64)[p]; p = (i32*)[i]; i = ([c] < (i8*)[v]); p = (i32*)([i] ? [v] : (void*)[p]); }"
    );
}

#[test]
fn functions_are_called_by_name_or_pointer() {
    let text = "int g(long, ...); int (*h)(char) = 0, old(); void f(char c) { g(c, c, 1.5f); h = 0; h(300); (*h)(c); (&g)(1); \
                old(c); unknown(c); (***h)(1); }";
    assert_eq!(
        body(text),
        "{ g((i64)[c], (i32)[c], 1.5):i32; h = (i32(i8)*)0; [h](44):i32; [h]([c]):i32; g(1):i32; old((i32)[c]):i32; \
         unknown((i32)[c]):i32; [h](1):i32; }"
    );
    let unit = read(text);
    let find = |name: &str| unit.functions.iter().find(|function| function.name == name);
    assert!(find("old").is_some_and(|function| function.declared && function.body.is_none()));
    assert!(find("unknown").is_some_and(|function| !function.declared));
    assert!(read("int unused(int); int x;").functions.is_empty());
}

#[test]
fn statements_keep_their_form() {
    let text = "void f(int x) { for (int i = 0; i < 3; i++) { if (x) continue; else break; } for (;;) goto end; \
                switch (x) { case 1: case 3 ... 5: x = 2; break; default:; } do x--; while (x); end: while (x) ; end2: return; }";
    assert_eq!(
        body(text),
        "{ { i32 i {=0}; for ([i] < 3); i+1after { if [x] continue; else break; } } for ;  goto end; \
         switch [x] { case 1..1: case 3..5: x = 2; break; default: ; } do x-1after; while [x]; end: while [x] ; end2: return ; }"
    );
    assert_eq!(
        body("void f(unsigned char c) { switch (c) { case 256 + 'a': ; } }"),
        "{ switch (i32)[c] { case 353..353: ; } }"
    );
    assert_eq!(body("int g(void); void f(void) { return (void)g(); }"), "{ { (void)g():i32; return ; } }");
    assert_eq!(body("char f(int x) { return x; }"), "{ return (i8)[x]; }");
    assert_eq!(
        body("void f(int x) { __asm__ volatile(\"\" : \"=r\"(x) : \"r\"(1) : \"memory\"); asm(\"nop\"); }"),
        "{ asm x; asm ; }"
    );
}

#[test]
fn gnu_expressions() {
    assert_eq!(body("int f(int x) { return x ?: 5L; }"), "{ return (i32)((i64)[x] ?: 5); }");
    assert_eq!(
        body("int f(int x) { return ({ int y = x; y + 1; }); }"),
        "{ return ({ i32 y {=[x]}; ([y] + 1); }); }"
    );
    assert_eq!(
        body("int f(int x) { __typeof__(x) *p = &x; __auto_type q = *p; return q; }"),
        "{ i32* p {=&x}; i32 q {=[*[p]]}; return [q]; }"
    );
    assert_eq!(body("void f(void) { const char *n = __func__; }"), "{ i8* n {=&\"f\"}; }");
    assert_eq!(
        body("struct p { int x, y; } v; void f(void) { v = (struct p){ 1, 2 }; }"),
        "{ v = ({ p (struct p){…} {.0=1, .1=2}; [(struct p){…}]; }); }"
    );
    assert_eq!(
        body("int g(int *); void f(void) { g((int[]){ 1, 2 }); }"),
        "{ g(&*({ i32[2] (int [2]){…} {.0=1, .1=2}; &(int [2]){…}; })):i32; }"
    );
    assert_eq!(body("void f(int n) { int a[n]; a[1] = sizeof(a); }").matches("__builtin_alloca").count(), 1);
    assert_eq!(
        body("int f(int x) { return __builtin_constant_p(x) || __builtin_constant_p(5); }"),
        "{ return 1; }"
    );
}

#[test]
fn atomic_builtins_have_the_type_of_the_object() {
    let text = "unsigned char c; long *p; _Bool b; int x; void f(void) { __sync_fetch_and_add(&c, 300); b = __sync_bool_compare_and_swap(&x, 1, 2L); \
                __atomic_store_n(&x, 5L, 5); x = __atomic_load_n(p, 0); __sync_synchronize(); b = __atomic_compare_exchange_n(&x, &x, 1, 0, 5, 5); \
                __sync_lock_test_and_set(&x, 1); if (__builtin_expect(x == 1, 0)) __builtin_unreachable(); }";
    assert_eq!(
        body(text),
        "{ __sync_fetch_and_add(&c, 44):u8; b = __sync_bool_compare_and_swap(&x, 1, 2):u1; __atomic_store_n(&x, 5, 5):void; \
         x = (i32)__atomic_load_n([p], 0):i64; __sync_synchronize():void; b = __atomic_compare_exchange_n(&x, &x, 1, 0, 5, 5):u1; \
         __sync_lock_test_and_set(&x, 1):i32; if __builtin_expect((i64)([x] == 1), 0):i64 __builtin_unreachable():void; }"
    );
    // What <stdatomic.h> of gcc makes of `atomic_load(&a)` and `atomic_fetch_add(&a, 1)`.
    let text = "_Atomic int a; int f(void) { a += 2; a++; return __extension__ ({ __auto_type p = (&a); __typeof__((void)0, *p) t; \
                __atomic_load(p, &t, 5); t; }) + __atomic_fetch_add(&a, 1, 5); }";
    assert_eq!(
        body(text),
        "{ a +=(i32) 2; a+1after; return (({ atomic i32* p {=&a}; i32 t; __atomic_load([p], &t, 5):void; [t]; }) + \
         __atomic_fetch_add(&a, 1, 5):i32); }"
    );
}

#[test]
fn declarations_of_one_name_are_merged() {
    let unit = read(
        "extern int a[]; int b; int b = 3; int b; extern int c; static int d; int a[5]; extern int e; int e; int *g(void) { extern int c, z; return &c + z; }",
    );
    assert_eq!(show::ty(&unit, &variable(&unit, "a").ty), "i32[5]");
    assert_eq!(show::parts(&unit, &variable(&unit, "b").initial), "{=3}");
    let external: Vec<&str> = unit
        .variables
        .iter()
        .filter(|variable| variable.external)
        .map(|variable| variable.name.as_str())
        .collect();
    assert_eq!(external, ["c", "z"]);
    assert_eq!(unit.variables.iter().filter(|variable| variable.name == "b").count(), 1);
    let unit = read(
        "void f(void); void g(void) { f(); } void f(void) { static int n = 1; __thread static int m; n++; }",
    );
    assert_eq!(unit.functions.len(), 2);
    assert_eq!(variable(&unit, "n").storage, Storage::Static);
    assert_eq!(variable(&unit, "m").storage, Storage::Thread);
    let unit = read("int f(a, b) char a; long b; { return a; } int g(void) { return f(300, 1); }");
    assert_eq!(
        show::ty(&unit, &allways_c::typed::Type::Function(Box::new(unit.functions[0].ty.clone()))),
        "i32(i8, i64, …)"
    );
}

#[test]
fn constructors_run_first() {
    let text = "static void __attribute__((constructor)) set(void) { } int main(void) { return 0; }";
    let unit = read(text);
    let main = unit.functions.iter().find(|function| function.name == "main").unwrap();
    assert_eq!(show::block(&unit, main.body.as_ref().unwrap()), "{ set():void; return 0; }");
    assert_eq!(refused("void f(int *); void g(void) { int x __attribute__((cleanup(f))); }").len(), 1);
}

#[test]
fn scopes_hide_names() {
    let text = "int x = 1; typedef int T; void f(int y) { int x = y; { T x = 3; y = x; long T = 2; y = T; } x = 4; T z = x; }";
    let unit = read(text);
    assert_eq!(unit.variables.iter().filter(|variable| variable.name == "x").count(), 3);
    let text = "struct s { int a; } v; void f(void) { struct s { char b; } w; w.b = 1; v.a = 2; struct t; struct t *p; struct t { int q; } u; p = &u; }";
    assert_eq!(body(text), "{ s w; w.0 = 1; v.0 = 2; t* p; t u; p = &u; }");
}

#[test]
fn types_differ_by_data_model() {
    let text = "long l; void *p; unsigned long x = -1; long long y = -1; struct s { char c; long long d; } z; __typeof__(sizeof(int)) n;";
    for (model, long, size) in [(DataModel::Lp64, "i64", 16), (DataModel::Ilp32, "i32", 12)] {
        let unit = try_read(text, model).unwrap();
        assert_eq!(show::ty(&unit, &variable(&unit, "l").ty), long);
        assert_eq!(unit.records[0].layout.map(|layout| layout.size), Some(size));
        assert_eq!(show::ty(&unit, &variable(&unit, "n").ty), long.replace('i', "u"));
        assert_eq!(unit.model, model);
    }
}

#[test]
fn static_values_are_constant() {
    let text = "int a[3]; int *p = a + 1, *q = &a[2]; void f(void); void (*h)(void) = f; char *s = \"x\"; struct { int *p; void (*f)(void); } v = { &a[0], &f }; \
                const int n = 4; int m = n + 1; int w[n]; long d = (long)&a[1]; static int k = sizeof(int[3]);";
    let unit = read(text);
    let initial = |name: &str| show::parts(&unit, &variable(&unit, name).initial);
    assert_eq!(initial("p"), "{=(&a +> 1)}");
    assert_eq!(initial("q"), "{=(&a +> 2)}");
    assert_eq!(initial("h"), "{=&f}");
    assert_eq!(initial("s"), "{=&\"x\"}");
    assert_eq!(initial("v"), "{.0=(&a +> 0), .1=&f}");
    assert_eq!(initial("m"), "{=5}");
    assert_eq!(initial("d"), "{=(i64)(&a +> 1)}");
    assert_eq!(show::ty(&unit, &variable(&unit, "w").ty), "i32[4]");
    assert_eq!(
        refused("int g(void); int x = g();"),
        ["1:22 the initial value of something static is not constant"]
    );
}

#[test]
fn places_cover_what_they_name() {
    let text = "int f(int x)\n{\n  return x +  12345   ;\n}\nint y = 'a'  ;";
    let unit = read(text);
    let StmtKind::Return(Some(sum)) = &unit.functions[0].body.as_ref().unwrap()[0].kind else {
        panic!("no return")
    };
    let words = |span: Span| &text[span.start as usize..span.end as usize];
    assert_eq!(words(sum.span), "x +  12345");
    assert_eq!((sum.span.line, sum.span.column), (3, 10));
    assert_eq!(words(unit.functions[0].body.as_ref().unwrap()[0].span), "return x +  12345   ;");
    assert_eq!(words(variable(&unit, "y").initial[0].value.span), "'a'");
    assert_eq!(words(unit.functions[0].span), "f");
}

#[test]
fn errors_have_places_and_reasons() {
    assert_eq!(refused("int f(void) {\n  return y;\n}"), ["2:10 `y` is not declared"]);
    assert_eq!(
        refused("struct s { int a; } v;\nint f(void) { return v.b + v; }"),
        ["2:24 `struct s` has no member `b`"]
    );
    assert_eq!(
        refused("int f(void) { x = 1;\n return 0 }"),
        ["2:11 `}` is not read here; is a `;` missing?"]
    );
    assert_eq!(refused("int g(int); void f(void) { g(); g(1, 2); *1; 1 = 2; }").len(), 4);
    assert_eq!(
        refused("__int128 x; void f(void) { x = x + 1; }"),
        ["1:32 operands of types `struct __int128` and `int`"]
    );
    assert_eq!(refused("unknown_t x;"), ["1:1 `unknown_t` is not read here; expected `;` or a type"]);
    let many: String = (0..50).map(|number| format!("int f{number}(void) {{ return a; }}\n")).collect();
    assert_eq!(refused(&many).len(), 20);
}
