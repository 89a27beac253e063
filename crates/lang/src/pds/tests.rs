//! Texts and what is said about them, as a reader of the command line would see it.

mod random;

use super::*;
use crate::diagnostic::{Severity, line_column};
use allways_model::pushdown::{Pushdown, Rule, Shared, Stack, Word};

fn show<'a>(text: &[u8], diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Vec<String> {
    let show = |diagnostic: &Diagnostic| {
        assert!(diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end <= text.len());
        let (line, column) = line_column(text, diagnostic.span.start);
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{line}:{column}: {severity}: {}{help}", diagnostic.message)
    };
    diagnostics.into_iter().map(show).collect()
}

/// Reads a text about which exactly these remarks are made.
#[track_caller]
fn expect(text: impl AsRef<[u8]>, remarks: &[&str]) -> Option<Explicit> {
    let text = text.as_ref();
    let Parsed { system, diagnostics } = parse(text);
    assert_eq!(show(text, diagnostics.iter()), remarks, "in {:?}", String::from_utf8_lossy(text));
    assert_eq!(system.is_none(), diagnostics.has_errors());
    system
}

/// Reads a text about which there is nothing to say.
#[track_caller]
fn good(text: impl AsRef<[u8]>) -> Explicit {
    expect(text, &[]).unwrap()
}

fn rules(system: &Explicit, thread: usize) -> Vec<(Shared, Symbol, Rule)> {
    system.threads[thread].iter().copied().collect()
}

const SAMPLE: &str = "\
# three shared states
3
PDA 1 4
0 1 -> 1 2
1 2 -> 2 3 4
2 3 -> 0 -
0 - -> 0 1
1 - -> 2 -

PDA 0 0
";

#[test]
fn a_file_is_its_threads_and_their_rules_in_order() {
    let system = good(SAMPLE);
    let rule = |shared, word, line| Rule { shared: Shared(shared), word, line };
    let expected = [
        (Shared(0), Symbol(2), rule(1, Word::one(Symbol(3)), 4)),
        (Shared(1), Symbol(3), rule(2, Word::two(Symbol(4), Symbol(5)), 5)),
        (Shared(2), Symbol(4), rule(0, Word::POP, 6)),
        (Shared(0), EMPTY, rule(0, Word::one(Symbol(2)), 7)),
        (Shared(1), EMPTY, rule(2, Word::POP, 8)),
    ];
    assert_eq!(rules(&system, 0), expected);
    assert_eq!(rules(&system, 1), []);
    assert_eq!(system.shared_states, 3);
    assert_eq!(system.initial, State { shared: Shared(0), stacks: vec![Stack::default(); 2] });
}

#[test]
fn layout_means_nothing() {
    let plain = good("2\nPDA 0 9\n0 1 -> 0 -\n0 - -> 1 2\n1 2 -> 1 3 4\n");
    let same = [
        "2\r\nPDA 0 9\r\n0 1 -> 0 -\r\n0 - -> 1 2\r\n1 2 -> 1 3 4\r\n",
        "2# two\nPDA 0 9# a thread\n0 1->0 -# pop\n0 -->1 2\n1 2->1 3 4",
        "\u{feff}2\nPDA\t0\t9\n\t0 1 ->0 -\n0 -  -> 1 2   \n 1 2-> 1 3 4 #",
        "002\nPDA 00 09\n00 01 -> 0000000000000000000000000000000 -\n0 - -> 1 2\n1 2 -> 1 3 4\n",
    ];
    for text in same {
        assert_eq!(good(text), plain, "{text}");
    }
    let mut apart =
        good("\n# \n  #\n\n2\n\n\nPDA 0 9\n\n0 1 -> 0 -\n#\n\r\n0 - -> 1 2\n\n1 2 -> 1 3 4\n\n\n");
    let lines: Vec<_> = rules(&apart, 0).iter().map(|(_, _, rule)| rule.line).collect();
    assert_eq!(lines, [10, 13, 15]);
    apart.threads = plain.threads.clone();
    assert_eq!(apart, plain);
    good(b"2 # \0\xff\xfe \x1b[2J\nPDA 0 9 #\xc3\n#\0\0\n0 1 -> 0 -#\x80\n");
}

#[test]
fn the_largest_numbers_have_room() {
    let system = good("4294967294\nPDA 4294967294 4294967294\n4294967293 4294967294 -> 0 4294967294\n");
    assert_eq!(
        rules(&system, 0),
        [(
            Shared(u32::MAX - 2),
            Symbol(u32::MAX),
            Rule { shared: Shared(0), word: Word::one(Symbol(u32::MAX)), line: 3 }
        )]
    );
    let too_large = |number: &str| format!("expected a number below 4294967295, found `{number}`");
    expect("4294967295\nPDA 0 0", &[&format!("1:1: error: {}", too_large("4294967295"))]);
    expect("1\nPDA 0 4294967295", &[&format!("2:7: error: {}", too_large("4294967295"))]);
    // At and past 2^64, where a sum or a product might come round to a small number.
    for number in ["18446744073709551615", "18446744073709551616", "18446744073709551620"] {
        expect(format!("1\nPDA 0 0\n0 {number} -> 0 0"), &[&format!("3:3: error: {}", too_large(number))]);
    }
    let long = "9".repeat(1000);
    let cut = too_large(&("9".repeat(20) + "…"));
    expect(format!("1\nPDA 0 0\n0 0 -> 0 0 {long}"), &[&format!("3:12: error: {cut}")]);
    expect(format!("1\nPDA 0 0\n{long} 0 -> 0 0"), &[&format!("3:1: error: {cut}")]);
    expect(format!("{long}\nPDA {long}"), &[&format!("1:1: error: {cut}"), &format!("2:5: error: {cut}")]);
}

#[test]
fn the_number_of_shared_states_comes_first() {
    expect("", &["1:1: error: expected the number of shared states, found the end of the file"]);
    expect("\n# 3\n", &["3:1: error: expected the number of shared states, found the end of the file"]);
    expect("x\nPDA 0 0\n9 0 -> 9 0", &["1:1: error: expected the number of shared states, found `x`"]);
    expect("-1\nPDA 0 0", &["1:1: error: expected the number of shared states, found `-1`"]);
    expect("PDA 0 0\n9 0 -> 9 0", &["1:1: error: expected the number of shared states, found `PDA`"]);
    expect("0\nPDA 0 0", &["1:1: error: expected at least one shared state, found `0`"]);
    let after = "error: expected the end of the line after the number of shared states";
    expect("3 4\nPDA 0 0", &[&format!("1:3: {after}, found `4`")]);
    expect("0 1 -> 0 1\nPDA 0 1", &[&format!("1:3: {after}, found `1`")]);
    expect(
        "PDA 1 0\nPDA 0 0",
        &[
            "1:1: error: expected the number of shared states, found `PDA`",
            "1:7: error: expected a highest symbol not below the lowest, 1, found `0`",
        ],
    );
}

#[test]
fn threads_come_next() {
    expect("3\n", &["2:1: error: expected a thread such as `PDA 0 9`, found the end of the file"]);
    expect(
        "3\n0 1 -> 0 1\n0 2 -> 0 3\nPDA 0 3\n0 0 -> 0 0",
        &["2:1: error: expected a thread such as `PDA 0 9` before the first rule, found `0`"],
    );
    expect(
        "3\nPDA 5 2\n0 9 -> 0 9\nPDA 2 2",
        &["2:7: error: expected a highest symbol not below the lowest, 5, found `2`"],
    );
    expect("3\nPDA", &["2:4: error: expected the lowest symbol of the thread, found the end of the line"]);
    expect("3\nPDA - 1", &["2:5: error: expected the lowest symbol of the thread, found `-`"]);
    expect(
        "3\nPDA 1 # 2",
        &["2:7: error: expected the highest symbol of the thread, found the end of the line"],
    );
    expect(
        "3\nPDA 1 2 3",
        &["2:9: error: expected the end of the line after the thread's symbols, found `3`"],
    );
    let line = "error: expected a rule such as `0 1 -> 0 2` or a thread such as `PDA 0 9`";
    expect(
        "3\nPDA 0 0\nPDA0 0\npda 0 0\n- -> 0 0\n-> 0",
        &[
            &format!("3:1: {line}, found `PDA0`"),
            &format!("4:1: {line}, found `pda`"),
            &format!("5:1: {line}, found `-`"),
            &format!("6:1: {line}, found `->`"),
        ],
    );
}

#[test]
fn rules_have_a_form() {
    let cases = [
        ("0", "2: error: expected a stack symbol or `-`, found the end of the line"),
        ("0 x -> 0 1", "3: error: expected a stack symbol or `-`, found `x`"),
        ("0 -2 -> 0 1", "3: error: expected a stack symbol or `-`, found `-2`"),
        ("0 -> 0 1", "3: error: expected a stack symbol or `-`, found `->`"),
        ("0 1 0 1", "5: error: expected `->`, found `0`"),
        ("0 1 - > 0 1", "5: error: expected `->`, found `-`"),
        ("0 1 --> 0 1", "5: error: expected `->`, found `-`"),
        ("0 1 # -> 0 1", "5: error: expected `->`, found the end of the line"),
        ("0 1 ->", "7: error: expected a shared state, found the end of the line"),
        ("0 1 -> - 1", "8: error: expected a shared state, found `-`"),
        ("0 1 -> 0-", "8: error: expected a shared state, found `0-`"),
        ("0 1 -> 0 - 1", "12: error: expected the end of the line after `-`, found `1`"),
        ("0 1 -> 0 1 -", "12: error: expected a second stack symbol or the end of the line, found `-`"),
        ("0 1 -> 0 1 -> 2", "12: error: expected a second stack symbol or the end of the line, found `->`"),
        ("0 1 -> 0 1 0x1", "12: error: expected a second stack symbol or the end of the line, found `0x1`"),
        (
            "0 1 -> 0 1 2 3",
            "14: error: expected the end of the line after two symbols, found `3` \
                            (a rule replaces the top symbol by at most two)",
        ),
        (
            "0 - -> 0 1 2",
            "12: error: expected the end of the line after one symbol, found `2` \
                          (a rule for an empty stack pushes at most one symbol)",
        ),
        (
            "3 1 -> 0 1",
            "1: error: expected a shared state below 3, found `3` \
                        (the file declares 3 shared states, which are 0 to 2)",
        ),
        (
            "0 1 -> 4000000000 1",
            "8: error: expected a shared state below 3, found `4000000000` \
                                 (the file declares 3 shared states, which are 0 to 2)",
        ),
    ];
    for (rule, remark) in cases {
        let remark = remark.split_once(": ").map(|(column, rest)| format!("3:{column}: {rest}")).unwrap();
        expect(format!("3\nPDA 0 9\n{rule}\n0 1 -> 0 1\n"), &[&remark]);
    }
    expect(
        "1\nPDA 0 9\n1 1 -> 0 1",
        &[
            "3:1: error: expected a shared state below 1, found `1` (the file declares a single shared state, 0)",
        ],
    );
}

#[test]
fn binary_junk_is_named_and_escaped() {
    let line = "error: expected a rule such as `0 1 -> 0 2` or a thread such as `PDA 0 9`";
    expect(
        "1\nPDA 0 0\n\0\0\n\u{1b}[31mred",
        &[&format!("3:1: {line}, found `\\0\\0`"), &format!("4:1: {line}, found `\\u{{1b}}[31mred`")],
    );
    expect(
        b"1\nPDA 0 0\n0 \xff\xfe -> 0 0\n0 0 -> 0 \xc3",
        &[
            "3:3: error: expected a stack symbol or `-`, found `\\xff\\xfe`",
            "4:10: error: expected a stack symbol or `-`, found `\\xc3`",
        ],
    );
    expect(
        b"\x7fELF\x02\x01\x01\0",
        &[
            "1:1: error: expected the number of shared states, found `\\u{7f}ELF\\u{2}\\u{1}\\u{1}\\0`",
            "1:9: error: expected a thread such as `PDA 0 9`, found the end of the file",
        ],
    );
    expect(
        "é\nPDA 0 0\né 0 -> 0 0\n0\u{a0}0",
        &[
            "1:1: error: expected the number of shared states, found `é`",
            &format!("3:1: {line}, found `é`"),
            &format!("4:1: {line}, found `0\\u{{a0}}0`"),
        ],
    );
    // Cut, even where the whole file is a single word.
    let cut = "1:1: error: expected the number of shared states, found `xxxxxxxxxxxxxxxxxxxx…`";
    expect(
        "x".repeat(100_000),
        &[cut, "1:100001: error: expected a thread such as `PDA 0 9`, found the end of the file"],
    );
}

#[test]
fn symbols_out_of_range_widen_it() {
    let help = "(the thread's range is widened to include it)";
    let text = "1\nPDA 2 3\n0 2 -> 0 1 4\n0 4 -> 0 3\n0 1 -> 0 -\nPDA 2 3\n0 1 -> 0 2\n0 - -> 0 2";
    let system = expect(
        text,
        &[
            &format!("3:10: warning: expected a symbol from 2 to 3, found `1` {help}"),
            &format!("3:12: warning: expected a symbol from 2 to 3, found `4` {help}"),
            &format!("7:3: warning: expected a symbol from 2 to 3, found `1` {help}"),
        ],
    );
    let wide = text.replace("PDA 2 3", "PDA 0 9");
    assert_eq!(system.unwrap(), good(wide));
}

#[test]
fn repeated_rules_count_once() {
    let text = "2\nPDA 0 9\n0 1 -> 0 2\n1 1 -> 0 2 # not the same\n\n 0 1->0 2\n0 1 -> 0 2 2\nPDA 0 9\n0 1 -> 0 2\n\
                junk\n0 1 -> 0 2 # again\n0 - -> 0 -\n0 1 -> 0 2";
    let again = "warning: expected each rule once, found one again";
    let remarks = [
        format!("6:2: {again} (it is first on line 3; the repetition means nothing)"),
        format!("11:1: {again} (it is first on line 9; the repetition means nothing)"),
        format!("13:1: {again} (it is first on line 9; the repetition means nothing)"),
    ];
    let junk =
        "10:1: error: expected a rule such as `0 1 -> 0 2` or a thread such as `PDA 0 9`, found `junk`";
    expect(text, &[&remarks[0], junk, &remarks[1], &remarks[2]]);
    let system = expect(text.replace("junk", ""), &[&remarks[0], &remarks[1], &remarks[2]]).unwrap();
    assert_eq!(rules(&system, 0).iter().map(|(_, _, rule)| rule.line).collect::<Vec<_>>(), [3, 4, 7]);
    assert_eq!(rules(&system, 1).iter().map(|(_, _, rule)| rule.line).collect::<Vec<_>>(), [9, 12]);
    let spans = |text: &str| -> Vec<String> {
        let Parsed { diagnostics, .. } = parse(text.as_bytes());
        diagnostics.iter().map(|diagnostic| text[diagnostic.span.clone()].to_string()).collect()
    };
    assert_eq!(spans(text), ["0 1->0 2", "junk", "0 1 -> 0 2", "0 1 -> 0 2"], "without what is around them");
    assert_eq!(spans("1\nPDA 0 9\n0 1 -> 0 2 3\n0 1->0 2 3 # again"), ["0 1->0 2 3"]);
}

#[test]
fn a_file_of_mistakes_is_not_kept() {
    let text = format!("1\nPDA 0 0\n{}", "?\n0 1 -> 0 0\n0 0 -> 0 0\n".repeat(1000));
    let Parsed { system, diagnostics } = parse(text.as_bytes());
    assert_eq!(system, None);
    assert_eq!(diagnostics.left_out(Severity::Error), 980);
    assert_eq!(diagnostics.left_out(Severity::Warning), 1 + 2 * 999 - 20, "a symbol and the repetitions");
    assert_eq!(diagnostics.iter().count(), 40);
}

#[test]
fn threads_are_limited() {
    let most = format!("1\n{}", "PDA 0 0\n".repeat(MAX_THREADS));
    assert_eq!(good(&most).threads(), MAX_THREADS);
    let limit = format!("{}:1: error: expected at most {MAX_THREADS} threads, found `PDA`", MAX_THREADS + 2);
    expect(most + "PDA 0 0\nPDA 0 0\njunk", &[&limit]);
}

#[test]
fn an_initial_state_is_one_line() {
    let system = good(SAMPLE);
    for text in ["2|1.4.4,-", "# initial\r\n\r\n2 | 1.4.4 , - # here\r\n\n", "\u{feff}2|1.4.4,-"] {
        let state = parse_init(&system, text.as_bytes()).unwrap();
        assert_eq!(
            state,
            State {
                shared: Shared(2),
                stacks: vec![Stack::from_top([2, 5, 5].map(Symbol)), Stack::default()]
            }
        );
    }
    assert!(parse_init(&system, b"0|77,88").is_ok(), "symbols that no rule has");
    let target = |text: &str| parse_target(&system, text.as_bytes()).unwrap();
    assert_eq!(
        target("2|1,-\n"),
        Pattern { shared: Some(Shared(2)), tops: vec![Some(Symbol(2)), Some(EMPTY)] }
    );
    assert_eq!(target("#\n*|*,0#\n"), Pattern { shared: None, tops: vec![None, Some(Symbol(1))] });
}

#[test]
fn mistakes_in_states_are_placed() {
    let system = good(SAMPLE);
    let cases: [(&[u8], &str); 8] = [
        (b"", "1:1: error: expected a state such as `0|1,2`, found the end of the file"),
        (b"# 0|1,2\n\n", "3:1: error: expected a state such as `0|1,2`, found the end of the file"),
        (b"0|1,2\n# two\n 1|1,2 #", "3:2: error: expected a single state, found another, `1|1,2`"),
        (b"\n 3|1,2", "2:2: error: expected a shared state of this system, found `3`"),
        (b" 0|1, x", "1:7: error: expected a stack symbol or `-`, found `x`"),
        (b" 0|1", "1:4: error: expected one stack for each of the 2 threads, found 1"),
        (b"0|1,\xff\0", "1:1: error: expected a state such as `0|1,2`, found `0|1,\\xff\\0`"),
        (b"0 1 2", "1:1: error: expected a state such as `0|1,2`, found `0 1 2`"),
    ];
    for (text, remark) in cases {
        assert_eq!(show(text, &parse_init(&system, text).err()), [remark]);
        assert_eq!(show(text, &parse_target(&system, text).err()), [remark]);
    }
    let deep = parse_target(&system, b"0|1.2,1").unwrap_err();
    assert_eq!(show(b"0|1.2,1", [&deep]), ["1:3: error: expected the top symbol alone, found a stack of 2"]);
    assert!(parse_init(&system, b"*|*,*").is_err(), "`*` is for targets");
}

/// What older files write is what newer ones do.
#[test]
fn the_older_notation_means_the_same() {
    let older = "2\nPDA 0 5\n0 5 -> 0\n0 5->1 # nothing is left\n0 -1 -> 1 2\n1 -1 -> 0\n1 2 -> 1 3 4\n";
    let newer = "2\nPDA 0 5\n0 5 -> 0 -\n0 5->1 -\n0 - -> 1 2\n1 - -> 0 -\n1 2 -> 1 3 4\n";
    let (older, newer) = (parse(older.as_bytes()), parse(newer.as_bytes()));
    assert!(older.diagnostics.iter().next().is_none(), "{:?}", older.diagnostics);
    assert_eq!(format!("{:?}", older.system), format!("{:?}", newer.system));
}
