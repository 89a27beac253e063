//! Texts that are deep, long or broken: they are read or refused, soon, and nothing fails.

use allways_c::sema::{CError, MAX_ERRORS, analyse};
use allways_c::source::LineMap;
use allways_c::typed::{DataModel, Unit};
use std::time::{Duration, Instant};

fn read(text: &[u8]) -> Result<Unit, Vec<CError>> {
    let start = Instant::now();
    let done = analyse(text, &LineMap::identity(text), DataModel::Lp64);
    let shown = String::from_utf8_lossy(text.get(..200).unwrap_or(text)).into_owned();
    assert!(start.elapsed() < Duration::from_secs(30), "{:?} for {shown}", start.elapsed());
    if let Err(errors) = &done {
        assert!(!errors.is_empty() && errors.len() <= MAX_ERRORS, "{shown}");
        for error in errors {
            assert!(!error.message.contains("the reader failed"), "{shown}");
        }
    }
    done
}

/// What is nested or repeated, and whether one of so many is too deep.
fn shapes(count: usize) -> Vec<String> {
    let nest = |head: &str, open: &str, middle: &str, close: &str, tail: &str| {
        format!("{head}{}{middle}{}{tail}", open.repeat(count), close.repeat(count))
    };
    vec![
        nest("int x; int f(void) { return ", "(", "x", ")", "; }"),
        nest("int x; int f(void) { return ", "(x+", "x", ")", "; }"),
        nest("int x; int f(void) { return ", "((", "x", "))", "; }"),
        nest("int x; int f(void) { return ", "(int)(", "x", ")", "; }"),
        nest("int x; int f(void) { return ", "({", "x", ";})", "; }"),
        nest("int x[1]; int f(void) { return ", "x[", "0", "]", "; }"),
        nest("int g(int); int f(void) { return ", "g(", "1", ")", "; }"),
        nest("void f(void) ", "{", ";", "}", ""),
        nest("void f(void) {", "if (1) {", ";", "}", "}"),
        nest("struct s ", "{ struct ", "{ int x; }", "; }", ";"),
        nest("int ", "(*", "x", ")", ";"),
        nest("int ", "(", "x", ")", ";"),
        nest("int x[] = ", "{", "1", "}", ";"),
        nest("int f", "(int (*)", "(int)", ")", ";"),
        nest("int x; __typeof__", "(__typeof__", "(x)", ")", " y;"),
        nest("int x; int f(void) { return ", "sizeof(", "x", ")", "; }"),
        nest("int x; int f(void) { return ", "x ? (", "x", ") : x", "; }"),
    ]
}

fn chains(count: usize) -> Vec<String> {
    let chain = |head: &str, part: &str, tail: &str| format!("{head}{}{tail}", part.repeat(count));
    vec![
        chain("int x; int f(void) { return x", " + x", "; }"),
        chain("int x; int f(void) { return ", "x = ", "x; }"),
        chain("int x; int f(void) { return ", "x ? x : ", "x; }"),
        chain("int x; int f(void) { return ", "!", "x; }"),
        chain("int x; int f(void) { return ", "- ", "x; }"),
        chain("int x; int f(void) { return ", "(int)", "x; }"),
        chain("int x; int f(void) { return x", " && x", "; }"),
        chain("int x; int f(void) { return ", "sizeof ", "x; }"),
        chain("int ", "*", "x;"),
        chain("struct s { struct s *n; } *x; void *f(void) { return x", "->n", "; }"),
        chain("void f(void) { ", "if (1) ; else ", "; }"),
        chain("void f(void) { ", "if (1) ", "; }"),
        chain("void f(void) { ", "while (1) ", "; }"),
        chain("void f(void) { ", "if (1) { } else ", "; }"),
        chain("void f(int x) { switch (x) { ", "case 1: ", "; } }"),
        chain("int x", "[1]", ";"),
        chain("int f", "()", ";"),
        chain("void f(void) { ", "do ", "; }"),
    ]
}

#[test]
fn deep_texts_are_read_or_refused() {
    for count in [20, 60, 120, 200, 250, 300, 5_000] {
        for text in shapes(count) {
            let done = read(text.as_bytes());
            assert!(count <= 255 || done.is_err(), "{}", &text[..60]);
        }
    }
    for text in shapes(60).iter().take(13) {
        assert!(read(text.as_bytes()).is_ok(), "{text}: {:?}", read(text.as_bytes()).err());
    }
}

#[test]
fn long_chains_are_read_or_refused() {
    for count in [100, 300, 450, 990, 2_000, 100_000] {
        for text in chains(count) {
            let done = read(text.as_bytes());
            assert!(count < 2_000 || done.is_err(), "{}", &text[..60]);
        }
    }
    for text in chains(200).iter().take(15) {
        assert!(read(text.as_bytes()).is_ok(), "{text}: {:?}", read(text.as_bytes()).err());
    }
}

#[test]
fn absurd_declarations_are_read_or_refused() {
    let refused = [
        "int a[-1];",
        "int a[1 / 0];",
        "struct s { struct s x; }; struct s a;",
        "struct a; struct b { struct a x; }; struct a { struct b y; }; struct a z;",
        "struct s { int a : 33; } x;",
        "struct s { int b : -1; } x;",
        "typedef t t; t x;",
        "int f(void) { char *s = \"abc; return 0; }",
        "int f(void) { /* return 0; }",
        "int f(void) { if (1) { return 0; ",
        "int f(void) { return 'a; }",
        "int f(void) { return (1; }",
        "int f(void) { int x\0 = 1; return x; }",
        "int f(void) { int y __attribute__((cleanup(f))) = 1; return y; }",
    ];
    for text in refused {
        assert!(read(text.as_bytes()).is_err(), "{text}");
    }
    let understood = [
        "int f(a, b) int a; char b; { return a + b; }",
        "int f(int x) { return _Generic(x, int: 1, long: 2, default: 3); }",
        "int x; void f(void) { __asm__ volatile (\"movl $1, %0\" : \"=m\"(x) :: \"memory\"); }",
        "int a[1 << 30]; char b[0xffffffff][1 << 20]; void f(void) { a[5] = b[1][2]; }",
        "int a[0]; void f(void) { int b[1 << 30]; b[3] = a[0]; }",
        "int f(unsigned x) { switch (x) { case 0 ... 4294967295u: return 1; } return 0; }",
        "long long x = -9223372036854775807LL - 1; int f(void) { return (x / -1) + (x % -1) + (1 << 40) + (1 << -1); }",
        "__attribute__((noinline)) static int __attribute__((unused, aligned(16))) x __attribute__((section(\"a\"))) = 1;",
    ];
    for text in understood {
        assert!(read(text.as_bytes()).is_ok(), "{text}: {:?}", read(text.as_bytes()).err());
    }
}

#[test]
fn broken_texts_are_refused_with_a_reason() {
    let sample = r#"
        typedef unsigned long size_t; struct node { struct node *next; int key : 3; union { char c[4]; int i; }; };
        extern int printf(const char *, ...) __attribute__((format(printf, 1, 2)));
        static __inline int max(int a, int b) { return a > b ? a : b; } enum color { RED, GREEN = 5, BLUE };
        _Atomic int shared; __thread int own; int table[][2] = { { 1, 2 }, [3] = { 4 } }; char *text = "a\n" "b";
        void *work(void *p) { struct node *n = p, m = { .key = 1 }; for (int i = 0; i < 10; i++) { n->key += i; if (i == 5) continue; }
          switch (n->key) { case RED: case 2 ... 4: break; default: goto out; } m = *n; table[1][0] <<= 2; do { shared--; } while (shared > 0);
          __asm__ volatile ("nop" : "=r" (n->i) : "r" (own) : "memory"); out: return ({ int y = sizeof(struct node); (void *)(size_t)y; }); }
        int old(a, b) int a; char *b; { return a + *b; } int main() { return max(old(1, text), (int[]){ 1, 2 }[1]) ?: __builtin_expect(0, 1); }
    "#;
    assert!(read(sample.as_bytes()).is_ok(), "{:?}", read(sample.as_bytes()).err());
    let mut state = 7_u64;
    let mut roll = |sides: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % sides
    };
    let words: [&[u8]; 24] = [
        b"(",
        b")",
        b"{",
        b"}",
        b"[",
        b"]",
        b";",
        b",",
        b"*",
        b"&",
        b"int ",
        b"struct ",
        b"node",
        b"= ",
        b"\"",
        b"'",
        b"#",
        b"$",
        b"\xff",
        b"0x",
        b"__attribute__((",
        b"typeof(",
        b"?:",
        b"...",
    ];
    for _ in 0..1500 {
        let mut text = sample.as_bytes().to_vec();
        for _ in 0..1 + roll(3) {
            let at = roll(text.len());
            match roll(3) {
                0 => {
                    text.drain(at..(at + 1 + roll(12)).min(text.len()));
                }
                1 => {
                    let word = words[roll(words.len())];
                    text.splice(at..at, word.iter().copied());
                }
                _ => {
                    let from = roll(text.len());
                    let part: Vec<u8> = text[from..(from + roll(20)).min(text.len())].to_vec();
                    text.splice(at..at, part);
                }
            }
        }
        let _ = read(&text);
    }
    assert!(read(b"").is_ok_and(|unit| unit == Unit::default()));
    assert!(read(b"#include <stdio.h>\nint x;").is_err());
}

/// Ten megabytes of something.
fn large() -> Vec<(&'static str, Vec<u8>, bool)> {
    const SIZE: usize = 10 << 20;
    let filled = |head: &str, part: &str, tail: &str| {
        let mut text = head.as_bytes().to_vec();
        (0..SIZE / part.len()).for_each(|_| text.extend_from_slice(part.as_bytes()));
        text.extend_from_slice(tail.as_bytes());
        text
    };
    vec![
        ("a comment", filled("/*", "a", "*/ int main(void) { return 0; }"), true),
        ("lines", filled("", "\n", "int main(void) { return 0; }"), true),
        ("a comment without an end", filled("int x; /*", "a", ""), false),
        ("a string without an end", filled("char *x = \"", "a", ""), false),
        ("open brackets", filled("int x = ", "(", ""), false),
        ("open blocks", filled("int main(void) ", "{", ""), false),
        ("closed blocks", filled("int main(void) ", "}", ""), false),
        ("operators", filled("int x = ", "-", "1;"), false),
        ("zeros", filled("", "\0", ""), false),
        ("what is no text", vec![0xff; SIZE], false),
        ("attributes without an end", filled("int x ", "__attribute__((", ""), false),
    ]
}

#[test]
fn large_texts_are_read_or_refused() {
    for (what, text, fine) in large() {
        let done = read(&text);
        assert_eq!(done.is_ok(), fine, "{what}");
    }
}
