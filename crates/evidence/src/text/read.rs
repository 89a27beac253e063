//! Reads evidence from text, trusting none of it.
//!
//! Invariant: nothing is allocated on the word of a number in the text, only for what the text itself spells out. What is
//! remembered of texts seen before, for speed, is bounded by a constant.

use super::lines::{BadEvidence, Line, Lines};
use super::products::read_products;
use crate::counted::{Counted, counters_of};
use crate::counters::text::read_basis;
use crate::{Invariant, Step, Trace, Window, shape};
use allways_model::notation::{NotAState, read_state, read_symbols};
use allways_model::property::Property;
use allways_model::pushdown::{EMPTY, Pushdown, Shared, State, Symbol};
use allways_model::symmetry::Kinds;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::hash::BuildHasher;

/// How many texts of windows and of shared states are remembered, each.
const REMEMBERED: usize = 1 << 16;

/// Reads what follows the first line of a certificate by counting.
pub(super) fn read_counted(
    system: &dyn Pushdown,
    header: &Line<'_>,
    lines: &mut Lines<'_>,
) -> Result<Counted, BadEvidence> {
    let products = read_products(system, lines)?;
    let counting = counters_of(system, &Property::default(), &products, &|| None)
        .map_err(|what| header.bad_here(what.to_string()))?;
    let basis = read_basis(&counting.counters, lines)?;
    Ok(Counted { products, basis })
}

/// Reads what follows the first line of an invariant.
pub(super) fn read_invariant<'t>(
    system: &dyn Pushdown,
    lines: &mut Lines<'t>,
) -> Result<Invariant, BadEvidence> {
    Reader::new(system).invariant(lines)
}

/// Reads what follows the first line of a trace.
pub(super) fn read_trace(
    system: &dyn Pushdown,
    mut line: Line<'_>,
    lines: &mut Lines<'_>,
) -> Result<Trace, BadEvidence> {
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

/// A number for each thread.
pub(super) fn read_kinds(threads: usize, line: &mut Line<'_>) -> Result<Kinds, BadEvidence> {
    let expected = format!("a number for each of the {threads} threads");
    let labels: Result<Vec<u32>, _> = (0..threads).map(|_| line.number(&expected)).collect();
    let kinds = Kinds::new(labels?);
    line.end()?;
    Ok(kinds)
}

/// Reads an invariant; one and the same window gets one number, however often and in whatever way it is written.
struct Reader<'t, 's> {
    system: &'s dyn Pushdown,
    invariant: Invariant,
    /// Whether something has been said that depends on the kinds.
    settled: bool,
    /// For each kind, the numbers of its windows, found by the hash of the window.
    numbers: Vec<HashTable<u32>>,
    hasher: DefaultHashBuilder,
    /// For each kind; a text means the same on all its threads.
    window_texts: Vec<HashMap<&'t str, u32>>,
    shared_texts: HashMap<&'t str, Shared>,
}

impl<'t, 's> Reader<'t, 's> {
    fn new(system: &'s dyn Pushdown) -> Reader<'t, 's> {
        let threads = system.threads();
        Reader {
            system,
            // Window 0 stands for "not yet said".
            invariant: Invariant::new(Kinds::distinct(threads), 0),
            settled: false,
            numbers: vec![HashTable::new(); threads],
            hasher: DefaultHashBuilder::default(),
            window_texts: vec![HashMap::new(); threads],
            shared_texts: HashMap::new(),
        }
    }

    fn invariant(mut self, lines: &mut Lines<'t>) -> Result<Invariant, BadEvidence> {
        loop {
            const EXPECTED: &str = "`within`, `window`, `renumbered`, `kinds`, `below`, `state` or `end`";
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
                "within" if said || self.settled || self.invariant.within.is_some() => {
                    return Err(line.expected("`within` only once, before all else"));
                }
                "within" => {
                    line.end()?;
                    self.invariant.within = Some(Box::new(read_products(self.system, lines)?));
                }
                "renumbered" => {
                    line.end()?;
                    self.invariant.renumbered = true;
                }
                "kinds" => self.kinds(line)?,
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

    /// `kinds NUMBER…`, one for each thread.
    fn kinds(&mut self, mut line: Line<'t>) -> Result<(), BadEvidence> {
        if self.settled {
            return Err(line.expected("`kinds` only once, before all `below` and states"));
        }
        self.settled = true;
        let kinds = read_kinds(self.system.threads(), &mut line)?;
        let (within, renumbered) = (self.invariant.within.take(), self.invariant.renumbered);
        self.invariant = Invariant { within, renumbered, ..Invariant::new(kinds, self.invariant.window) };
        Ok(())
    }

    /// `below THREAD SYMBOL: SYMBOL… -`. Names may end with a colon themselves; only the last one is ours.
    fn below(&mut self, mut line: Line<'t>) -> Result<(), BadEvidence> {
        self.settled = true;
        let thread = line.thread(self.system)?;
        let kind = self.invariant.kinds.kind(thread);
        let leader = self.invariant.kinds.members(kind)[0];
        if thread != leader {
            return Err(line.expected(&format!("thread {leader}, the first of this kind")));
        }
        let above = line.word("`SYMBOL:`")?;
        let Some((name, above)) =
            above.strip_suffix(':').and_then(|name| Some((name, self.system.symbol_named(thread, name)?)))
        else {
            return Err(line.expected("`SYMBOL:`"));
        };
        self.same_names(thread, name, &[above], 0, &line)?;
        self.invariant.below[kind].entry(above).or_default();
        while !line.rest().is_empty() {
            let name = line.word("a stack symbol or `-`")?;
            let symbol = if name == "-" { Some(EMPTY) } else { self.system.symbol_named(thread, name) };
            let under = symbol.ok_or_else(|| line.expected("a stack symbol or `-`"))?;
            if under != EMPTY {
                self.same_names(thread, name, &[under], 0, &line)?;
            }
            self.invariant.below[kind].entry(above).or_default().insert(under);
        }
        Ok(())
    }

    /// Requires that a text, which starts `at` so many bytes into the current word, means these symbols on all threads
    /// of a kind. So whatever is said of one of them can be said of the others.
    fn same_names(
        &self,
        thread: usize,
        text: &str,
        symbols: &[Symbol],
        at: usize,
        line: &Line<'_>,
    ) -> Result<(), BadEvidence> {
        let kinds = &self.invariant.kinds;
        let differs = |&&other: &&usize| {
            other != thread && read_symbols(self.system, other, text, at).ok().as_deref() != Some(symbols)
        };
        kinds.members(kinds.kind(thread)).iter().find(differs).map_or(Ok(()), |other| {
            let what = format!("threads {thread} and {other} are of one kind, but do not agree on this name");
            Err(line.not_a_state(NotAState { at, what }))
        })
    }

    fn state(&mut self, mut line: Line<'t>) -> Result<(), BadEvidence> {
        self.settled = true;
        let text = line.state(self.system)?;
        let (shared, windows) = text.split_once('|').unwrap_or((text, ""));
        let mut at = shared.len() + 1;
        let shared = self.shared(shared.trim_end(), &line)?;
        self.invariant.rows.push(shared.0);
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
        let kind = self.invariant.kinds.kind(thread);
        if let Some(&number) = self.window_texts[kind].get(text) {
            return Ok(number);
        }
        let (name, more) = text.strip_suffix('+').map_or((text, false), |name| (name, true));
        let symbols = read_symbols(self.system, thread, name, at).map_err(|fault| line.not_a_state(fault))?;
        let window = Window { symbols, more };
        if let Some(what) = shape::window_fault(self.invariant.window, &window) {
            return Err(line.not_a_state(NotAState { at, what }));
        }
        let hash = self.hasher.hash_one(&window);
        let windows = &self.invariant.windows[kind];
        let known = self.numbers[kind].find(hash, |&number| windows[number as usize] == window).copied();
        let remember = self.window_texts[kind].len() < REMEMBERED;
        if remember || known.is_none() {
            self.same_names(thread, name, &window.symbols, at, line)?;
        }
        let number = match known {
            Some(number) => number,
            None => self.add_window(kind, window, hash, line)?,
        };
        if remember {
            self.window_texts[kind].insert(text, number);
        }
        Ok(number)
    }

    fn add_window(
        &mut self,
        kind: usize,
        window: Window,
        hash: u64,
        line: &Line<'t>,
    ) -> Result<u32, BadEvidence> {
        let (hasher, windows) = (&self.hasher, &mut self.invariant.windows[kind]);
        let number = u32::try_from(windows.len()).map_err(|_| line.expected("fewer than 2^32 windows"))?;
        windows.push(window);
        self.numbers[kind].insert_unique(hash, number, |&number| hasher.hash_one(&windows[number as usize]));
        Ok(number)
    }
}
