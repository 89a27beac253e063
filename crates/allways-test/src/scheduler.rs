//! The search as shuttle sees it: a scheduler, which is a handle to a session (`session.rs`) and asks its execution
//! (`execution.rs`) at each scheduling point.

use crate::alloc;
use crate::execution::SEED;
use crate::session::Session;
use crate::settings::End;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use std::cell::RefCell;
use std::rc::Rc;

/// Shuttle's scheduler: a handle to the session, and another scheduler of shuttle that chooses instead of it, if any.
pub(crate) struct DelayScheduler {
    pub session: Rc<RefCell<Session>>,
    pub guide: Option<Box<dyn Scheduler>>,
}

impl Scheduler for DelayScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        let session = &mut *self.session.borrow_mut();
        let next = alloc::aside(|| {
            let path = session.advance()?;
            let schedule = match &mut self.guide {
                Some(guide) => guide.new_execution().ok_or(End::Schedules)?,
                None => Schedule::new(SEED),
            };
            Ok::<_, End>((path, schedule))
        });
        match next {
            Ok((path, schedule)) => {
                session.start(path);
                Some(schedule)
            }
            Err(end) => {
                session.end = Some(end);
                None
            }
        }
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yielding: bool) -> Option<TaskId> {
        alloc::aside(|| {
            let Session { settings, execution, .. } = &mut *self.session.borrow_mut();
            execution.choose(settings, tasks, current, yielding, self.guide.as_deref_mut())
        })
    }

    fn next_u64(&mut self) -> u64 {
        let Session { settings, execution, .. } = &mut *self.session.borrow_mut();
        execution.random(settings.random)
    }
}

#[cfg(test)]
mod tests;
