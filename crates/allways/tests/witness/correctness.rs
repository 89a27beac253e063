//! Correctness witnesses, ours and such as other tools might write, judged by `certify`.

use super::{corpus, instrumented, kind, preprocessor, with_sections, witness};
use crate::common::{Run, allways, file, folder};
use allways::witness::read::read;
use allways::witness::schema::Genre;
use allways::witness::sha256;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A witness of another tool about a file.
struct Stated {
    file: String,
    hash: String,
    specification: &'static str,
    invariants: String,
    ghosts: String,
    updates: String,
}

impl Stated {
    fn about(file: &str, source: &str) -> Stated {
        Stated {
            file: file.to_string(),
            hash: sha256::hexadecimal(source.as_bytes()),
            specification: "CHECK( init(main()), LTL(G ! call(reach_error())) )",
            invariants: String::new(),
            ghosts: String::new(),
            updates: String::new(),
        }
    }

    fn place(&self, place: (usize, Option<usize>), indent: usize) -> String {
        let blank = " ".repeat(indent);
        let mut text =
            format!("{blank}location:\n{blank}  file_name: '{}'\n{blank}  line: {}\n", self.file, place.0);
        if let Some(column) = place.1 {
            let _ = writeln!(text, "{blank}  column: {column}");
        }
        text
    }

    fn invariant(mut self, is_loop: bool, place: (usize, Option<usize>), holds: &str) -> Stated {
        let kind = if is_loop { "loop_invariant" } else { "location_invariant" };
        let holds = serde_json::Value::from(holds);
        let place = self.place(place, 6);
        let _ = write!(
            self.invariants,
            "  - invariant:\n      type: {kind}\n{place}      value: {holds}\n      format: c_expression\n"
        );
        self
    }

    fn ghost(mut self, name: &str, ty: &str, initial: &str) -> Stated {
        let _ = write!(
            self.ghosts,
            "    - name: '{name}'\n      type: '{ty}'\n      scope: global\n      initial:\n        value: '{initial}'\n        format: c_expression\n"
        );
        self
    }

    fn update(mut self, place: (usize, Option<usize>), name: &str, value: &str) -> Stated {
        let place = self.place(place, 6).replacen("      location", "    - location", 1);
        let _ = write!(
            self.updates,
            "{place}      updates:\n      - variable: '{name}'\n        value: '{value}'\n        format: c_expression\n"
        );
        self
    }

    fn text(&self) -> String {
        let version = if self.ghosts.is_empty() && self.updates.is_empty() { "2.0" } else { "2.1" };
        let (file, hash, specification) = (&self.file, &self.hash, self.specification);
        let entry = |kind: &str, content: &str| {
            format!(
                "- entry_type: {kind}\n  metadata:\n    format_version: '{version}'\n    uuid: '01234567-89ab-8def-8123-456789abcdef'\n    \
                 creation_time: '2026-01-02T03:04:05Z'\n    producer:\n      name: 'another tool'\n      version: '1'\n    task:\n      \
                 input_files: ['{file}']\n      input_file_hashes:\n        '{file}': '{hash}'\n      specification: '{specification}'\n      \
                 data_model: LP64\n      language: C\n  content:\n{content}"
            )
        };
        let list = |text: &str| if text.is_empty() { " []\n".to_string() } else { format!("\n{text}") };
        let mut text = entry(
            "invariant_set",
            &if self.invariants.is_empty() { "    []\n".to_string() } else { self.invariants.clone() },
        );
        if version == "2.1" {
            let ghosts = format!(
                "    ghost_variables:{}    ghost_updates:{}",
                list(&self.ghosts),
                list(&self.updates)
            );
            text += &entry("ghost_instrumentation", &ghosts);
        }
        text
    }
}

/// The line and the column of a part of a text.
fn at(source: &str, part: &str) -> (usize, Option<usize>) {
    assert_eq!(source.matches(part).count(), 1, "{part}");
    let before = &source[..source.find(part).expect("it is there")];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, Some(before[start..].chars().count() + 1))
}

/// What `certify` says about a program and a witness of it.
fn certify(folder: &Path, source: &str, stated: impl FnOnce(Stated) -> Stated) -> Run {
    let program = file(folder, "program.c", source);
    let text = stated(Stated::about("program.c", source)).text();
    assert_eq!(kind(&text), Genre::Correctness);
    let path = file(folder, "w.yml", text);
    allways(&format!("certify {program} {path} --timeout 60s"))
}

/// Whatever we call safe has a witness that is accepted, and whoever changes a number in it is found out.
#[test]
fn witnesses_of_ours_are_accepted() {
    if !preprocessor() {
        return;
    }
    let programs = [
        ("c/counter-locked.c", "unreach-call"),
        ("c/counter-locked.c", "no-data-race"),
        ("c/peterson.c", "unreach-call"),
        ("c/bank-deadlock.c", "unreach-call"),
    ];
    for (number, (program, property)) in programs.into_iter().enumerate() {
        let program = corpus(program);
        let test = format!("judge-own-{number}");
        let text = witness(&test, "w.yml", &format!("{program} --property {property}"), 0);
        let folder = folder(&format!("judge-own-again-{number}"));
        let path = file(&folder, "w.yml", &text);
        let run = allways(&format!("certify {program} {path}"));
        assert_eq!(run.code, 0, "{run:?}\n{text}");
        assert!(run.out.starts_with("accepted: ") && run.out.contains(" hold"), "{run:?}");
        let Some(at) = text.find(" == 0") else { continue };
        let changed = format!("{} == 77{}", &text[..at], &text[at + " == 0".len()..]);
        let path = file(&folder, "changed.yml", changed);
        let run = allways(&format!("certify {program} {path} --json"));
        assert_eq!((run.code, &run.json()["verdict"]), (20, &"rejected".into()), "{run:?}");
        assert!(run.json()["reason"].as_str().is_some_and(|why| why.contains("== 77")), "{run:?}");
    }
}

const LOOPS: &str = "#include <pthread.h>\n#define LAST 3\nvoid reach_error(void);\nint __VERIFIER_nondet_int(void);\nint x, a[2], *null;\n\
                     void *f(void *arg) {\n  for (int i = 0; i < LAST; i++) {\n    if (i == 1)\n      continue;\n    x = i;   /* why */ x = x;\n  }\n  \
                     return 0;\n}\nint main(void) {\n  pthread_t t;\n  int own = 1, n = __VERIFIER_nondet_int();\n  pthread_create(&t, 0, f, 0);\n  \
                     do own = own + 2; while (own < 5);\n  while (own > 0)\n    own--;\n  switch (n) {\n  case 1:\n    own = 4;\n    break;\n  \
                     default:\n    own = 5;\n  }\n  if (own == 4) own = 6; else own = 7;\n  if (own == 8)\n    reach_error();\n  for (;;) {\n    if \
                     (own) break;\n  }\n  return own;\n}\n";

/// Invariants of loops and of places, with local variables.
#[test]
fn invariants_hold_at_their_places() {
    if !preprocessor() {
        return;
    }
    let folder = folder("judge-places");
    let place = |part: &str| at(LOOPS, part);
    let (loops, here) = (true, false);
    // What is stated, and the exit code: in the last case, it is not said whether a jump to a label counts.
    let cases = [
        (loops, place("for (int i"), "0 <= i && i <= 3 && x < 3", 0),
        (loops, place("for (int i"), "i < 3", 20),
        (loops, place("for (int i"), "i != 2", 20),
        (here, place("for (int i"), "x == 0", 0),
        (here, place("for (int i"), "i == 0", 5),
        (loops, (place("for (int i").0, None), "i <= 3", 0),
        (here, place("continue"), "i == 1", 0),
        (here, place("continue"), "i == 2", 20),
        (here, place("x = i;"), "i != 1 && x <= 2", 0),
        (here, place("x = i;"), "x == i", 20),
        (here, place("x = x;"), "x == i", 0),
        (here, place("x = x;"), "x != 2", 20),
        (here, place("pthread_t t"), "x == 0", 0),
        (here, place("int own = 1"), "x == 0", 0),
        (here, place("int own = 1"), "own == 1", 5),
        (here, place("pthread_create"), "own == 1 && x == 0", 0),
        (here, (place("pthread_create").0, None), "own == 1 && x == 0", 0),
        (here, place("do own"), "own == 1", 0),
        (here, place("own = own + 2"), "own == 1 || own == 3", 0),
        (here, place("own = own + 2"), "own == 1", 20),
        (loops, place("do own"), "own == 3 || own == 5", 0),
        (loops, place("do own"), "own == 1 || own == 3", 20),
        (loops, place("while (own > 0)"), "0 <= own && own <= 5", 0),
        (loops, place("while (own > 0)"), "own != 0", 20),
        (here, place("while (own > 0)"), "own == 5", 0),
        (here, place("own--"), "own != 0", 0),
        (here, place("own--"), "own == 5", 20),
        (here, place("case 1"), "own == 0 && n == 1", 0),
        (here, place("own = 4;"), "n == 1", 0),
        (here, place("own = 4;"), "n != 1", 20),
        (here, place("default"), "n != 1", 0),
        (here, place("own = 6"), "own == 4", 0),
        (here, place("own = 6"), "own == 5", 20),
        (here, place("own = 7"), "own == 5", 0),
        (here, place("reach_error();"), "0", 0),
        (loops, place("for (;;)"), "own == 6 || own == 7", 0),
        (loops, place("for (;;)"), "own == 6", 20),
        (here, place("return own"), "own >= 6", 0),
        // No statement or loop is there.
        (loops, place("own--"), "1", 5),
        (here, place("= i;"), "1", 5),
        (here, place("i++"), "1", 5),
        (here, place("else"), "1", 5),
        (here, place("int x, a"), "1", 5),
        (here, place("#define"), "1", 5),
        (here, (1, None), "1", 5),
        (here, (9999, None), "1", 5),
        (here, (4_000_000_000, Some(4_000_000_000)), "1", 5),
        (here, (place("pthread_t t").0, Some(100)), "1", 5),
        (here, (99_999_999_999, None), "1", 5),
        // These have no value.
        (here, place("return own"), "1 / (own - 6) >= 0", 5),
        (here, place("return own"), "*null == 0", 5),
        (here, place("return own"), "*null == 0 || 1", 5),
        (here, place("return own"), "a[own] == 0", 5),
        (here, place("return own"), "n + 1 > n", 20),
        (here, place("case 1"), "n == 2", 5),
    ];
    for (is_loop, place, holds, code) in cases {
        let run = certify(&folder, LOOPS, |stated| stated.invariant(is_loop, place, holds));
        assert_eq!(run.code, code, "{holds} at {place:?}: {run:?}");
        if code == 20 {
            let named = format!("line {}: the invariant `{holds}` does not hold", place.0);
            assert!(run.out.contains(&named), "{run:?}");
        }
    }
    let both = |stated: Stated| {
        let stated = stated.invariant(true, at(LOOPS, "for (int i"), "i <= 3");
        stated.invariant(false, at(LOOPS, "continue"), "i == 1").invariant(
            false,
            at(LOOPS, "continue"),
            "x == 1",
        )
    };
    let run = certify(&folder, LOOPS, both);
    assert!(run.code == 20 && run.out.contains("the invariant `x == 1`"), "{run:?}");
}

/// What is no expression is refused and named; nothing of it comes into the program.
#[test]
fn what_is_no_invariant_is_named() {
    if !preprocessor() {
        return;
    }
    let folder = folder("judge-hostile");
    let source = "int x;\nint g(void) { return 1; }\nvoid reach_error(void);\nint main(void) {\n  x = 1;\n  if (x == 1)\n    reach_error();\n  return 0;\n}\n";
    let harmless = source.replace("x == 1", "x == 2");
    let place = |source: &str| at(source, "if (x");
    let nested = |count: usize| format!("{}1{}", "(".repeat(count), ")".repeat(count));
    let texts = [
        "x; }".to_string(),
        "1) || (0".to_string(),
        "1); x = 2; ((1)".to_string(),
        "1); } int h(void) { return (1".to_string(),
        "1) /*".to_string(),
        "1 //".to_string(),
        "/* 1".to_string(),
        "1\n#define x 2".to_string(),
        "1\n#include \"/etc/passwd\"".to_string(),
        "((1".to_string(),
        "1]".to_string(),
        "x = 2".to_string(),
        "(x = 2) == 2".to_string(),
        "x++ == 1".to_string(),
        "(x += 1) > 0".to_string(),
        "g() == 1".to_string(),
        "(g)() == 1".to_string(),
        "(*&g)() == 1".to_string(),
        "__VERIFIER_nondet_int() == 0".to_string(),
        "abort()".to_string(),
        "({ x = 2; 1; })".to_string(),
        "((int){2}) == 2".to_string(),
        "sizeof(x = 2) == 4".to_string(),
        "\"text\"".to_string(),
        "\"".to_string(),
        "'".to_string(),
        "\\old(x) == x".to_string(),
        "\\forall int i; i == i".to_string(),
        "x ==> 1".to_string(),
        "y == 1".to_string(),
        "#invariant(0, 1)".to_string(),
        "int".to_string(),
        "goto end".to_string(),
        "__asm__(\"\")".to_string(),
        "x ? : 1 }".to_string(),
        "\u{0}".to_string(),
        "é == 1".to_string(),
        String::new(),
        nested(100_000),
        nested(300),
        "-".repeat(5000) + "1",
        "1".to_string() + &"+1".repeat(5000),
        "!".repeat(70_000),
    ];
    for text in &texts {
        for source in [source, &harmless] {
            let run = certify(&folder, source, |stated| stated.invariant(false, place(source), text));
            // What goes wrong is the program itself.
            let code = if source == harmless { 5 } else { 20 };
            assert_eq!(run.code, code, "{:?}: {run:?}", text.get(..80).unwrap_or(text));
            if code == 5 {
                assert!(run.out.contains("line 6: the invariant `"), "{run:?}");
            } else {
                assert!(run.out.contains("the program violates the property"), "{run:?}");
            }
        }
    }
    for (name, ty, initial) in [
        ("g h", "int", "0"),
        ("h = 1; int k", "int", "0"),
        ("h", "int x;", "0"),
        ("h", "struct s", "0"),
        ("h", "typedef int", "0"),
        ("h", "int)(", "0"),
        ("h", "double", "0"),
        ("h", "int", "x"),
        ("h", "int", "g()"),
        ("h", "int", "1; x = 2"),
        ("", "int", "0"),
        ("while", "int", "0"),
        // The program has these.
        ("x", "int", "0"),
        ("g", "int", "0"),
    ] {
        let stated = |stated: Stated| {
            let stated = stated.ghost(name, ty, initial).update(place(&harmless), name, "1");
            stated.update(at(&harmless, "x = 1"), name, "1").invariant(false, at(&harmless, "return 0"), "1")
        };
        let run = certify(&folder, &harmless, stated);
        assert_eq!(run.code, 5, "{name} {ty} {initial}: {run:?}");
        let stated = |stated: Stated| {
            let stated = stated.ghost(name, ty, initial).update(at(&harmless, "x = 1"), name, "7");
            stated.invariant(false, at(&harmless, "return 0"), &format!("{name} == 8"))
        };
        let run = certify(&folder, &harmless, stated);
        assert_eq!(run.code, 5, "{name} {ty} {initial}: {run:?}");
    }
}

const SHARED: &str = "#include <pthread.h>\nvoid __VERIFIER_atomic_begin(void);\nvoid __VERIFIER_atomic_end(void);\ntypedef unsigned char small;\n\
                      int x, y;\npthread_mutex_t m;\nvoid *f(void *arg) {\n  int own = 2;\n  pthread_mutex_lock(&m);\n  x = own;\n  y = own;\n  \
                      pthread_mutex_unlock(&m);\n  __VERIFIER_atomic_begin();\n  x = 3;\n  y = 3;\n  __VERIFIER_atomic_end();\n  if (own)\n    x = 4;\n  \
                      return 0;\n}\nint main(void) {\n  pthread_t t;\n  int seen = 0;\n  pthread_create(&t, 0, f, 0);\n  seen = 1;\n  pthread_join(t, \
                      0);\n  seen = 2;\n  return 0;\n}\n";

/// Where a ghost variable gets what, where something holds, what, and the exit code.
type Case = (&'static [(&'static str, &'static str)], &'static str, &'static str, i32);

/// Ghost variables change in the steps in which threads leave statements, and in no others.
#[test]
fn ghost_variables_change_at_once() {
    if !preprocessor() {
        return;
    }
    let folder = folder("judge-ghosts");
    let place = |part: &str| at(SHARED, part);
    let ghost = |name: &'static str, updates: &[(&str, &str)], part: &str, holds: &str| {
        certify(&folder, SHARED, |stated| {
            let mut stated = stated.ghost(name, "small", "1 - 1");
            for &(part, value) in updates {
                stated = stated.update(place(part), name, value);
            }
            stated.invariant(false, place(part), holds)
        })
    };
    // With the statement that writes `x`: nobody sees one without the other.
    let cases: [Case; 20] = [
        (&[("x = own", "1")], "seen = 1", "g == 1 || x == 0", 0),
        (&[("x = own", "own - 1")], "seen = 1", "g == (x > 0)", 0),
        (&[("y = own", "1")], "seen = 1", "g == (x > 0)", 20),
        (&[("int own", "1")], "seen = 1", "g == (x > 0)", 20),
        (&[("int own", "own - 1")], "pthread_mutex_lock", "g == 1", 5),
        (&[("int own", "1")], "pthread_mutex_lock", "g == 1", 0),
        (&[("pthread_mutex_lock", "1"), ("pthread_mutex_unlock", "0")], "x = own", "g == 1", 0),
        (
            &[("pthread_mutex_lock", "1"), ("pthread_mutex_unlock", "0")],
            "seen = 1",
            "g == 1 || x == y || x > 2",
            0,
        ),
        (&[("pthread_mutex_lock", "1"), ("pthread_mutex_unlock", "0")], "seen = 1", "g == 0 || x == y", 20),
        (&[("__VERIFIER_atomic_begin();\n  x = 3", "1")], "seen = 1", "g == 0 || x >= 3", 0),
        (&[("x = 3", "1")], "seen = 1", "(g == 1) == (x >= 3)", 0),
        (&[("__VERIFIER_atomic_end();\n  if", "1")], "seen = 1", "(g == 1) == (x >= 3)", 0),
        (&[("pthread_create", "1")], "int own", "g == 1", 0),
        (&[("seen = 1", "1")], "int own", "g == 1", 20),
        (&[("pthread_join", "1")], "seen = 2", "g == 1 && x == 4", 0),
        (&[("x = 4", "300")], "seen = 2", "g == 44", 0),
        // Statements of more than a step, without an end, and with a jump.
        (&[("if (own)", "1")], "seen = 2", "1", 5),
        (&[("return 0;\n}\nint", "1")], "seen = 2", "1", 5),
        (&[("x = own", "1 / 0")], "seen = 2", "1", 5),
        (&[("x = own", "h + 1")], "seen = 2", "1", 5),
    ];
    for (updates, part, holds, code) in cases {
        let run = ghost("g", updates, part, holds);
        assert_eq!(run.code, code, "{updates:?} {holds}: {run:?}");
    }
    let run = ghost("own", &[("x = own", "1")], "seen = 2", "1");
    assert!(run.code == 5 && run.out.contains("the program has a `own` of its own"), "{run:?}");
    let run = ghost("g", &[("x = own", "1"), ("x = own", "g + 1")], "seen = 2", "g == 2");
    assert_eq!(run.code, 0, "one after the other: {run:?}");
}

/// Races are those of the program, and the file and the property those of the witness.
#[test]
fn witnesses_are_about_a_file_and_a_property() {
    if !preprocessor() {
        return;
    }
    let folder = folder("judge-about");
    let place = at(SHARED, "seen = 1");
    let with = |specification: &'static str| {
        move |stated: Stated| Stated { specification, ..stated }.invariant(false, place, "x <= 4")
    };
    let racy = SHARED.replace("  seen = 1;", "  x = 1;\n  seen = 1;");
    let place_there = at(&racy, "seen = 1");
    let run = certify(&folder, &racy, |stated| {
        Stated { specification: "G ! data-race", ..stated }.invariant(false, place_there, "x <= 4")
    });
    assert!(
        run.code == 20 && run.out.contains("violates the property") && run.out.contains("race"),
        "{run:?}"
    );
    assert_eq!(certify(&folder, SHARED, with("G ! data-race")).code, 0, "an invariant is no access");
    assert_eq!(certify(&folder, SHARED, with("CHECK( init(main()), LTL(G valid-deref) )")).code, 0);
    assert_eq!(certify(&folder, SHARED, with("CHECK( init(main()), LTL(F end) )")).code, 2);
    let run =
        certify(&folder, SHARED, |stated| Stated { hash: "0".repeat(64), ..with("G ! data-race")(stated) });
    assert!(run.code == 20 && run.out.contains("another file"), "{run:?}");
    // Two entries about two files.
    let text = with("G ! data-race")(Stated::about("program.c", SHARED)).ghost("g", "int", "0").text();
    let at = text.rfind("input_files: ['program.c']").expect("it is there");
    let other = text[at..].replace("program.c", "other.c");
    let path = file(&folder, "w.yml", format!("{}{other}", &text[..at]));
    let program = file(&folder, "program.c", SHARED);
    assert_eq!(allways(&format!("certify {program} {path}")).code, 2);
    // What cannot be read is named.
    let text = with("G ! data-race")(Stated::about("program.c", SHARED)).text();
    let later = text.replace("'2.0'", "'2.1'").replace("location_invariant", "location_transition_invariant");
    let path = file(&folder, "w.yml", later);
    let run = allways(&format!("certify {program} {path}"));
    assert!(run.code == 5 && run.out.contains("`location_transition_invariant` is not read"), "{run:?}");
}

/// A program of two threads and a loop, each statement on a line of its own, and the places at which something can be stated: how a place
/// is instrumented by hand is told by its kind.
fn random_program(seed: u64) -> (String, Vec<(usize, char)>) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut roll = move |sides: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % sides
    };
    let mut lines: Vec<String> =
        ["#include <pthread.h>", "void reach_error(void);", "int x, y;", "pthread_mutex_t m;"]
            .map(String::from)
            .to_vec();
    let mut places = Vec::new();
    for name in ["void *f(void *arg)", "int main(void)"] {
        lines.push(format!("{name} {{"));
        lines.push("  int own = 0;".to_string());
        if name.starts_with("int") {
            lines.push("  pthread_t t;".to_string());
            lines.push("  pthread_create(&t, 0, f, 0);".to_string());
        }
        for _ in 0..3 {
            let plain =
                ["x = y;", "y = 1 - y;", "x = own;", "own = x;", "x = 2;", "own = own + 1;", "y = x > 0;"];
            let mut one = || plain[roll(plain.len())].to_string();
            let (first, second) = (one(), one());
            match roll(5) {
                0 => {
                    lines.push(format!("  if (x {} y)", ["==", "<"][roll(2)]));
                    places.push((lines.len(), 's'));
                    lines.push(format!("    {first}"));
                    places.push((lines.len(), 'i'));
                }
                1 => {
                    lines.push("  while (own < 2) {".to_string());
                    places.push((lines.len(), 'w'));
                    lines.push("    own = own + 1;".to_string());
                    lines.push(format!("    if (x == {})", roll(2)));
                    lines.push("      continue;".to_string());
                    places.push((lines.len(), 'i'));
                    lines.push(format!("    {first}"));
                    places.push((lines.len(), 's'));
                    lines.push("  }".to_string());
                }
                2 => {
                    lines.push("  pthread_mutex_lock(&m);".to_string());
                    places.push((lines.len(), 's'));
                    lines.push(format!("  {first}"));
                    lines.push(format!("  {second}"));
                    places.push((lines.len(), 's'));
                    lines.push("  pthread_mutex_unlock(&m);".to_string());
                }
                _ => {
                    lines.push(format!("  {first}"));
                    places.push((lines.len(), 's'));
                }
            }
        }
        if roll(4) == 0 {
            lines.push(format!("  if (x == {} && own == 2)", roll(3)));
            lines.push("    reach_error();".to_string());
        }
        lines.push("  return 0;".to_string());
        places.push((lines.len(), 's'));
        lines.push("}".to_string());
    }
    (lines.join("\n") + "\n", places)
}

/// `certify` judges as `check` does with the invariants written into the text.
#[test]
fn random_witnesses_are_judged_as_programs_with_assertions() {
    if !preprocessor() {
        return;
    }
    let folder = folder("judge-random");
    let count = std::env::var("ALLWAYS_RANDOM").ok().and_then(|count| count.parse().ok()).unwrap_or(40);
    let mut codes = [0; 3];
    for seed in 0..count {
        let (source, places) = random_program(seed);
        let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1;
        let mut roll = |sides: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % sides
        };
        let mut lines: Vec<String> = source.lines().map(String::from).collect();
        let mut stated = Stated::about("program.c", &source);
        // What is put around a line: the assertion before it, and what stands for it with a ghost update.
        if roll(2) == 0 {
            stated = stated.ghost("g", "int", "0");
            for _ in 0..1 + roll(2) {
                let (line, kind) = places[roll(places.len())];
                let text = lines[line - 1].trim().to_string();
                let Some((to, value)) = text.strip_suffix(';').and_then(|text| text.split_once(" = ")) else {
                    continue;
                };
                if kind == 'w' || text.contains("atomic") {
                    continue;
                }
                let new = ["1", "2", "1 - g", "own", "x + 1"][roll(5)];
                stated = stated.update((line, None), "g", new);
                // The last step that others see writes a global variable, or reads one for a local one.
                let update = format!("g = {new}; __VERIFIER_atomic_end();");
                lines[line - 1] = match to {
                    "own" => format!("{{ __VERIFIER_atomic_begin(); {text} {update} }}"),
                    _ => format!("{{ int t = {value}; __VERIFIER_atomic_begin(); {to} = t; {update} }}"),
                };
            }
        }
        for _ in 0..1 + roll(2) {
            let (line, kind) = places[roll(places.len())];
            let holds = [
                "x <= 2",
                "x <= 3 && y <= 1",
                "own <= 3",
                "own >= 0",
                "x >= 0 && own < 5",
                "x != 2 || y != 0",
                "y == 0 || y == 1",
                "own != 2",
                "4 / (x + 3) >= 0",
                "2 / y > 0 || own",
                "x - y < 3",
                "g <= 2",
                "g == 0 || x != 1",
                "g != own",
                "(g > 0) == (x > 0)",
            ][roll(if stated.ghosts.is_empty() { 11 } else { 15 })];
            let text = &mut lines[line - 1];
            // One invariant a line.
            if text.contains("assert") {
                continue;
            }
            let own = source.lines().nth(line - 1).expect("a line");
            let blank = own.len() - own.trim_start().len();
            stated = stated.invariant(kind == 'w', (line, (roll(3) > 0).then_some(blank + 1)), holds);
            let check = format!("__VERIFIER_atomic_begin(); assert({holds}); __VERIFIER_atomic_end();");
            *text = match kind {
                'w' => text.replace("(own < 2)", &format!("(({{ {check} own < 2; }}))")),
                'i' => format!("  {{ {check} {text} }}"),
                _ => format!("  {check} {text}"),
            };
        }
        let program = file(&folder, "program.c", &source);
        let path = file(&folder, "w.yml", stated.text());
        let judged = allways(&format!("certify {program} {path}"));
        let by_hand = format!(
            "#include <assert.h>\nvoid __VERIFIER_atomic_begin(void);\nvoid __VERIFIER_atomic_end(void);\nint g;\n{}\n",
            lines.join("\n")
        );
        let by_hand_path = file(&folder, "by-hand.c", &by_hand);
        let checked = allways(&format!("check {by_hand_path} --property unreach-call --quiet"));
        let expected = match checked.code {
            0 => 0,
            10 => 20,
            _ => 5,
        };
        assert_eq!(judged.code, expected, "{seed}: {judged:?}\n{checked:?}\n{by_hand}\n{}", stated.text());
        codes[usize::from(expected > 0) + usize::from(expected == 5)] += 1;
    }
    assert!(codes[0] * 8 > count && codes[1] * 8 > count, "accepted, rejected, unknown: {codes:?}");
}

/// The same of our own witnesses with ghost variables.
#[test]
fn ghosts_are_judged_as_programs_with_assertions() {
    if !preprocessor() {
        return;
    }
    let folder = folder("judge-sections");
    for seed in 0..6 {
        let source = with_sections(seed);
        let program = file(&folder, "sections.c", &source);
        let text = witness("judge-sections-1", "w.yml", &format!("{program} --property unreach-call"), 0);
        for (from, to) in [
            ("", ""),
            ("_locked == 1", "_locked == 0"),
            ("x == 0", "x == 1"),
            ("value: \"1\"", "value: \"0\""),
        ] {
            let changed = text.replace(from, to);
            let path = file(&folder, "w.yml", &changed);
            let judged = allways(&format!("certify {program} {path}"));
            if from.starts_with("value") {
                // A mutex that is never said to be taken.
                assert!(changed == text || judged.code == 20, "{judged:?}\n{changed}");
                continue;
            }
            let told = read(changed.as_bytes()).expect("a witness");
            let by_hand = file(&folder, "by-hand.c", instrumented(&source, &told));
            let checked = allways(&format!("check {by_hand} --property unreach-call --quiet"));
            assert_eq!(judged.code, checked.code * 2, "{judged:?} {checked:?}\n{changed}");
        }
    }
    let _ = fs::remove_dir_all(folder);
}
