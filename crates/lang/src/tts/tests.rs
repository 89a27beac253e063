//! Texts and what is said about them.

use super::*;
use crate::diagnostic::line_column;
use std::path::Path;

fn remarks(text: &str) -> Vec<String> {
    let Parsed { system, diagnostics } = parse(text.as_bytes());
    assert_eq!(system.is_none(), diagnostics.has_errors());
    let show = |remark: &Diagnostic| place(text, remark);
    diagnostics.iter().map(show).collect()
}

fn place(text: &str, remark: &Diagnostic) -> String {
    let (line, column) = line_column(text.as_bytes(), remark.span.start);
    format!("{line}:{column}: {}", remark.message)
}

fn good(text: &str) -> Tts {
    let parsed = parse(text.as_bytes());
    let tts = parsed.system.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    tts.system.validate().expect("a valid system");
    tts
}

const SAMPLE: &str = "# two\n2 5000\n0 0 -> 1 1\n\n1 1 +> 0 4999 # starts\n0 1 -> 0 0 3 ~> 2 2 ~> 2\r\n";

#[test]
fn transitions_take_and_give() {
    let Tts { system, .. } = good(SAMPLE);
    assert_eq!(system.locals, ["0", "1", "4999", "3", "2"]);
    let shown = |bag: &Bag| system.show_tokens(Shared(0), bag.iter().map(|(at, n)| (at, Some(n))));
    let rules: Vec<_> =
        system.rules.iter().map(|rule| (shown(&rule.takes), shown(&rule.gives), rule.line)).collect();
    let expected = [("0|0", "0|1", 3), ("0|1", "0|1,4999", 5), ("0|1", "0|0", 6)];
    assert_eq!(rules, expected.map(|(takes, gives, line)| (takes.to_string(), gives.to_string(), line)));
    assert_eq!(system.rules[2].moves, [(3, Some(4))]);
    assert_eq!(system.initial, [Initial { shared: Shared(0), tokens: Bag::default(), any: vec![0] }]);
}

#[test]
fn configurations_are_read() {
    let mut tts = good(SAMPLE);
    tts.read_targets(b" 1|3, 3,4999^2 # bad\n\n*|7\n").expect("targets");
    let targets: Vec<_> = tts.system.targets.iter().map(|target| target.tokens.total()).collect();
    assert_eq!((targets, tts.system.targets[1].shared), (vec![4, 1], None));
    tts.read_init(b"1|0^*,1^3,1").expect("an initial configuration");
    assert_eq!(
        tts.system.initial,
        [Initial { shared: Shared(1), tokens: Bag::from_iter([(1, 4)]), any: vec![0] }]
    );
    tts.read_init(b"1|").expect("no threads");
    let cases = [
        ("", "1:1: expected a configuration such as `0|1,1`, found the end of the file"),
        ("1,2", "1:1: expected a configuration such as `0|1,1`, found `1,2`"),
        ("2|0", "1:1: expected a shared state below 2, found `2`"),
        ("1|0,", "1:5: expected a local state, found nothing"),
        ("1|0,5000", "1:5: expected a local state below 5000, found `5000`"),
        ("1|0^x", "1:5: expected a number of threads or `*`, found `x`"),
        ("1|0^*", "1:5: expected a number of threads, found `*`"),
    ];
    for (text, remark) in cases {
        let error = tts.read_targets(text.as_bytes()).expect_err(text);
        assert_eq!(place(text, &error), remark, "{text}");
    }
}

#[test]
fn mistakes_have_places() {
    let cases = [
        ("0 0 1 1", "2:5: expected `->` or `+>`, found `1`"),
        ("0 0 ->", "2:7: expected a shared state, found the end of the line"),
        ("2 0 -> 0 0", "2:1: expected a shared state below 2, found `2`"),
        ("0 0 -> 0 9", "2:10: expected a local state below 3, found `9`"),
        ("0 0 -> 0 1 2", "2:13: expected `~>`, found the end of the line"),
        ("0 0 -> 0 1 2 ~> 1 2 ~> 0", "2:24: expected a single `~>` for each local state before, found `0`"),
    ];
    for (line, remark) in cases {
        assert_eq!(remarks(&format!("2 3\n{line}\n0 0 -> 0 0")), [remark], "{line}");
    }
    assert_eq!(
        remarks("#"),
        ["1:2: expected the numbers of shared and local states, found the end of the file"]
    );
    assert_eq!(remarks("0 3"), ["1:1: expected at least one shared state, found `0`"]);
    assert_eq!(remarks("1 99999999999"), ["1:3: expected the number of local states, found `99999999999`"]);
}

#[test]
fn what_is_written_reads_back() {
    let mut tts = good(SAMPLE);
    tts.read_targets(b"1|3^2,4999\n*|1").expect("targets");
    tts.read_init(b"0|0,1^*").expect("an initial configuration");
    let written = write(&tts.system).expect("a text");
    let mut again = good(&written.tts);
    again.read_targets(written.prop.as_bytes()).expect("targets");
    again.read_init(written.init.as_bytes()).expect("an initial configuration");
    let unlined = |mut system: Counters| {
        system.rules.iter_mut().for_each(|rule| rule.line = 0);
        system
    };
    assert_eq!(unlined(again.system), unlined(tts.system));
}

/// Cut anywhere, and with any byte replaced: no panic.
#[test]
fn nothing_panics() {
    let mut tts = good(SAMPLE);
    let states = "1|2,3^2,4^*\n*|0";
    for (text, is_system) in [(SAMPLE, true), (states, false)] {
        for at in 0..text.len() {
            for byte in *b"\0\n-~|^*,9a" {
                let mut changed = text.as_bytes().to_vec();
                changed[at] = byte;
                for text in [&changed[..], &text.as_bytes()[..at]] {
                    if is_system {
                        parse(text);
                    } else {
                        let _ = (tts.read_init(text), tts.read_targets(text));
                    }
                }
            }
        }
    }
}

#[test]
fn published_files_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/bp");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no ../shared/bench/bp");
        return;
    };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.extension().is_some_and(|ending| ending == "tts") {
            let mut tts = good(&std::fs::read_to_string(&path).expect("a text"));
            tts.read_targets(&std::fs::read(path.with_extension("prop")).expect("a text")).expect("a target");
            assert!(write(&tts.system).is_ok());
        }
    }
}
