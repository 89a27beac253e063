//! How states are written: `q|w1,w2`, each stack top first with dots between its symbols, `-` for an empty one.
//!
//! Examples: the state `0|1.4.4,2`, its visible state `0|1,2`, the pattern `*|1,*` (anything in place of `*`).

use crate::property::Pattern;
use crate::pushdown::{EMPTY, Pushdown, Shared, Stack, State, Symbol, Visible};
use std::fmt::Write;

/// Why a text is not a state of a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAState {
    /// Where in the text, in bytes.
    pub at: usize,
    /// What is wrong there.
    pub what: String,
}

/// Writes a state.
pub fn show_state(system: &dyn Pushdown, state: &State) -> String {
    let stacks = state.stacks.iter().enumerate();
    show(system, state.shared, stacks.map(|(thread, stack)| show_symbols(system, thread, stack.symbols())))
}

/// Writes a visible state.
pub fn show_visible(system: &dyn Pushdown, visible: &Visible) -> String {
    let tops = visible.tops.iter().enumerate();
    show(system, visible.shared, tops.map(|(thread, &top)| show_symbols(system, thread, [top])))
}

/// Writes a pattern.
pub fn show_pattern(system: &dyn Pushdown, pattern: &Pattern) -> String {
    let any = || "*".to_string();
    let mut text = pattern.shared.map_or_else(any, |shared| system.shared_name(shared));
    for (thread, top) in pattern.tops.iter().enumerate() {
        text.push(if thread == 0 { '|' } else { ',' });
        text += &top.map_or_else(any, |top| show_symbols(system, thread, [top]));
    }
    text
}

/// Writes symbols of a thread's stack, top first; [`EMPTY`] ones are left out, and none at all is `-`.
pub fn show_symbols(
    system: &dyn Pushdown,
    thread: usize,
    symbols: impl IntoIterator<Item = Symbol>,
) -> String {
    let mut text = String::new();
    for symbol in symbols.into_iter().filter(|&symbol| symbol != EMPTY) {
        let dot = if text.is_empty() { "" } else { "." };
        let _ = write!(text, "{dot}{}", system.symbol_name(thread, symbol));
    }
    if text.is_empty() { "-".to_string() } else { text }
}

fn show(system: &dyn Pushdown, shared: Shared, stacks: impl Iterator<Item = String>) -> String {
    let mut text = system.shared_name(shared);
    for (thread, stack) in stacks.enumerate() {
        text.push(if thread == 0 { '|' } else { ',' });
        text += &stack;
    }
    text
}

/// Reads a state with whole stacks.
pub fn read_state(system: &dyn Pushdown, text: &str) -> Result<State, NotAState> {
    let parts = Parts::split(system, text)?;
    let shared = parts.shared(system)?;
    let mut stacks = Vec::new();
    for (thread, (at, stack)) in parts.stacks.iter().enumerate() {
        stacks.push(Stack::from_top(read_symbols(system, thread, stack, *at)?));
    }
    Ok(State { shared, stacks })
}

/// Reads a pattern: a visible state in which `*` stands for anything.
pub fn read_pattern(system: &dyn Pushdown, text: &str) -> Result<Pattern, NotAState> {
    let parts = Parts::split(system, text)?;
    let shared = if parts.shared.1 == "*" { None } else { Some(parts.shared(system)?) };
    let mut tops = Vec::new();
    for (thread, &(at, stack)) in parts.stacks.iter().enumerate() {
        tops.push(match (stack, read_symbols(system, thread, stack, at)) {
            ("*", _) => None,
            (_, Ok(symbols)) if symbols.len() > 1 => {
                let what = format!("expected the top symbol alone, found a stack of {}", symbols.len());
                return Err(NotAState { at, what });
            }
            (_, symbols) => Some(symbols?.first().copied().unwrap_or(EMPTY)),
        });
    }
    Ok(Pattern { shared, tops })
}

/// Reads symbols of a thread's stack, top first. `at` is where `text` starts in the whole.
pub fn read_symbols(
    system: &dyn Pushdown,
    thread: usize,
    text: &str,
    mut at: usize,
) -> Result<Vec<Symbol>, NotAState> {
    let mut symbols = Vec::new();
    if text == "-" {
        return Ok(symbols);
    }
    for name in text.split('.') {
        let Some(symbol) = system.symbol_named(thread, name) else {
            return Err(NotAState {
                at,
                what: format!("expected a stack symbol or `-`, found `{}`", excerpt(name)),
            });
        };
        symbols.push(symbol);
        at += name.len() + 1;
    }
    Ok(symbols)
}

struct Parts<'a> {
    shared: (usize, &'a str),
    stacks: Vec<(usize, &'a str)>,
}

impl<'a> Parts<'a> {
    fn split(system: &dyn Pushdown, text: &'a str) -> Result<Parts<'a>, NotAState> {
        let Some(bar) = text.find('|') else {
            let what = format!("expected a state such as `0|1,2`, found `{}`", excerpt(text));
            return Err(NotAState { at: 0, what });
        };
        // Counted before they are collected: a hostile text may have any number.
        let found = text[bar + 1..].split(',').count();
        if found != system.threads() {
            let expected = match system.threads() {
                1 => "one stack for the only thread".to_string(),
                threads => format!("one stack for each of the {threads} threads"),
            };
            let what = format!("expected {expected}, found {found}");
            return Err(NotAState { at: bar + 1, what });
        }
        let trimmed = |from: usize, part: &'a str| (from + part.len() - part.trim_start().len(), part.trim());
        let mut at = bar + 1;
        let mut stacks = Vec::with_capacity(found);
        for part in text[at..].split(',') {
            stacks.push(trimmed(at, part));
            at += part.len() + 1;
        }
        Ok(Parts { shared: trimmed(0, &text[..bar]), stacks })
    }

    fn shared(&self, system: &dyn Pushdown) -> Result<Shared, NotAState> {
        let (at, name) = self.shared;
        system.shared_named(name).ok_or_else(|| NotAState {
            at,
            what: format!("expected a shared state of this system, found `{}`", excerpt(name)),
        })
    }
}

/// The beginning of a text that may be hostile: long, or full of control characters.
fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(20).flat_map(char::escape_debug).collect();
    if text.chars().nth(20).is_some() { short + "…" } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pushdown::{Explicit, ThreadRules};

    fn two_threads() -> Explicit {
        let stack = || Stack::from_top([1].map(Symbol));
        Explicit {
            shared_states: 3,
            threads: vec![ThreadRules::default(), ThreadRules::default()],
            initial: State { shared: Shared(0), stacks: vec![stack(), stack()] },
        }
    }

    #[test]
    fn states_read_back_as_written() {
        let system = two_threads();
        for text in ["0|1.4.4,2", "2|-,0", "1|7,-"] {
            assert_eq!(show_state(&system, &read_state(&system, text).unwrap()), text);
        }
        for text in ["*|1,*", "2|-,0", "*|*,*"] {
            assert_eq!(show_pattern(&system, &read_pattern(&system, text).unwrap()), text);
        }
        assert_eq!(show_visible(&system, &read_state(&system, "0|1.4.4,2").unwrap().visible()), "0|1,2");
    }

    #[test]
    fn mistakes_are_placed() {
        let system = two_threads();
        let at = |text: &str| read_state(&system, text).unwrap_err().at;
        assert_eq!(at("3|1,1"), 0);
        assert_eq!(at("0|1"), 2);
        assert_eq!(at("0|1,1.x"), 6);
        assert_eq!(at("0|1, 1.-"), 7);
        assert_eq!(at("0 1"), 0);
        assert_eq!(at("0|4294967295,1"), 2, "no room for the symbol after it");
        assert_eq!(read_pattern(&system, "0|1.2,1").unwrap_err().at, 2);
    }
}
