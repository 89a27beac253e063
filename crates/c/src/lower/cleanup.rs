//! Cleanup handlers, as glibc's macros `pthread_cleanup_push` and `pthread_cleanup_pop` write them out.
//!
//! Between the two, a handler is registered together with a place to come back to (`__sigsetjmp_cancel`). A thread that ends
//! there goes back to that place, where the program itself calls the handler and asks for the next one
//! (`__pthread_unwind_next`); after the last one, the thread ends. Since the two macros are a pair of braces, the handlers that
//! are registered at a place of the text are known.

use super::places::Target;
use super::{Lowering, Model, Result, refuse};
use allways_model::program::{LocationId, Slot, Span};

/// A handler that is registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cleanup {
    /// Where a thread that ends goes back to, and the slot that says that it did.
    at: LocationId,
    came_back: Slot,
    /// How many calls are open.
    pub depth: usize,
}

impl Lowering<'_> {
    /// `__sigsetjmp_cancel`: 0, and 1 if a thread that ends came back.
    pub(super) fn begin_cleanup(&mut self, span: Span) -> Result<Vec<Model>> {
        let came_back = self.block(1, span);
        self.store(&Target::Local(came_back), Model::Constant(0), span)?;
        let at = self.location(span);
        self.jump(at, span);
        self.here = at;
        self.body.cleanup = Some(Cleanup { at, came_back, depth: self.body.calls.len() });
        Ok(vec![Model::Local(came_back)])
    }

    /// `__pthread_register_cancel`.
    pub(super) fn enter_cleanup(&mut self, span: Span) -> Result<Vec<Model>> {
        match self.body.cleanup.take() {
            Some(cleanup) => self.body.cleanups.push(cleanup),
            None => return refuse(span, "a cleanup handler is registered in a way that is not followed"),
        }
        Ok(Vec::new())
    }

    /// `__pthread_unregister_cancel`.
    pub(super) fn leave_cleanup(&mut self, span: Span) -> Result<Vec<Model>> {
        match self.body.cleanups.pop() {
            Some(_) => Ok(Vec::new()),
            None => refuse(span, "a cleanup handler is taken out that was not registered"),
        }
    }

    /// `__pthread_unwind_next`: the next handler, or the end of the thread.
    pub(super) fn next_cleanup(&mut self, span: Span) -> Result<Vec<Model>> {
        let value = self.exit_value(span);
        self.unwind(Model::Local(value), span)?;
        Ok(Vec::new())
    }

    /// A thread ends with a value: its handlers, then its destructors.
    pub(super) fn unwind(&mut self, value: Model, span: Span) -> Result<()> {
        let Some(cleanup) = self.body.cleanups.last().copied() else {
            let value = self.settled(value, span)?;
            self.run_destructors(span)?;
            return self.end(Some(value), span);
        };
        let slot = self.exit_value(span);
        if value != Model::Local(slot) {
            self.store(&Target::Local(slot), value, span)?;
        }
        self.store(&Target::Local(cleanup.came_back), Model::Constant(1), span)?;
        self.jump(cleanup.at, span);
        Ok(())
    }

    /// The slot in which the value of a thread that ends waits for its handlers.
    fn exit_value(&mut self, span: Span) -> Slot {
        match self.body.exit_value {
            Some(slot) => slot,
            None => {
                let slot = self.block(1, span);
                self.body.exit_value = Some(slot);
                slot
            }
        }
    }
}
