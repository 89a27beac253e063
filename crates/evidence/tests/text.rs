//! Evidence as text: it reads back as it was written, mistakes are placed, and no text does any harm.

mod common;

use allways_evidence::{
    BadEvidence, Certificate, Counterexample, Evidence, Header, Invariant, Judge, Rejection, Subject,
    VERSION, Window, certify, write_evidence,
};
use allways_model::property::Property;
use allways_model::pushdown::{EMPTY, Explicit, Pushdown, Shared, Symbol};
use common::{Chance, check, close, figure_1, least, never, nothing, parse, recursion, ring, written};
use std::collections::BTreeSet;

/// The states that an invariant lists.
fn states(invariant: &Invariant) -> BTreeSet<(Shared, Vec<Window>)> {
    let windows = |row: &[u32]| {
        let window = |(thread, &index): (usize, &u32)| invariant.window_of(thread, index).clone();
        row.iter().enumerate().map(window).collect()
    };
    invariant.states().map(|(shared, row)| (shared, windows(row))).collect()
}

fn judged(system: &Explicit, property: &Property, evidence: &Evidence) -> Result<(), Rejection> {
    certify(&Subject::Pushdown { system, property, inputs: None }, evidence, &mut Judge::new(&|| None))
}

fn fault(system: &Explicit, text: &str) -> String {
    parse(system, text.as_bytes()).unwrap_err().to_string()
}

const TRACE: &str = "\
allways trace 1
state 0|1,4
step 0 1 1|2,4
step 1 5 2|2,5
step 1 6 3|2,4.6
end 3
";

const PRODUCTS: &str = "\
allways products 1
context 1 1: 6 6.1
product 1
rest 0: 0|1
rest 0: 1|2
rest 0: 2|2
rest 0: 3|2
rest 1: 0|- 0|4 0|4.1 0|6 0|6.1
rest 1: 1|- 1|4 1|4.1 1|6 1|6.1
rest 1: 2|5 2|5.1
rest 1: 3|4.1
next 1
end 1
";

/// Of a system without stacks, the products and the proof of what they alone do not show.
const COUNTED: &str = "\
allways counted 1
kinds 0 1
product 1
rest 0: 0|1
rest 1: 0|4
next 1
end 1
bound none
basis 0|0:1^2
end 1
";

const INVARIANT: &str = "\
allways invariant 1
window 1
below 0 1: -
below 0 2: -
below 1 4: 6 -
below 1 5: 6 -
below 1 6: 6 -
state 0|1,-
state 0|1,4
state 0|1,4+
state 0|1,6
state 0|1,6+
state 1|2,-
state 1|2,4
state 1|2,4+
state 1|2,6
state 1|2,6+
state 2|2,5
state 2|2,5+
state 3|2,4+
end 13
";

#[test]
fn a_trace_as_text() {
    let system = figure_1();
    let evidence = parse(&system, TRACE.as_bytes()).unwrap();
    assert!(matches!(evidence, Evidence::Counterexample(Counterexample::Trace(_))));
    assert_eq!(judged(&system, &never(&system, &["3|*,*"]), &evidence), Ok(()));
    assert_eq!(written(&system, &evidence), TRACE);
}

#[test]
fn an_invariant_as_text() {
    let system = figure_1();
    let evidence = parse(&system, INVARIANT.as_bytes()).unwrap();
    let Evidence::Certificate(Certificate::Invariant(invariant)) = &evidence else { panic!("an invariant") };
    assert_eq!(check(&system, &never(&system, &["3|1,*"]), invariant), Ok(()));
    assert_eq!(invariant.visible().len(), 8);
    assert_eq!(written(&system, &evidence), INVARIANT);
}

#[test]
fn layout_is_free_and_comments_are_skipped() {
    let system = figure_1();
    let loose = TRACE.replace('\n', " \r\n\n  # a remark | , +\n\t").replace("0|1,4", " 0 | 1 , 4 ");
    assert_eq!(parse(&system, loose.as_bytes()), parse(&system, TRACE.as_bytes()));
    let loose = INVARIANT.replace('\n', " \r\n\n  # a remark | , +\n\t").replace("0|1,4+", " 0 | 1 , 4+ ");
    assert_eq!(parse(&system, loose.as_bytes()), parse(&system, INVARIANT.as_bytes()));
    // The same window in other words is the same window; lines of `below` add up.
    let again = INVARIANT.replace("0|1,4\n", "0|01,004\n").replace("4: 6 -", "4: 6 6\nbelow 01 4: -");
    assert_eq!(parse(&system, again.as_bytes()), parse(&system, INVARIANT.as_bytes()));
}

#[test]
fn what_is_written_reads_back() {
    let mut round = 0;
    let mut round_trip = |system: &dyn Pushdown, invariant: Invariant| {
        let text = written(system, &Evidence::from(invariant.clone()));
        let Ok(Evidence::Certificate(Certificate::Invariant(read))) = parse(system, text.as_bytes()) else {
            panic!("{text}")
        };
        // Windows may be numbered differently where some are in no state; texts are equal either way.
        assert_eq!(written(system, &Evidence::from(read.clone())), text);
        assert_eq!((&read.below, states(&read)), (&invariant.below, states(&invariant)));
        assert_eq!(
            check(system, &Property::default(), &read).is_ok(),
            check(system, &Property::default(), &invariant).is_ok()
        );
        round += 1;
    };
    for system in [figure_1(), recursion(), ring()] {
        for window in 1..=3 {
            let good = least(&system, window);
            round_trip(&system, good);
        }
    }
    for seed in 0..500 {
        let mut chance = Chance::new(3_000_000 + seed);
        let (system, _) = chance.system();
        let start = nothing(&system, 1 + seed as usize % 3);
        if let Some(invariant) = close(&system, start, 150) {
            round_trip(&system, invariant);
        }
    }
    assert!(round > 450, "{round}");
}

#[test]
fn mistakes_are_placed() {
    let system = figure_1();
    let read = |text: &str| fault(&system, text);
    let header = "expected `allways trace 1`, `invariant`, `products`, `counted` or `shards`, found";
    assert_eq!(read(""), format!("1:1: {header} the end of the text: it seems cut short"));
    assert_eq!(read("# only a remark\n\n"), format!("3:1: {header} the end of the text: it seems cut short"));
    assert_eq!(read("allways proof 1"), format!("1:9: {header} `proof`"));
    assert_eq!(read("all ways"), format!("1:1: {header} `all`"));
    assert_eq!(
        read("allways trace 2"),
        "1:15: expected version 1 of the format, the only one known here, found `2`"
    );
    assert_eq!(read("allways trace 1 2"), "1:17: expected the end of the line, found `2`");

    let change = |from: &str, to: &str| {
        let text = if TRACE.contains(from) { TRACE } else { INVARIANT };
        assert!(text.contains(from));
        fault(&system, &text.replacen(from, to, 1))
    };
    assert_eq!(
        change("state 0|1,4\nstep", "step"),
        "2:1: expected `state STATE`, where the trace starts, found `step`"
    );
    assert_eq!(
        change("step 1 5", "step 2 5"),
        "4:6: expected the number of a thread, counted from 0, found `2`"
    );
    assert_eq!(
        change("step 1 5", "step +1 5"),
        "4:6: expected the number of a thread, counted from 0, found `+1`"
    );
    assert_eq!(change("step 1 5", "step 1 x"), "4:8: expected the line of a rule, found `x`");
    assert_eq!(change(" 2|2,5\n", "\n"), "4:9: expected a state such as `0|1,2`, found the end of the line");
    assert_eq!(
        change("2|2,5\n", "2|2,5,5\n"),
        "4:10: expected one stack for each of the 2 threads, not 3, found `2|2,5,5`"
    );
    assert_eq!(change("3|2,4.6", "3|2,4.x"), "5:16: expected a stack symbol or `-`, found `x`");
    assert_eq!(change("3|2,4.6", "4|2,4.6"), "5:10: expected a shared state of this system, found `4`");
    assert_eq!(change("end 3", "end 2"), "6:5: expected the number of steps, here 3, found `2`");
    assert_eq!(change("end 3\n", "end 3\nstep 0 1 1|2,4"), "7:1: expected nothing after `end`, found `step`");

    assert_eq!(change("window 1\n", ""), "7:1: expected `window SIZE` first, found `state`");
    assert_eq!(change("window 1", "window 0"), "2:8: expected a window of at least 1 symbol, found `0`");
    assert_eq!(change("window 1", "window 1\nwindow 1"), "3:1: expected `window` only once, found `window`");
    assert_eq!(change("below 1 4: 6", "below 1 4 6"), "5:9: expected `SYMBOL:`, found `4`");
    assert_eq!(change("below 1 4: 6", "below 1 4: 6+"), "5:12: expected a stack symbol or `-`, found `6+`");
    assert_eq!(change("state 2|2,5+", "state 2|2,5.6"), "19:11: expected at most 1 symbols, found 2");
    assert_eq!(
        change("state 2|2,5+", "state 2|2,-+"),
        "19:11: more can lie below a full window of 1 symbols only, this one has 0"
    );
    assert_eq!(
        change("state 2|2,5+", "state 7|2,5+"),
        "19:7: expected a shared state of this system, found `7|2,5+`"
    );
    assert_eq!(
        change("state 2|2,5+", "stäte 2"),
        "19:1: expected `within`, `window`, `renumbered`, `kinds`, `below`, `state` or `end`, found `stäte`"
    );
    assert_eq!(change("end 13", "end 14"), "21:5: expected the number of states, here 13, found `14`");
    let bytes = [INVARIANT.as_bytes(), "# ä".as_bytes(), &[0xC3, b'\n']].concat();
    let what = "expected text in UTF-8".to_string();
    assert_eq!(parse(&system, &bytes), Err(BadEvidence { line: 22, column: 4, what }));
}

/// What a text says of itself, as far as that can be known before it is read.
#[test]
fn a_header_says_the_kind_and_the_version() {
    let header = |text: &str| Header::read(text.as_bytes());
    let kinds = [
        ("trace", "trace"),
        ("counter-run", "run"),
        ("invariant", "invariant"),
        ("products", "products"),
        ("counted", "counted"),
        ("counter-proof", "basis"),
        ("views", "views"),
    ];
    for (word, kind) in kinds {
        let expected = Header { kind, version: VERSION, any_number: kind == "basis" };
        assert_eq!(header(&format!("\n # a remark\n  allways {word} 1\nend 0")), Some(expected));
    }
    let any = |text: &str| header(text).is_some_and(|header| header.any_number);
    assert!(any("allways products 1\nany 0\n") && any("allways counted 1\n# a remark\nany 0 1\n"));
    assert!(any("allways views 1\nthreads a=1 b=*\n") && !any("allways views 1\nthreads a=1\nsize *"));
    assert!(!any("allways products 1\nkinds 0 0\nany 0") && !any("allways trace 1\nany 0"));
    assert_eq!(header("allways trace 2").map(|header| header.version), Some(2));
    for text in [
        "",
        "allways",
        "allways trace",
        "allways proof 1",
        "allways trace 1 2",
        "always trace 1",
        "allways trace x",
    ] {
        assert_eq!(header(text), None, "{text}");
    }
    assert_eq!(Header::read(b"allways trace 1\xff"), None);
}

/// Every proper prefix that lost more than the last line break is noticed.
#[test]
fn truncation_is_noticed() {
    let system = figure_1();
    for text in [TRACE, INVARIANT] {
        for length in 0..text.len() - 1 {
            assert!(parse(&system, &text.as_bytes()[..length]).is_err(), "{length}");
        }
        assert!(parse(&system, &text.as_bytes()[..text.len() - 1]).is_ok());
    }
}

/// Evidence that makes no sense is not written, rather than written as something else.
#[test]
fn misshapen_evidence_is_not_written() {
    let system = figure_1();
    let refuse = |change: &dyn Fn(&mut Invariant)| {
        let mut invariant = least(&system, 1);
        change(&mut invariant);
        let (mut out, property) = (Vec::new(), Property::default());
        let subject = Subject::Pushdown { system: &system, property: &property, inputs: None };
        let error = write_evidence(&subject, &Certificate::from(invariant), &mut out).unwrap_err();
        assert_eq!((error.kind(), out.len()), (std::io::ErrorKind::InvalidInput, 0));
    };
    refuse(&|i| i.rows[1] = 99);
    refuse(&|i| i.rows.push(0));
    refuse(&|i| i.windows[0].push(Window { symbols: vec![EMPTY], more: false }));
    refuse(&|i| drop(i.below[0].insert(EMPTY, [1].map(Symbol).into())));
    refuse(&|i| drop(i.windows.pop()));
}

/// Texts with a few random changes are read, judged or refused; whatever is accepted is accepted by rights, which the
/// other tests are about. Here nothing may panic.
#[test]
fn hostile_texts_do_no_harm() {
    let system = figure_1();
    let property = never(&system, &["3|1,*"]);
    let pieces: &[&[u8]] = &[
        b"|",
        b",",
        b".",
        b"+",
        b"-",
        b":",
        b" ",
        b"\n",
        b"\r",
        b"#",
        b"0",
        b"1",
        b"4294967295",
        b"4294967294",
        b"18446744073709551615",
        b"99999999999999999999999",
        b"state ",
        b"step ",
        b"end ",
        b"below ",
        b"window ",
        b"within\n",
        b"any 0\n",
        b"context 1 2: 4.1\n",
        b"product 2\n",
        b"mover 0: 0|1\n",
        b"next 2\n",
        b"limit 0|0:1^*\n",
        b"basis ",
        b"^*",
        b"kinds ",
        b"kinds 0 0\n",
        b"\xC3",
        "ä".as_bytes(),
        "\u{2003}".as_bytes(),
        b"\0",
        b"-1",
        b"*",
        b"7.7.7.7",
        b"-+",
        b"1.-",
        b"--",
    ];
    let (mut read, mut accepted) = (0, 0);
    for seed in 0..60_000 {
        let mut chance = Chance::new(4_000_000 + seed);
        let within = INVARIANT
            .replace("window", &format!("{}window", PRODUCTS.replace("allways products 1", "within")));
        let texts = [TRACE, INVARIANT, PRODUCTS, COUNTED, &within];
        let mut text = texts[chance.below(texts.len())].as_bytes().to_vec();
        for _ in 0..1 + chance.below(3) {
            let at = chance.below(text.len() + 1);
            let end = (at + chance.below(4) * chance.below(4)).min(text.len());
            let piece = pieces[chance.below(pieces.len())];
            match chance.below(4) {
                0 => drop(text.splice(at..at, piece.iter().copied())),
                1 => drop(text.splice(at..end, piece.iter().copied())),
                2 => drop(text.drain(at..end)),
                _ => text.extend_from_within(at..end),
            }
        }
        match parse(&system, &text) {
            Ok(evidence) => {
                read += 1;
                let verdict =
                    judged(&system, &property, &evidence).map_err(|rejection| rejection.to_string());
                accepted += usize::from(verdict.is_ok());
                let _ = written(&system, &evidence);
            }
            Err(bad) => assert!(bad.line >= 1 && bad.column >= 1 && bad.what.len() < 300, "{bad}"),
        }
    }
    println!("{read} of 60000 read, {accepted} accepted");
    assert!(read > 3000 && accepted > 300, "{read} {accepted}");
}

/// Long lines of little content: the number of stacks is looked at before anything is stored.
#[test]
fn long_lines_are_refused_or_read() {
    let system = figure_1();
    let commas = format!("allways trace 1\nstate 0|{}", ",".repeat(5_000_000));
    assert!(fault(&system, &commas).contains("one stack for each of the 2 threads"));
    let deep = format!("allways trace 1\nstate 0|1,{}4\nend 0", "4.".repeat(1_000_000));
    assert!(parse(&system, deep.as_bytes()).is_ok());
    let word = format!("allways invariant 1\nwindow 1\nbelow 0 {}", "x".repeat(5_000_000));
    assert!(fault(&system, &word).len() < 200);
    let huge = "allways invariant 1\nwindow 18446744073709551615\nstate 0|1,4\nend 1";
    let Ok(Evidence::Certificate(Certificate::Invariant(invariant))) = parse(&system, huge.as_bytes()) else {
        panic!("{huge}")
    };
    assert!(check(&system, &Property::default(), &invariant).is_err());
}
