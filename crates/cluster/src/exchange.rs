//! The dataflows: records go to the worker that they name, in epochs that end for all workers at once.
//!
//! Each worker puts records into the dataflow, timely's `exchange` takes each to the worker that it is for, and there it lies
//! in an inbox until that worker takes it. An epoch is a level of the search, or a question that all workers answer: when
//! [`Exchange::barrier`] returns, every record that any worker sent before its own barrier lies in the inbox of the worker that
//! it is for. That is timely's progress tracking, and the reason why it is here.
//!
//! A worker that waits looks at the [`Control`] a hundred times a second: timely itself would wait for a lost worker for ever.

use crate::control::{Control, Stopped};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;
use timely::container::{
    CapacityContainerBuilder, ContainerBuilder, LengthPreservingContainerBuilder, PushInto,
};
use timely::dataflow::channels::pact::ExchangeCore as Route;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

/// How long a worker sleeps at most before it looks whether to stop.
const NAP: Duration = Duration::from_millis(10);

/// A record that says which worker it is for.
pub trait Addressed: Clone + Send + Serialize + DeserializeOwned + 'static {
    /// The worker.
    fn to(&self) -> usize;
}

/// Lets each record go on its way at once. Timely would collect as many as fill a container before it sends any: thousands of
/// numbers, but a record of ours is a parcel of many.
struct AtOnce<T> {
    waiting: Vec<T>,
    leaving: Vec<T>,
}

impl<T> Default for AtOnce<T> {
    fn default() -> AtOnce<T> {
        AtOnce { waiting: Vec::new(), leaving: Vec::new() }
    }
}

impl<T> PushInto<T> for AtOnce<T> {
    fn push_into(&mut self, record: T) {
        self.waiting.push(record);
    }
}

impl<T> ContainerBuilder for AtOnce<T> {
    type Container = Vec<T>;

    fn extract(&mut self) -> Option<&mut Vec<T>> {
        // What timely leaves behind when it has taken a container is nothing to be sent again.
        self.leaving = std::mem::take(&mut self.waiting);
        (!self.leaving.is_empty()).then_some(&mut self.leaving)
    }

    fn finish(&mut self) -> Option<&mut Vec<T>> {
        self.extract()
    }
}

impl<T> LengthPreservingContainerBuilder for AtOnce<T> {}

/// A dataflow from every worker to every worker; see the module.
pub struct Exchange<T: Addressed> {
    input: InputHandle<u64, CapacityContainerBuilder<Vec<T>>>,
    probe: ProbeHandle<u64>,
    /// What has arrived, by epochs: a worker that is ahead may send in the next one already.
    inbox: Rc<RefCell<BTreeMap<u64, VecDeque<T>>>>,
    epoch: u64,
}

impl<T: Addressed> Exchange<T> {
    /// Builds the dataflow. All workers have to build the same ones in the same order.
    pub fn new(worker: &mut Worker, name: &str) -> Exchange<T> {
        let mut input = InputHandle::new_with_builder();
        let probe = ProbeHandle::new();
        let inbox = Rc::new(RefCell::new(BTreeMap::<u64, VecDeque<T>>::new()));
        let arrived = Rc::clone(&inbox);
        worker.dataflow_named::<u64, _, _>(name, |scope| {
            let delivered = scope.input_from(&mut input).unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(
                Route::<AtOnce<T>, _>::new_core(|record: &T| record.to() as u64),
                "deliver",
                move |_, _| {
                    move |input, _| {
                        input.for_each_time(|time, batches| {
                            let mut arrived = arrived.borrow_mut();
                            let epoch = arrived.entry(*time.time()).or_default();
                            batches.for_each(|batch| epoch.extend(batch.drain(..)));
                        });
                    }
                },
            );
            delivered.probe_with(&probe);
        });
        Exchange { input, probe, inbox, epoch: 0 }
    }

    /// Sends a record in this epoch.
    pub fn send(&mut self, record: T) {
        self.input.send(record);
    }

    /// Has everything that was sent leave, and what has arrived laid into the inbox.
    pub fn turn(&mut self, worker: &mut Worker) {
        self.input.flush();
        worker.step();
    }

    /// Takes the next record of this epoch from the inbox.
    pub fn receive(&mut self) -> Option<T> {
        let mut inbox = self.inbox.borrow_mut();
        let mut first = inbox.first_entry().filter(|first| *first.key() <= self.epoch)?;
        let record = first.get_mut().pop_front();
        if first.get().is_empty() {
            first.remove();
        }
        record
    }

    /// Ends the epoch, and waits until all workers have; meanwhile hands over what arrives. When it returns, everything that
    /// was sent in the epoch was handed over.
    pub fn barrier(
        &mut self,
        worker: &mut Worker,
        control: &Control,
        take: &mut dyn FnMut(T) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let next = self.epoch + 1;
        self.input.advance_to(next);
        loop {
            while let Some(record) = self.receive() {
                take(record)?;
            }
            control.check()?;
            if !self.probe.less_than(&next) {
                break;
            }
            worker.step_or_park(Some(NAP));
        }
        while let Some(record) = self.receive() {
            take(record)?;
        }
        self.epoch = next;
        Ok(())
    }
}

/// A worker's answer to a question that all workers answer.
#[derive(Clone, Serialize, Deserialize)]
pub struct Note<T> {
    to: u32,
    from: u32,
    answer: T,
}

impl<T: Clone + Send + Serialize + DeserializeOwned + 'static> Addressed for Note<T> {
    fn to(&self) -> usize {
        self.to as usize
    }
}

/// A dataflow in which every worker learns the answers of all.
pub struct Gather<T: Clone + Send + Serialize + DeserializeOwned + 'static>(Exchange<Note<T>>);

impl<T: Clone + Send + Serialize + DeserializeOwned + 'static> Gather<T> {
    /// Builds the dataflow.
    pub fn new(worker: &mut Worker, name: &str) -> Gather<T> {
        Gather(Exchange::new(worker, name))
    }

    /// The answers of all workers to the next question, in the order of their numbers.
    pub fn ask(&mut self, worker: &mut Worker, control: &Control, answer: T) -> Result<Vec<T>, Stopped> {
        let (me, peers) = (worker.index() as u32, worker.peers() as u32);
        for to in 0..peers {
            self.0.send(Note { to, from: me, answer: answer.clone() });
        }
        let mut notes = Vec::new();
        self.0.barrier(worker, control, &mut |note| {
            notes.push(note);
            Ok(())
        })?;
        notes.sort_by_key(|note| note.from);
        Ok(notes.into_iter().map(|note| note.answer).collect())
    }
}

/// Leaves all dataflows as they are: timely would wait until they have ended, and others may never end their part.
pub fn abandon(worker: &mut Worker) {
    for dataflow in worker.installed_dataflows() {
        worker.drop_dataflow(dataflow);
    }
}
