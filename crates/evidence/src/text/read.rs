//! Reads evidence from text, trusting none of it.
//!
//! Invariant: nothing is allocated on the word of a number in the text, only for what the text itself spells out. What is
//! remembered of texts seen before, for speed, is bounded by a constant.

use super::{Evidence, VERSION};
use crate::{Invariant, Step, Trace, Window, shape};
use allways_model::notation::{NotAState, read_state, read_symbols};
use allways_model::pushdown::{EMPTY, Pushdown, Shared, State};
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::fmt;
use std::hash::BuildHasher;
use std::str::FromStr;

/// How many texts of windows and of shared states are remembered, each.
const REMEMBERED: usize = 1 << 16;

/// Why a text is not evidence for a system, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadEvidence {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// What was expected there.
    pub what: String,
}

impl fmt::Display for BadEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for BadEvidence {}

/// Reads evidence for a system, in the format of [this module](super).
pub fn read_evidence(system: &dyn Pushdown, text: &[u8]) -> Result<Evidence, BadEvidence> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let before = &text[..error.valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
        BadEvidence { line, column, what: "expected text in UTF-8".to_string() }
    })?;
    let mut lines = Lines { rest: Some(text), number: 0 };
    let expected = "`allways trace 1` or `allways invariant 1`";
    let mut header = lines.next(expected)?;
    if header.word(expected)? != "allways" {
        return Err(header.expected(expected));
    }
    let kind = header.word(expected)?;
    if kind != "trace" && kind != "invariant" {
        return Err(header.expected(expected));
    }
    if header.number::<u32>("the version of the format")? != VERSION {
        return Err(header.expected("version 1 of the format, the only one known here"));
    }
    header.end()?;
    let evidence = match kind {
        "trace" => Evidence::Trace(trace(system, &mut lines)?),
        _ => Evidence::Invariant(Reader::new(system).invariant(&mut lines)?),
    };
    match lines.next("nothing more") {
        Ok(mut line) => {
            line.word("nothing more")?;
            Err(line.expected("nothing after `end`"))
        }
        Err(_) => Ok(evidence),
    }
}

fn trace(system: &dyn Pushdown, lines: &mut Lines<'_>) -> Result<Trace, BadEvidence> {
    let mut line = lines.next("`state STATE`, where the trace starts")?;
    if line.word("`state STATE`")? != "state" {
        return Err(line.expected("`state STATE`, where the trace starts"));
    }
    let mut trace = Trace { initial: whole_state(system, &mut line)?, steps: Vec::new() };
    loop {
        const EXPECTED: &str = "`step THREAD LINE STATE` or `end STEPS`";
        let mut line = lines.next(EXPECTED)?;
        match line.word(EXPECTED)? {
            "step" => {
                let thread = line.thread(system)?;
                let source = line.number("the line of a rule")?;
                trace.steps.push(Step { thread, line: source, state: whole_state(system, &mut line)? });
            }
            "end" => {
                line.count("steps", trace.steps.len())?;
                return Ok(trace);
            }
            _ => return Err(line.expected(EXPECTED)),
        }
    }
}

fn whole_state(system: &dyn Pushdown, line: &mut Line<'_>) -> Result<State, BadEvidence> {
    let text = line.state(system)?;
    read_state(system, text).map_err(|fault| line.not_a_state(fault))
}

/// Reads an invariant; one and the same window gets one number, however often and in whatever way it is written.
struct Reader<'t, 's> {
    system: &'s dyn Pushdown,
    invariant: Invariant,
    /// For each thread, the numbers of its windows, found by the hash of the window.
    numbers: Vec<HashTable<u32>>,
    hasher: DefaultHashBuilder,
    window_texts: Vec<HashMap<&'t str, u32>>,
    shared_texts: HashMap<&'t str, Shared>,
}

impl<'t, 's> Reader<'t, 's> {
    fn new(system: &'s dyn Pushdown) -> Reader<'t, 's> {
        let threads = system.threads();
        Reader {
            system,
            // Window 0 stands for "not yet said".
            invariant: Invariant::new(threads, 0),
            numbers: vec![HashTable::new(); threads],
            hasher: DefaultHashBuilder::default(),
            window_texts: vec![HashMap::new(); threads],
            shared_texts: HashMap::new(),
        }
    }

    fn invariant(mut self, lines: &mut Lines<'t>) -> Result<Invariant, BadEvidence> {
        loop {
            const EXPECTED: &str = "`window`, `below`, `state` or `end`";
            let mut line = lines.next(EXPECTED)?;
            let word = line.word(EXPECTED)?;
            let said = self.invariant.window > 0;
            match word {
                "window" if said => return Err(line.expected("`window` only once")),
                "window" => {
                    self.invariant.window = line.number("the size of the window")?;
                    if self.invariant.window == 0 {
                        return Err(line.expected("a window of at least 1 symbol"));
                    }
                    line.end()?;
                }
                "below" => self.below(line)?,
                "state" | "end" if !said => return Err(line.expected("`window SIZE` first")),
                "state" => self.state(line)?,
                "end" => {
                    line.count("states", self.invariant.states().len())?;
                    return Ok(self.invariant);
                }
                _ => return Err(line.expected(EXPECTED)),
            }
        }
    }

    /// `below THREAD SYMBOL: SYMBOL… -`. Names may end with a colon themselves; only the last one is ours.
    fn below(&mut self, mut line: Line<'t>) -> Result<(), BadEvidence> {
        let thread = line.thread(self.system)?;
        let above = line.word("`SYMBOL:`")?;
        let Some(above) = above.strip_suffix(':').and_then(|name| self.system.symbol_named(thread, name))
        else {
            return Err(line.expected("`SYMBOL:`"));
        };
        let unders = self.invariant.below[thread].entry(above).or_default();
        while !line.rest().is_empty() {
            let under = line.word("a stack symbol or `-`")?;
            let symbol = if under == "-" { Some(EMPTY) } else { self.system.symbol_named(thread, under) };
            unders.insert(symbol.ok_or_else(|| line.expected("a stack symbol or `-`"))?);
        }
        Ok(())
    }

    fn state(&mut self, mut line: Line<'t>) -> Result<(), BadEvidence> {
        let text = line.state(self.system)?;
        let (shared, windows) = text.split_once('|').unwrap_or((text, ""));
        let mut at = shared.len() + 1;
        let shared = self.shared(shared.trim_end(), &line)?;
        self.invariant.rows.push(shared);
        for (thread, window) in windows.split(',').enumerate() {
            let start = at + window.len() - window.trim_start().len();
            let number = self.window(thread, window.trim(), start, &line)?;
            self.invariant.rows.push(number);
            at += window.len() + 1;
        }
        Ok(())
    }

    fn shared(&mut self, text: &'t str, line: &Line<'t>) -> Result<Shared, BadEvidence> {
        if let Some(&shared) = self.shared_texts.get(text) {
            return Ok(shared);
        }
        let found = self.system.shared_named(text);
        let shared = found.ok_or_else(|| line.expected("a shared state of this system"))?;
        if self.shared_texts.len() < REMEMBERED {
            self.shared_texts.insert(text, shared);
        }
        Ok(shared)
    }

    /// The number of a window, which starts `at` so many bytes into the state.
    fn window(
        &mut self,
        thread: usize,
        text: &'t str,
        at: usize,
        line: &Line<'t>,
    ) -> Result<u32, BadEvidence> {
        if let Some(&number) = self.window_texts[thread].get(text) {
            return Ok(number);
        }
        let (name, more) = text.strip_suffix('+').map_or((text, false), |name| (name, true));
        let symbols = read_symbols(self.system, thread, name, at).map_err(|fault| line.not_a_state(fault))?;
        let window = Window { symbols, more };
        if let Some(what) = shape::window_fault(self.invariant.window, &window) {
            return Err(line.not_a_state(NotAState { at, what }));
        }
        let (hasher, windows) = (&self.hasher, &mut self.invariant.windows[thread]);
        let entry = self.numbers[thread].entry(
            hasher.hash_one(&window),
            |&number| windows[number as usize] == window,
            |&number| hasher.hash_one(&windows[number as usize]),
        );
        let number = match entry {
            Entry::Occupied(number) => *number.get(),
            Entry::Vacant(vacant) => {
                let too_many = || line.expected("fewer than 2^32 windows");
                let number = u32::try_from(windows.len()).map_err(|_| too_many())?;
                vacant.insert(number);
                windows.push(window);
                number
            }
        };
        if self.window_texts[thread].len() < REMEMBERED {
            self.window_texts[thread].insert(text, number);
        }
        Ok(number)
    }
}

/// The lines that say something.
struct Lines<'t> {
    rest: Option<&'t str>,
    number: usize,
}

impl<'t> Lines<'t> {
    /// The next one; it has at least one word.
    fn next(&mut self, expected: &str) -> Result<Line<'t>, BadEvidence> {
        while let Some(rest) = self.rest {
            let (text, rest) = rest.split_once('\n').map_or((rest, None), |(text, rest)| (text, Some(rest)));
            self.rest = rest;
            self.number += 1;
            let text = text.trim_end();
            if !text.is_empty() && !text.trim_start().starts_with('#') {
                return Ok(Line { number: self.number, text, word: 0, next: 0 });
            }
        }
        Err(BadEvidence {
            line: self.number.max(1),
            column: 1,
            what: format!("expected {expected}, found the end of the text: it seems cut short"),
        })
    }
}

/// One line, read word by word.
struct Line<'t> {
    number: usize,
    text: &'t str,
    /// Where the current word, or state, starts.
    word: usize,
    /// Where it ends.
    next: usize,
}

impl<'t> Line<'t> {
    fn rest(&self) -> &'t str {
        self.text[self.next..].trim_start()
    }

    fn word(&mut self, expected: &str) -> Result<&'t str, BadEvidence> {
        let rest = self.rest();
        let word = rest.split_whitespace().next().unwrap_or_default();
        self.word = self.text.len() - rest.len();
        self.next = self.word + word.len();
        if word.is_empty() { Err(self.expected(expected)) } else { Ok(word) }
    }

    /// A plain decimal number: no sign, which [`str::parse`] would accept.
    fn number<N: FromStr>(&mut self, expected: &str) -> Result<N, BadEvidence> {
        let word = self.word(expected)?;
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        word.parse().ok().filter(|_| digits).ok_or_else(|| self.expected(expected))
    }

    fn thread(&mut self, system: &dyn Pushdown) -> Result<usize, BadEvidence> {
        let expected = "the number of a thread, counted from 0";
        let thread = self.number(expected)?;
        if thread < system.threads() { Ok(thread) } else { Err(self.expected(expected)) }
    }

    /// The rest of the line, a state with as many stacks as there are threads.
    fn state(&mut self, system: &dyn Pushdown) -> Result<&'t str, BadEvidence> {
        let rest = self.rest();
        self.word = self.text.len() - rest.len();
        self.next = self.text.len();
        let threads = system.threads();
        let stacks = rest.find('|').map(|bar| rest[bar..].bytes().filter(|&byte| byte == b',').count() + 1);
        match stacks {
            None => Err(self.expected("a state such as `0|1,2`")),
            Some(stacks) if stacks != threads => {
                Err(self.expected(&format!("one stack for each of the {threads} threads, not {stacks}")))
            }
            Some(_) => Ok(rest),
        }
    }

    /// The number after `end`, which must be this one.
    fn count(&mut self, of: &str, found: usize) -> Result<(), BadEvidence> {
        let expected = format!("the number of {of}, here {found}");
        if self.number::<usize>(&expected)? != found {
            return Err(self.expected(&expected));
        }
        self.end()
    }

    fn end(&mut self) -> Result<(), BadEvidence> {
        if self.rest().is_empty() {
            return Ok(());
        }
        self.word("the end of the line")?;
        Err(self.expected("the end of the line"))
    }

    /// A complaint about the current word.
    fn expected(&self, expected: &str) -> BadEvidence {
        const LONG: usize = 20;
        let found = &self.text[self.word..self.next];
        let mut shown: String = found.chars().take(LONG).flat_map(char::escape_debug).collect();
        if found.chars().nth(LONG).is_some() {
            shown.push('…');
        }
        let what = match found {
            "" => format!("expected {expected}, found the end of the line"),
            _ => format!("expected {expected}, found `{shown}`"),
        };
        self.bad(self.word, what)
    }

    /// A complaint about the current word, which is a state.
    fn not_a_state(&self, fault: NotAState) -> BadEvidence {
        self.bad(self.word + fault.at, fault.what)
    }

    fn bad(&self, at: usize, what: String) -> BadEvidence {
        // Lossy where the place is not at a character: a column that is off is better than a panic.
        let before =
            String::from_utf8_lossy(&self.text.as_bytes()[..at.min(self.text.len())]).chars().count();
        BadEvidence { line: self.number, column: before + 1, what }
    }
}
