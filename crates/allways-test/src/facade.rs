//! How the types of this crate reach the session that schedules them.
//!
//! Outside an execution, and while one is taken down, there is nothing to schedule: operations then take place at once.

use crate::execution::Execution;
use crate::operation::{Operation, Touches};
use crate::session::Session;
use crate::world::{Handle, World};
use shuttle_engine::runtime::execution::ExecutionState;
use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    static SESSION: RefCell<Option<Rc<RefCell<Session>>>> = const { RefCell::new(None) };
}

/// Runs executions for a session on this thread.
pub(crate) fn during<R>(session: &Rc<RefCell<Session>>, run: impl FnOnce() -> R) -> R {
    struct Leave(Option<Rc<RefCell<Session>>>);
    impl Drop for Leave {
        fn drop(&mut self) {
            SESSION.set(self.0.take());
        }
    }
    let _leave = Leave(SESSION.replace(Some(Rc::clone(session))));
    run()
}

/// Does something with the execution, if one is going on.
pub(crate) fn execution<R>(act: impl FnOnce(&mut Execution) -> R) -> Option<R> {
    SESSION.with_borrow(|session| {
        let session = session.as_ref()?;
        if ExecutionState::should_stop() {
            return None;
        }
        Some(act(&mut session.borrow_mut().execution))
    })
}

/// Does something with the state of the execution, if one is going on.
pub(crate) fn world<R>(act: impl FnOnce(&mut World) -> R) -> Option<R> {
    execution(|execution| act(&mut execution.world))
}

/// A scheduling point: others may go before the operation. Gives whether an execution is going on.
pub(crate) fn point(operation: impl FnOnce(&mut World) -> Operation) -> bool {
    let announced = world(|world| {
        let operation = operation(world);
        world.announce(operation);
    });
    if announced.is_some() {
        shuttle_engine::runtime::thread::switch();
        crate::alloc::report();
    }
    announced.is_some()
}

/// What shuttle makes a scheduling point of by itself.
pub(crate) fn announce(touches: Touches) {
    world(|world| world.announce(Operation::on(touches)));
}

/// The function of a task has returned. If the execution ends with it, others do not go on.
pub(crate) fn ends(done: Option<u32>) {
    world(|world| {
        if let Some(done) = done {
            world.release(done);
            world.object(done).closed = false;
        }
        world.ends();
    });
}

/// The number of an object, for one that needs nothing else.
pub(crate) fn number(handle: &Handle, world: &mut World) -> u32 {
    handle.register(world, 1).0
}

/// What an operation saw, for the picture of a failure.
pub(crate) fn note(text: impl FnOnce() -> String) {
    execution(|execution| execution.note(text));
}

/// The name of a task.
pub(crate) fn name(task: usize) -> String {
    if task == 0 { "main".to_string() } else { format!("task-{task}") }
}

/// An operation that would have to wait, outside an execution, where nobody could end that.
pub(crate) fn cannot_wait() -> ! {
    panic!("this would wait for ever: it is used outside of a check, or while the schedule is taken down");
}
