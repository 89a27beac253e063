//! What can be wrong with a line: something was expected, and a token was found in its place.

use super::MAX_THREADS;
use super::scanner::{Kind, Token};
use crate::cursor::range;
use crate::diagnostic::excerpt;

/// A token in the wrong place. Small and without words, which are made only for the faults that are kept.
pub(super) struct Fault {
    pub expected: Expected,
    pub found: Token,
}

/// What should have been there.
#[derive(Clone, Copy)]
pub(super) enum Expected {
    SharedCount,
    SomeSharedState,
    EndAfterCount,
    Lowest,
    Highest,
    HighestFrom(u32),
    EndAfterRange,
    AtMostMaxThreads,
    RuleOrThread,
    ThreadBeforeRule,
    Shared,
    SharedBelow(u32),
    Symbol,
    Arrow,
    EndAfterPop,
    SymbolOrEnd,
    EndAfterTwoSymbols,
    EndAfterPushOnEmpty,
    SmallerNumber,
}

impl Fault {
    /// Message and help.
    pub fn words(&self, text: &[u8]) -> (String, Option<String>) {
        let (expected, help) = self.expected.words();
        let found = match self.found.kind {
            Kind::End => "the end of the line".to_string(),
            _ => format!("`{}`", excerpt(&text[range(self.found.span)])),
        };
        (format!("expected {expected}, found {found}"), help)
    }
}

impl Expected {
    fn words(self) -> (String, Option<String>) {
        use Expected::*;
        let help = match self {
            SharedBelow(1) => Some("the file declares a single shared state, 0".to_string()),
            SharedBelow(count) => {
                Some(format!("the file declares {count} shared states, which are 0 to {}", count - 1))
            }
            EndAfterTwoSymbols => Some("a rule replaces the top symbol by at most two".to_string()),
            EndAfterPushOnEmpty => Some("a rule for an empty stack pushes at most one symbol".to_string()),
            _ => None,
        };
        let expected = match self {
            SharedCount => "the number of shared states",
            SomeSharedState => "at least one shared state",
            EndAfterCount => "the end of the line after the number of shared states",
            Lowest => "the lowest symbol of the thread",
            Highest => "the highest symbol of the thread",
            HighestFrom(lowest) => return (format!("a highest symbol not below the lowest, {lowest}"), help),
            EndAfterRange => "the end of the line after the thread's symbols",
            AtMostMaxThreads => return (format!("at most {MAX_THREADS} threads"), help),
            RuleOrThread => "a rule such as `0 1 -> 0 2` or a thread such as `PDA 0 9`",
            ThreadBeforeRule => "a thread such as `PDA 0 9` before the first rule",
            Shared => "a shared state",
            SharedBelow(count) => return (format!("a shared state below {count}"), help),
            Symbol => "a stack symbol or `-`",
            Arrow => "`->`",
            EndAfterPop => "the end of the line after `-`",
            SymbolOrEnd => "a second stack symbol or the end of the line",
            EndAfterTwoSymbols => "the end of the line after two symbols",
            EndAfterPushOnEmpty => "the end of the line after one symbol",
            SmallerNumber => return (format!("a number below {}", u32::MAX), help),
        };
        (expected.to_string(), help)
    }
}
