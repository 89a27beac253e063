//! Products as text: written, and read back without trust.
//!
//! A fact is `SHARED|TOP`, or `SHARED|TOP.CONTEXT` if its context is not the end of the stack; a tail is `SYMBOL.CONTEXT`
//! likewise. Lines for the same set or context add up. Products and contexts are introduced in order and counted from 1;
//! `next` names the product after a step, for each kind of threads or one for all.

use super::lines::{BadEvidence, Line, Lines};
use crate::products::{Context, END, Fact, Product, Products, close};
use allways_model::notation::{read_symbols, show_symbols};
use allways_model::pushdown::{EMPTY, Pushdown, Symbol};
use allways_model::symmetry::Kinds;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Writes what follows the first line.
pub(super) fn write_products(
    system: &dyn Pushdown,
    products: &Products,
    out: &mut dyn Write,
) -> io::Result<()> {
    close::shape(system, products).map_err(super::misshapen)?;
    let kinds = &products.kinds;
    let leader = |kind: usize| kinds.members(kind)[0];
    if products.any_number() {
        write!(out, "any")?;
        let many = (0..kinds.threads()).filter(|&thread| products.many[kinds.kind(thread)]);
        many.into_iter().try_for_each(|thread| write!(out, " {thread}"))?;
        writeln!(out)?;
    }
    super::write::write_kinds(kinds, out)?;
    let orders: Vec<Order> =
        (0..kinds.count()).map(|kind| Order::new(system, products, kind, leader(kind))).collect();
    for (kind, order) in orders.iter().enumerate() {
        for (number, &context) in order.contexts.iter().enumerate().skip(1) {
            write!(out, "context {} {number}:", leader(kind))?;
            let tails = &products.contexts[kind][context as usize];
            let named = |&(symbol, under): &(Symbol, Context)| {
                (system.symbol_name(leader(kind), symbol), order.numbers[under as usize])
            };
            let tails: BTreeSet<(String, Context)> = tails.iter().map(named).collect();
            tails.iter().try_for_each(|(name, under)| write!(out, " {name}{}", suffix(*under)))?;
            writeln!(out)?;
        }
    }
    for (number, product) in products.products.iter().enumerate() {
        writeln!(out, "product {}", number + 1)?;
        if let Some((kind, facts)) = &product.mover {
            write_facts(system, "mover", leader(*kind), facts, &orders[*kind], out)?;
        }
        for (kind, facts) in product.rest.iter().enumerate() {
            if !facts.is_empty() {
                write_facts(system, "rest", leader(kind), facts, &orders[kind], out)?;
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

/// The contexts of a kind of threads in an order that does not depend on their numbers: by where facts use them, and by
/// their tails, in turn. Those that nothing tells apart stay in the order in which they are.
struct Order {
    /// The contexts, in order.
    contexts: Vec<Context>,
    /// For each context, its place.
    numbers: Vec<Context>,
}

impl Order {
    fn new(system: &dyn Pushdown, products: &Products, kind: usize, leader: usize) -> Order {
        let all = &products.contexts[kind];
        let mut uses: Vec<BTreeSet<(usize, bool, String, String)>> = vec![BTreeSet::new(); all.len()];
        for (number, product) in products.products.iter().enumerate() {
            let mover = product.mover.iter().filter(|(moves, _)| *moves == kind);
            let sets = mover.map(|(_, facts)| (true, facts)).chain([(false, &product.rest[kind])]);
            for (moves, fact) in sets.flat_map(|(moves, facts)| facts.iter().map(move |fact| (moves, fact))) {
                // Where there is but one context, there is nothing to be told apart.
                if all.len() > 2 && fact.context != END {
                    let text = (system.shared_name(fact.shared), show_symbols(system, leader, [fact.top]));
                    uses[fact.context as usize].insert((number, moves, text.0, text.1));
                }
            }
        }
        // The end of the stack comes first.
        let mut places = ranks(uses.into_iter().enumerate().map(|(context, uses)| (context != 0, uses)));
        loop {
            let tails = all.iter().zip(&places).map(|(tails, place)| {
                let named = |&(symbol, under): &(Symbol, Context)| {
                    (system.symbol_name(leader, symbol), places[under as usize])
                };
                (*place, tails.iter().map(named).collect::<BTreeSet<_>>())
            });
            let finer = ranks(tails);
            if finer.iter().max() == places.iter().max() {
                break;
            }
            places = finer;
        }
        let mut contexts: Vec<Context> = (0..all.len() as Context).collect();
        contexts.sort_by_key(|&context| places[context as usize]);
        let mut numbers = vec![0; all.len()];
        contexts.iter().zip(0..).for_each(|(&context, place)| numbers[context as usize] = place);
        Order { contexts, numbers }
    }
}

/// For each value, how many different ones are less.
fn ranks<T: Ord>(values: impl Iterator<Item = T>) -> Vec<u32> {
    let mut sorted: Vec<(T, usize)> = values.zip(0..).collect();
    sorted.sort_unstable();
    let mut ranks = vec![0; sorted.len()];
    let mut rank = 0;
    for (place, (value, index)) in sorted.iter().enumerate() {
        rank += u32::from(place > 0 && sorted[place - 1].0 != *value);
        ranks[*index] = rank;
    }
    ranks
}

/// One line for each shared state.
fn write_facts(
    system: &dyn Pushdown,
    word: &str,
    thread: usize,
    facts: &[Fact],
    order: &Order,
    out: &mut dyn Write,
) -> io::Result<()> {
    if facts.is_empty() {
        return writeln!(out, "{word} {thread}:");
    }
    let mut lines: BTreeMap<String, BTreeSet<(String, Context)>> = BTreeMap::new();
    let mut facts = facts.to_vec();
    facts.sort_unstable();
    for facts in facts.chunk_by(|one, other| one.shared == other.shared) {
        let named =
            |fact: &Fact| (show_symbols(system, thread, [fact.top]), order.numbers[fact.context as usize]);
        lines.insert(system.shared_name(facts[0].shared), facts.iter().map(named).collect());
    }
    for (shared, tops) in lines {
        write!(out, "{word} {thread}:")?;
        for (top, context) in tops {
            write!(out, " {shared}|{top}{}", suffix(context))?;
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
