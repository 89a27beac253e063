//! What a file describes: rules, or a program with a number of threads.

use allways_model::encoding::Encoded;
use allways_model::pushdown::{Explicit, Pushdown, Rule, Shared, State, Symbol};

/// A system that was read from a file.
#[derive(Debug)]
pub enum System {
    /// Its rules, as in a `.pds` file.
    Rules(Explicit),
    /// A program, whose rules are made when they are needed.
    Program(Box<Encoded>),
}

impl System {
    fn pushdown(&self) -> &dyn Pushdown {
        match self {
            System::Rules(explicit) => explicit,
            System::Program(encoded) => &**encoded,
        }
    }

    /// The program, if it is one.
    pub fn program(&self) -> Option<&Encoded> {
        match self {
            System::Rules(_) => None,
            System::Program(encoded) => Some(encoded),
        }
    }
}

impl Pushdown for System {
    fn threads(&self) -> usize {
        self.pushdown().threads()
    }

    fn initial(&self) -> Vec<State> {
        self.pushdown().initial()
    }

    fn rules(&self, thread: usize, shared: Shared, top: Symbol, out: &mut Vec<Rule>) {
        self.pushdown().rules(thread, shared, top, out);
    }

    fn kind(&self, thread: usize) -> usize {
        self.pushdown().kind(thread)
    }

    fn ended(&self, thread: usize, top: Symbol) -> bool {
        self.pushdown().ended(thread, top)
    }

    fn many(&self, thread: usize) -> bool {
        self.pushdown().many(thread)
    }

    fn sweep(&self, shared: Shared) -> Option<Shared> {
        self.pushdown().sweep(shared)
    }

    fn swept(&self, thread: usize, shared: Shared, top: Symbol) -> Option<Symbol> {
        self.pushdown().swept(thread, shared, top)
    }

    fn passing(&self, shared: Shared) -> bool {
        self.pushdown().passing(shared)
    }

    fn incomplete(&self) -> Option<String> {
        self.pushdown().incomplete()
    }

    fn unfollowed(&self) -> Option<String> {
        self.pushdown().unfollowed()
    }

    fn shared_name(&self, shared: Shared) -> String {
        self.pushdown().shared_name(shared)
    }

    fn shared_named(&self, name: &str) -> Option<Shared> {
        self.pushdown().shared_named(name)
    }

    fn symbol_name(&self, thread: usize, symbol: Symbol) -> String {
        self.pushdown().symbol_name(thread, symbol)
    }

    fn symbol_named(&self, thread: usize, name: &str) -> Option<Symbol> {
        self.pushdown().symbol_named(thread, name)
    }

    fn write_shared(&self, shared: Shared, out: &mut Vec<u8>) {
        self.pushdown().write_shared(shared, out);
    }

    fn read_shared(&self, bytes: &mut &[u8]) -> Option<Shared> {
        self.pushdown().read_shared(bytes)
    }

    fn write_symbol(&self, thread: usize, symbol: Symbol, out: &mut Vec<u8>) {
        self.pushdown().write_symbol(thread, symbol, out);
    }

    fn read_symbol(&self, thread: usize, bytes: &mut &[u8]) -> Option<Symbol> {
        self.pushdown().read_symbol(thread, bytes)
    }
}
