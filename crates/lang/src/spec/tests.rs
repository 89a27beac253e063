//! Texts and what is said about them.

use super::*;
use crate::diagnostic::{Severity, line_column};
use allways_model::counters::{Bag, Local};
use std::path::Path;

fn remarks(text: &str) -> Vec<String> {
    let Parsed { system, diagnostics } = parse(text.as_bytes());
    assert_eq!(system.is_none(), diagnostics.has_errors());
    let show = |diagnostic: &crate::diagnostic::Diagnostic| {
        let (line, column) = line_column(text.as_bytes(), diagnostic.span.start);
        let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        format!("{line}:{column}: {severity}: {}", diagnostic.message)
    };
    diagnostics.iter().map(show).collect()
}

fn good(text: &str) -> Counters {
    let parsed = parse(text.as_bytes());
    let system = parsed.system.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    system.validate().expect("a valid system");
    system
}

fn bag(tokens: &[(Local, u64)]) -> Bag {
    tokens.iter().copied().collect()
}

fn with_rules(rules: &str) -> String {
    format!("vars a b c\nrules\n{rules}\ninit a >= 1, b = 0, c = 0\ntarget a >= 1")
}

#[test]
fn names_of_types_are_names() {
    let text = "vars int java.util.Map$Entry[][] in.x\nrules\nint in [1,2], java.util.Map$Entry[][]>=1 ->\n\
                java.util.Map$Entry[][]'=java.util.Map$Entry[][]-1,in.x'=in.x+1;\n\
                init int=1,java.util.Map$Entry[][]=1,in.x=0\ntarget in.x>=1";
    let system = good(text);
    assert_eq!(system.locals, ["int", "java.util.Map$Entry[][]", "in.x"]);
    assert_eq!((system.rules.len(), system.rules[0].takes.clone()), (2, bag(&[(0, 1), (1, 1)])));
    assert!(remarks("vars a[ b\nrules\ninit a = 1").iter().any(|remark| remark.starts_with("1:7: error")));
}

#[test]
fn rules_take_give_and_move() {
    let rules = "a >= 2, b >= 1 -> a' = a - 1, c' = c + 1;\n\
                 true -> ;\n\
                 a >= 1 -> a' = 0, b' = a + b - 1, c' = 2;\n\
                 a = 1, b >= 2 -> b' = b + a - 3, a' = 0;\n\
                 true -> a' = a - 2;\n\
                 a in [1, 2] -> a' = a - 1;";
    let system = good(&with_rules(rules));
    let rules = &system.rules;
    assert_eq!(rules.len(), 7);
    assert_eq!(
        (&rules[0].takes, &rules[0].gives),
        (&bag(&[(0, 2), (1, 1)]), &bag(&[(0, 1), (1, 1), (2, 1)]))
    );
    assert!(rules[0].is_plain() && rules[0].line == 3);
    assert_eq!((&rules[1].takes, &rules[1].gives), (&bag(&[]), &bag(&[])));
    assert_eq!((&rules[2].takes, &rules[2].gives), (&bag(&[(0, 1)]), &bag(&[(2, 2)])));
    assert_eq!(rules[2].moves, [(0, Some(1)), (2, None)]);
    assert_eq!((&rules[3].takes, &rules[3].gives), (&bag(&[(0, 1), (1, 2)]), &bag(&[])));
    assert_eq!((&rules[3].exactly[..], &rules[3].moves[..]), (&[0][..], &[(0, Some(1))][..]));
    assert_eq!(rules[4].takes, bag(&[(0, 2)]), "an effect below zero is a guard");
    assert_eq!((&rules[5].takes, &rules[5].gives), (&bag(&[(0, 1)]), &bag(&[])));
    assert_eq!((&rules[6].takes, &rules[6].gives), (&bag(&[(0, 2)]), &bag(&[(0, 1)])));
}

#[test]
fn what_moves_is_read_as_mist_does() {
    let system = good(&with_rules("a >= 1 -> b' = b + a + 1;"));
    assert_eq!((&system.rules[0].takes, &system.rules[0].gives), (&bag(&[(0, 1)]), &bag(&[(1, 2)])));
    assert_eq!(system.rules[0].moves, [(0, Some(1))]);
    let system = good(&with_rules("true -> b' = b + a, a' = 0, b' = 0;"));
    assert_eq!(system.rules[0].moves, [(0, Some(1))]);
}

#[test]
fn targets_are_separated_by_a_missing_comma() {
    let system = good("vars a b rules init a in [0,2], b = 1 target a >= 1, b >= 2 b >= 0");
    let tokens: Vec<_> = system.targets.iter().map(|target| target.tokens.clone()).collect();
    assert_eq!(tokens, [bag(&[(0, 1), (1, 2)]), bag(&[])]);
    assert_eq!(system.initial.len(), 3);
}

#[test]
fn mistakes_have_places() {
    let cases = [
        ("a >= 1 b' = 1;", "3:8: error: expected `,` or `->` after a guard, found `b`"),
        ("a >= 1, a >= 2 -> ;", "3:9: error: expected a single guard for each variable, found `a`"),
        ("d >= 1 -> ;", "3:1: error: expected a variable of `vars`, found `d`"),
        ("a >= -1 -> ;", "3:6: error: expected a number, found `-`"),
        ("a >= 5000000000 -> ;", "3:6: error: expected a number below 4294967296, found `5000000000`"),
        (
            "true -> b' = b + a;",
            "3:18: warning: expected an effect of each variable that moves, found none of this one",
        ),
        (
            "true -> b' = b + a, c' = c + a, a' = 0;",
            "3:30: error: expected each variable in a single effect, found another",
        ),
        ("true -> a' = a + a;", "3:18: error: expected each variable in a single effect, found another"),
        (
            "true -> a' = 0, c' = c + b + a - 1, b' = 0;",
            "3:17: error: expected guards that make this at least zero, found 1 less",
        ),
        (
            "true -> a' = a, a' = 0;",
            "3:17: warning: expected a single effect for each variable, found another",
        ),
        ("true -> a' = a, a' = 1;", "3:17: error: expected a single effect for each variable, found another"),
        ("a in [3, 1] -> ;", "3:10: error: expected a number not below 3, found `1`"),
        ("a in [0, 2000] -> ;", "3:1: error: expected a rule that stands for at most 1024, found more"),
        ("\u{1b}[2J -> ;", "3:1: error: expected a variable, found `\\u{1b}`"),
    ];
    for (rule, remark) in cases {
        assert_eq!(remarks(&with_rules(rule)), [remark], "{rule}");
    }
    assert_eq!(remarks(""), ["1:1: error: expected `vars`, found the end of the file"]);
    assert_eq!(
        remarks("vars a rules init a = 1 target a = 2"),
        ["1:32: warning: expected `>=` in a target, found `a`"]
    );
    let unguarded = parse(b"vars a rules -> a' = a + 1; init a = 0 target a = 2").system.expect("a system");
    assert!(unguarded.rules[0].takes.iter().next().is_none());
    assert_eq!(unguarded.targets[0].tokens, Bag::from_iter([(0, 2)]));
    assert_eq!(
        remarks("vars a b rules init a = 1 target a >= 2 invariants a = 1"),
        [
            "1:27: warning: expected every variable in `init`, found none of `b`",
            "1:41: warning: expected no invariants, found some: they are not used",
        ]
    );
}

#[test]
fn what_is_written_reads_back() {
    let rules = "a >= 2, b >= 1 -> a' = a - 1, c' = c + 1;\n\
                 a >= 1 -> a' = 0, b' = a + b - 1, c' = 2;\n\
                 a = 1, b >= 2, c = 0 -> b' = b + a - 3, a' = 0;\n\
                 true -> c' = 1, a' = c;";
    let system = good(&with_rules(rules));
    let again = good(&write(&system).expect("a text"));
    let unlined = |system: &Counters| {
        let mut system = system.clone();
        system.rules.iter_mut().for_each(|rule| rule.line = 0);
        system
    };
    assert_eq!(unlined(&again), unlined(&system));
}

/// Cut anywhere, and with any byte replaced: no panic, and a place within the text.
#[test]
fn nothing_panics() {
    let text =
        with_rules("a = 1, b in [0, 3] -> a' = 0, b' = a + b - 1; true -> c' = 2;") + " invariants a = 1";
    for at in 0..text.len() {
        remarks(&text[..at]);
        for byte in *b"\0';->=,[9a" {
            let mut text = text.clone().into_bytes();
            text[at] = byte;
            if let Ok(text) = String::from_utf8(text) {
                remarks(&text);
            }
        }
    }
}

#[test]
fn published_files_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/spec");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no ../shared/bench/spec");
        return;
    };
    for entry in entries {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let system = good(&text);
        let again = good(&write(&system).expect("a text"));
        assert_eq!((again.rules.len(), &again.initial), (system.rules.len(), &system.initial));
        assert_eq!(again.targets, system.targets, "{}", path.display());
    }
}
