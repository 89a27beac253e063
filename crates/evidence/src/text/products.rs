//! Products as text: written, and read back without trust.
//!
//! A fact is `SHARED|TOP`, or `SHARED|TOP.CONTEXT` if its context is not the end of the stack; a tail is `SYMBOL.CONTEXT`
//! likewise. Lines for the same set or context add up. Products and contexts are introduced in order and counted from 1;
//! `next` names the product after a step, for each kind of threads or one for all.

use super::VERSION;
use super::lines::{BadEvidence, Line, Lines};
use crate::products::{Context, END, Fact, Product, Products, close};
use allways_model::notation::{read_symbols, show_symbols};
use allways_model::pushdown::{EMPTY, Pushdown, Symbol};
use allways_model::symmetry::Kinds;
use std::io::{self, Write};

/// Writes products.
pub(super) fn write_products(
    system: &dyn Pushdown,
    products: &Products,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "allways products {VERSION}")?;
    write_body(system, products, out)
}

/// Writes what follows the first line.
pub(super) fn write_body(system: &dyn Pushdown, products: &Products, out: &mut dyn Write) -> io::Result<()> {
    close::shape(system, products).map_err(super::misshapen)?;
    let kinds = &products.kinds;
    let leader = |kind: usize| kinds.members(kind)[0];
    if products.any_number() {
        write!(out, "any")?;
        let many = (0..kinds.threads()).filter(|&thread| products.many[kinds.kind(thread)]);
        many.into_iter().try_for_each(|thread| write!(out, " {thread}"))?;
        writeln!(out)?;
    }
    super::write_kinds(kinds, out)?;
    for (kind, contexts) in products.contexts.iter().enumerate() {
        for (context, tails) in contexts.iter().enumerate().skip(1) {
            write!(out, "context {} {context}:", leader(kind))?;
            for &(symbol, under) in tails {
                write!(out, " {}{}", system.symbol_name(leader(kind), symbol), suffix(under))?;
            }
            writeln!(out)?;
        }
    }
    for (number, product) in products.products.iter().enumerate() {
        writeln!(out, "product {}", number + 1)?;
        if let Some((kind, facts)) = &product.mover {
            write_facts(system, "mover", leader(*kind), facts, out)?;
        }
        for (kind, facts) in product.rest.iter().enumerate() {
            if !facts.is_empty() {
                write_facts(system, "rest", leader(kind), facts, out)?;
            }
        }
        write!(out, "next")?;
        let same = product.next.iter().all(|next| *next == product.next[0]);
        let shown = if same { &product.next[..1] } else { &product.next[..] };
        shown.iter().try_for_each(|next| write!(out, " {}", next + 1))?;
        writeln!(out)?;
    }
    writeln!(out, "end {}", products.products.len())
}

fn suffix(context: Context) -> String {
    if context == END { String::new() } else { format!(".{context}") }
}

/// One line for each shared state.
fn write_facts(
    system: &dyn Pushdown,
    word: &str,
    thread: usize,
    facts: &[Fact],
    out: &mut dyn Write,
) -> io::Result<()> {
    if facts.is_empty() {
        return writeln!(out, "{word} {thread}:");
    }
    for facts in facts.chunk_by(|one, other| one.shared == other.shared) {
        let shared = system.shared_name(facts[0].shared);
        write!(out, "{word} {thread}:")?;
        for fact in facts {
            let top = show_symbols(system, thread, [fact.top]);
            write!(out, " {shared}|{top}{}", suffix(fact.context))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Reads what follows the first line.
pub(super) fn read_products(system: &dyn Pushdown, lines: &mut Lines<'_>) -> Result<Products, BadEvidence> {
    let threads = system.threads();
    let mut reader =
        Reader { system, many: vec![false; threads], products: nothing(Kinds::distinct(threads)) };
    let mut settled = false;
    loop {
        const EXPECTED: &str = "`any`, `kinds`, `context`, `product`, `mover`, `rest`, `next` or `end`";
        let mut line = lines.next(EXPECTED)?;
        let word = line.word(EXPECTED)?;
        match word {
            "any" | "kinds" if settled => {
                return Err(line.expected("`any` and `kinds` before all contexts and products"));
            }
            "any" => {
                while !line.rest().is_empty() {
                    let thread = line.thread(system)?;
                    reader.many[thread] = true;
                }
                continue;
            }
            "kinds" => {
                reader.products = nothing(super::read::read_kinds(threads, &mut line)?);
                continue;
            }
            _ => {}
        }
        if !settled {
            settled = true;
            reader.settle(&line)?;
        }
        match word {
            "context" => reader.context(line)?,
            "product" => {
                line.count("this product", reader.products.products.len() + 1)?;
                let kinds = reader.products.kinds.count();
                let rest = vec![Vec::new(); kinds];
                reader.products.products.push(Product { mover: None, rest, next: Vec::new() });
            }
            "mover" => reader.mover(line)?,
            "rest" => reader.rest(line)?,
            "next" => reader.next(line)?,
            "end" => {
                line.count("products", reader.products.products.len())?;
                return close::shape(system, &reader.products)
                    .map(|()| reader.products)
                    .map_err(|what| line.wrong(what));
            }
            _ => return Err(line.expected(EXPECTED)),
        }
    }
}

fn nothing(kinds: Kinds) -> Products {
    let count = kinds.count();
    Products {
        kinds,
        many: vec![false; count],
        contexts: vec![vec![Vec::new()]; count],
        products: Vec::new(),
    }
}

struct Reader<'s> {
    system: &'s dyn Pushdown,
    /// For each thread, whether it stands for any number.
    many: Vec<bool>,
    products: Products,
}

impl Reader<'_> {
    /// The kinds are known now: are they all of many threads, or all not?
    fn settle(&mut self, line: &Line<'_>) -> Result<(), BadEvidence> {
        let kinds = &self.products.kinds;
        for thread in 0..kinds.threads() {
            let kind = kinds.kind(thread);
            let leader = kinds.members(kind)[0];
            if self.many[thread] != self.many[leader] {
                let what =
                    format!("threads {leader} and {thread} are of one kind, but `any` speaks of one only");
                return Err(line.wrong(what));
            }
            self.products.many[kind] = self.many[thread];
        }
        Ok(())
    }

    /// `THREAD`, the first of its kind.
    fn leader(&self, line: &mut Line<'_>, last: bool) -> Result<(usize, usize), BadEvidence> {
        let expected = "the number of a thread, counted from 0";
        let thread: usize = if last { line.number_before_colon(expected)? } else { line.number(expected)? };
        let kinds = &self.products.kinds;
        if thread >= kinds.threads() {
            return Err(line.expected(expected));
        }
        let leader = kinds.members(kinds.kind(thread))[0];
        if thread != leader {
            return Err(line.expected(&format!("thread {leader}, the first of this kind")));
        }
        Ok((kinds.kind(thread), thread))
    }

    /// `context THREAD CONTEXT: SYMBOL.CONTEXT…`
    fn context(&mut self, mut line: Line<'_>) -> Result<(), BadEvidence> {
        let (kind, thread) = self.leader(&mut line, false)?;
        let known = self.products.contexts[kind].len();
        let expected = format!("a context of this thread: 1 to {known}");
        let context: usize = line.number_before_colon(&expected)?;
        if context == 0 || context > known {
            return Err(line.expected(&expected));
        }
        if context == known {
            self.products.contexts[kind].push(Vec::new());
        }
        while !line.rest().is_empty() {
            let (name, under) = with_context(line.word("`SYMBOL.CONTEXT`")?);
            let under = under.ok_or_else(|| line.expected("`SYMBOL.CONTEXT`"))?;
            let symbol = self.symbol(thread, name, &line)?;
            if symbol == EMPTY {
                return Err(line.expected("`SYMBOL.CONTEXT`"));
            }
            self.products.contexts[kind][context].push((symbol, under));
        }
        Ok(())
    }

    fn symbol(&self, thread: usize, name: &str, line: &Line<'_>) -> Result<Symbol, BadEvidence> {
        let read =
            |thread| read_symbols(self.system, thread, name, 0).map(|symbols| symbols.first().copied());
        let symbol = read(thread).map_err(|_| line.expected("a stack symbol or `-`"))?;
        let kinds = &self.products.kinds;
        let differs = |&&other: &&usize| read(other) != Ok(symbol);
        if let Some(other) = kinds.members(kinds.kind(thread)).iter().find(differs) {
            let what = format!("threads {thread} and {other} are of one kind, but do not agree on this name");
            return Err(line.wrong(what));
        }
        Ok(symbol.unwrap_or(EMPTY))
    }

    fn mover(&mut self, mut line: Line<'_>) -> Result<(), BadEvidence> {
        let (kind, thread) = self.leader(&mut line, true)?;
        let facts = self.facts(thread, &mut line)?;
        let product = self.product(&line)?;
        let (mover, set) = product.mover.get_or_insert((kind, Vec::new()));
        if *mover != kind {
            return Err(line.wrong("a product has one mover".to_string()));
        }
        set.extend(facts);
        Ok(())
    }

    fn rest(&mut self, mut line: Line<'_>) -> Result<(), BadEvidence> {
        let (kind, thread) = self.leader(&mut line, true)?;
        let facts = self.facts(thread, &mut line)?;
        self.product(&line)?.rest[kind].extend(facts);
        Ok(())
    }

    fn product(&mut self, line: &Line<'_>) -> Result<&mut Product, BadEvidence> {
        self.products.products.last_mut().ok_or_else(|| line.wrong("expected `product 1` first".to_string()))
    }

    /// `SHARED|TOP.CONTEXT…`
    fn facts(&self, thread: usize, line: &mut Line<'_>) -> Result<Vec<Fact>, BadEvidence> {
        const EXPECTED: &str = "a thread state such as `0|1` or `0|1.2`";
        let mut facts = Vec::new();
        while !line.rest().is_empty() {
            let word = line.word(EXPECTED)?;
            let (shared, top) = word.split_once('|').ok_or_else(|| line.expected(EXPECTED))?;
            let found = self.system.shared_named(shared);
            let shared = found.ok_or_else(|| line.expected("a shared state of this system"))?;
            let (top, context) = with_context(top);
            let context = context.ok_or_else(|| line.expected(EXPECTED))?;
            facts.push(Fact { shared, top: self.symbol(thread, top, line)?, context });
        }
        Ok(facts)
    }

    /// `next PRODUCT`, for all kinds or for each.
    fn next(&mut self, mut line: Line<'_>) -> Result<(), BadEvidence> {
        const EXPECTED: &str = "the number of a product, counted from 1";
        let kinds = self.products.kinds.count();
        let mut next = Vec::new();
        while !line.rest().is_empty() && next.len() < kinds {
            let number: usize = line.number(EXPECTED)?;
            next.push(number.checked_sub(1).ok_or_else(|| line.expected(EXPECTED))?);
        }
        line.end()?;
        if next.len() == 1 {
            next = vec![next[0]; kinds];
        }
        if next.len() != kinds {
            return Err(line.wrong(format!("expected one number of a product, or {kinds}")));
        }
        self.product(&line)?.next = next;
        Ok(())
    }
}

/// A name and the context after the last dot, which is the end if there is no dot.
fn with_context(word: &str) -> (&str, Option<Context>) {
    match word.rsplit_once('.') {
        None => (word, Some(END)),
        Some((name, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            (name, digits.parse().ok())
        }
        Some(_) => (word, None),
    }
}
