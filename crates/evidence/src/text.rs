//! Evidence as text: a format that people can read and other programs can write.
//!
//! The first line names the kind and the version of the format: the [`Header`]. Words are separated by spaces; blank lines and lines that
//! start with `#` are skipped. States are written as everywhere (`0|1.4.4,2`), threads count from 0. The last line says
//! how many steps or states there were, so that a file that was cut short is noticed.
//!
//! A trace: where it starts, then for each step the thread, the line of the rule, and the state afterwards.
//!
//! ```text
//! allways trace 1
//! state 0|1,4
//! step 0 3 1|2,4
//! end 1
//! ```
//!
//! Where values were given to the choices of a program, they come before that: `choice 3 17 99` says that the choice with the
//! number 3, in the order of the program, is 17 or 99; `shared 0 5` and `local 1 0 5`, that the shared slot 0, or the local slot
//! 0 of procedure 1, starts with 5.
//!
//! An invariant: the size `z` of the window; for each thread and symbol what can lie directly under it, `-` for the end of
//! the stack; and the abstract states, in which `+` after a window says that more lies below it. Here `z` is 2:
//!
//! ```text
//! allways invariant 1
//! window 2
//! below 1 4: 6 -
//! below 1 6: 4
//! state 0|1,4
//! state 0|1,4.6+
//! end 2
//! ```
//!
//! `window` comes before the states; `below` may come anywhere between, and lines for the same symbol add up. States may
//! be repeated. Threads that are interchangeable are declared by a line `kinds`, before all `below` and states, with a
//! number for each thread; threads with equal numbers are of one kind. Then one state stands for all renamings, and `below`
//! names the first thread of a kind, for all of them. Here threads 0 and 1 are of one kind:
//!
//! ```text
//! kinds 0 0 1
//! below 0 4: -
//! state 0|1,4,7
//! ```
//!
//! Products of sets of thread states ([`products`](crate::products)): the threads that stand for any number of them, if
//! any; kinds as above; for each kind, named by its first thread, contexts with their tails; then product by product the
//! set of its mover, if it has one, those of the rest, and the product after a step. Here two threads of one kind take
//! turns, and whoever moved last is the mover:
//!
//! ```text
//! allways products 1
//! kinds 0 0
//! product 1
//! mover 0: 0|1 1|2
//! rest 0: 0|1 1|1
//! next 1
//! end 1
//! ```
//!
//! A proof for a counter system ([`counted`](crate::counted)) starts with `allways counted 1`. Then come the lines of the
//! products that bound its thread states, and those of a basis as below, whose shared states and places are named as above,
//! with the first thread of a kind and a colon before each place.
//!
//! Of a counter system, configurations are written `shared|local,local^3`; of a net, without the shared state. A run: where it
//! starts, then for each step the rule, counted from 1, its line, and the configuration afterwards.
//!
//! ```text
//! allways counter-run 1
//! state 0|0^2
//! step 3 7 1|0,1
//! end 1
//! ```
//!
//! A [basis](crate::counters::basis): the limits, in which `^*` is any number, or `bound none`; weights, with the most that is
//! allowed, those of local states and those of shared states (`1^2` is: 1 weighs 2); then the members.
//!
//! ```text
//! allways counter-proof 1
//! bound 2
//! limit 0|0^*,1
//! limit 1|0^*
//! weights 3 1^2 0,1
//! basis 0|1^2
//! end 1
//! ```
//!
//! [Views](crate::views) of a program: `threads` says how many there are of each template, `*` for any number; `size` how many
//! are looked at together; a line `anchored` that the threads of which there is a known number are in every view; each line
//! `weights` gives weights to locations, for the sum `#0`, `#1`, …; each `row` has sorted locations, by their numbers, and a
//! formula in SMT-LIB 2 over shared variables, sums, and local variables of the threads in this order. Combinations without a
//! row do not occur.
//!
//! ```text
//! allways views 1
//! threads client=*
//! size 2
//! weights 3=1 4=1
//! row 1 2: (and (= |s| |l@1|) (not (= |l@0| |l@1|)))
//! end 1
//! ```
//!
//! An invariant that is within products has the word `within` and the lines of the products, their `end` included, between
//! its first line and all others.
//!
//! One of a program whose states are listed up to renumbering of threads has the line `renumbered` after that of its window.
//!
//! [Shards](crate::shards): `kinds` as above; then for each shard how many states it lists, its digest, and the name of its file
//! in the same folder.
//!
//! ```text
//! allways shards 1
//! shard 4711 6c62272e07bb014262b821756295c58d proof.0
//! end 1
//! ```
//!
//! A [run without progress](crate::lasso) of a program: what it shows, where it starts, then for each step the thread, the edge,
//! counted among those of its location, and the [state](crate::listed::text_of) afterwards; `cycle` stands before the first step
//! of the cycle. `starved 0 1` says that thread 1 does not come to where property 0 promises, `stuck 1` that it cannot move any more.
//!
//! ```text
//! allways lasso 1
//! starved 0 1
//! state 0 | 2 | 2
//! cycle
//! step 0 0 1 | 3 | 2
//! step 0 0 0 | 2 | 2
//! end 2
//! ```
//!
//! A [ranking](crate::ranking): all states; then for each property and thread the ranks of the states, in order, `-` for those in
//! which nothing is pending, and the helpful threads of ranks; and for each thread, if that was asked, how far each state is from
//! one in which it can move.
//!
//! ```text
//! allways ranking 1
//! state 0 | 2
//! state 1 | 3
//! goal 0 0
//! ranks 0 -
//! helpful 0 0
//! escape 0
//! steps 0 0
//! end 2
//! ```
//!
//! A stack of more than one symbol has a context in place of what lies below its top: `0|3.1` is the symbol 3 above all that
//! context 1 stands for, and `context 0 1: 4 5.1` says that this is 4 alone, or 5 above the same again.
//!
//! Threads of one kind must have the same names for symbols. Reading gives well-formed evidence or a message with its place;
//! whether it proves anything is for the checkers to say. Reading takes memory linear in the text, whatever the text says.
//!
//! What is written does not depend on the order in which states were found and numbered: where order means nothing, it is
//! that of the names.

mod inputs;
pub(crate) mod lines;
mod products;
mod progress;
mod read;
mod shards;
mod write;

pub use inputs::read_inputs;
pub use lines::BadEvidence;
pub use write::{show_abstract, show_window};

use crate::{Certificate, Counterexample, Evidence, EvidenceRef, Subject, counters, views};
use lines::Lines;
use std::io::{self, BufWriter, Write};

/// The version of the format, after the kind on the first line.
pub const VERSION: u32 = 1;

/// The word for each kind of evidence on the first line, and what the kind is [called](Evidence::kind).
const KINDS: [(&str, &str); 10] = [
    ("trace", "trace"),
    ("counter-run", "run"),
    ("invariant", "invariant"),
    ("products", "products"),
    ("counted", "counted"),
    ("counter-proof", "basis"),
    ("views", "views"),
    ("shards", "shards"),
    ("lasso", "lasso"),
    ("ranking", "ranking"),
];

/// What a text says about itself before it says anything else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// What the evidence is [called](Evidence::kind).
    pub kind: &'static str,
    /// The version of the format; [`VERSION`] is the one that can be read.
    pub version: u32,
    /// Whether it says that it is about any number of threads.
    pub any_number: bool,
}

impl Header {
    /// The header of a text that claims to be evidence; a text that does, and then is wrong, is rejected evidence, and
    /// another is bad input.
    pub fn read(text: &[u8]) -> Option<Header> {
        let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
        let mut words = str::from_utf8(lines.next()?).ok()?.split_ascii_whitespace();
        if words.next() != Some("allways") {
            return None;
        }
        let word = words.next()?;
        let (_, kind) = KINDS.into_iter().find(|&(known, _)| known == word)?;
        let version = words.next()?.parse().ok()?;
        let second = lines.next().unwrap_or_default();
        let any_number = match kind {
            "products" | "counted" => second.starts_with(b"any "),
            "views" => second.windows(2).any(|pair| pair == b"=*"),
            _ => kind == "basis",
        };
        words.next().is_none().then_some(Header { kind, version, any_number })
    }
}

/// Writes evidence about a subject, one line after another; [`read_evidence`] reads it back. Evidence that does not fit the
/// subject is an error of the kind [`io::ErrorKind::InvalidInput`]. Threads of one kind must have the same names for symbols.
pub fn write_evidence<'e>(
    subject: &Subject<'_>,
    evidence: impl Into<EvidenceRef<'e>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    match write_all(subject, evidence.into(), &mut out) {
        Ok(()) => out.flush(),
        Err(error) => {
            // What does not fit is noticed before much is written; nothing of it reaches the destination.
            drop(out.into_parts());
            Err(error)
        }
    }
}

fn write_all(subject: &Subject<'_>, evidence: EvidenceRef<'_>, out: &mut dyn Write) -> io::Result<()> {
    use Certificate::{Basis, Counted, Invariant, Products, Ranking, Shards, Views};
    use Counterexample::{Lasso, Run, Trace};
    use EvidenceRef::{Certificate as Safe, Counterexample as Unsafe};
    if let Some((word, _)) = KINDS.into_iter().find(|&(_, kind)| kind == evidence.kind()) {
        writeln!(out, "allways {word} {VERSION}")?;
    }
    match (subject, evidence) {
        (&Subject::Pushdown { system, inputs, .. }, Unsafe(Trace(trace))) => {
            inputs.map_or(Ok(()), |inputs| inputs::write_inputs(inputs, out))?;
            write::write_trace(system, trace, out)
        }
        (&Subject::Pushdown { system, .. }, Safe(Invariant(invariant))) => {
            write::write_invariant(system, invariant, out)
        }
        (&Subject::Pushdown { system, .. }, Safe(Products(products))) => {
            products::write_products(system, products, out)
        }
        (&Subject::Pushdown { system, .. }, Safe(Counted(counted))) => {
            write::write_counted(system, counted, out)
        }
        (Subject::Pushdown { .. }, Safe(Shards(listed))) => shards::write_shards(listed, out),
        (Subject::Counters(system), Unsafe(Run(run))) => counters::text::write_run(system, run, out),
        (Subject::Counters(system), Safe(Basis(basis))) => counters::text::write_basis(system, basis, out),
        (Subject::Program { program, .. }, Safe(Views(views))) => {
            views::text::write_views(program, views, out)
        }
        (Subject::Program { program, .. }, Unsafe(Lasso(lasso))) => {
            progress::write_lasso(program, lasso, out)
        }
        (Subject::Program { program, .. }, Safe(Ranking(ranking))) => {
            let counts = subject.fixed_counts().map_err(misshapen)?;
            progress::write_ranking(program, &counts, ranking, out)
        }
        _ => Err(misshapen(format!("`{}` is not about a {}", evidence.kind(), subject.noun()))),
    }
}

fn misshapen(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Reads evidence about a subject: a value that fits it, or a message with its place.
pub fn read_evidence(subject: &Subject<'_>, text: &[u8]) -> Result<Evidence, BadEvidence> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let before = &text[..error.valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        BadEvidence { line, column, what: "expected text in UTF-8".to_string() }
    })?;
    let expected = match subject {
        Subject::Pushdown { .. } => "`allways trace 1`, `invariant`, `products`, `counted` or `shards`",
        Subject::Counters(_) => "`allways counter-run 1` or `counter-proof`",
        Subject::Program { .. } => "`allways views 1`, `lasso` or `ranking`",
    };
    let mut lines = Lines::new(text);
    let mut header = lines.next(expected)?;
    if header.word(expected)? != "allways" {
        return Err(header.expected(expected));
    }
    let kind = header.word(expected)?;
    let unknown = header.expected(expected);
    if header.number::<u32>("the version of the format")? != VERSION {
        return Err(header.expected("version 1 of the format, the only one known here"));
    }
    header.end()?;
    let evidence = match (subject, kind) {
        (&Subject::Pushdown { system, .. }, "trace") => {
            let first = inputs::skip_inputs(&mut lines)?;
            read::read_trace(system, first, &mut lines)?.into()
        }
        (&Subject::Pushdown { system, .. }, "invariant") => read::read_invariant(system, &mut lines)?.into(),
        (&Subject::Pushdown { system, .. }, "products") => {
            products::read_products(system, &mut lines)?.into()
        }
        (&Subject::Pushdown { system, .. }, "counted") => {
            read::read_counted(system, &header, &mut lines)?.into()
        }
        (&Subject::Pushdown { system, .. }, "shards") => shards::read_shards(system, &mut lines)?.into(),
        (Subject::Counters(system), "counter-run") => counters::text::read_run(system, &mut lines)?.into(),
        (Subject::Counters(system), "counter-proof") => {
            counters::text::read_basis(system, &mut lines)?.into()
        }
        (Subject::Program { program, .. }, "views") => views::text::read_views(program, &mut lines)?.into(),
        (Subject::Program { program, .. }, "lasso" | "ranking") => {
            let counts = subject.fixed_counts().map_err(|what| header.bad_here(what))?;
            match kind {
                "lasso" => progress::read_lasso(program, &counts, &mut lines)?.into(),
                _ => progress::read_ranking(program, &counts, &mut lines)?.into(),
            }
        }
        _ => return Err(unknown),
    };
    match lines.next("nothing more") {
        Ok(mut line) => {
            line.word("nothing more")?;
            Err(line.expected("nothing after `end`"))
        }
        Err(_) => Ok(evidence),
    }
}
