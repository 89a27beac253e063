//! Channels, the same as `std::sync::mpsc`.
//!
//! Three objects: the channel itself, which every operation touches; one that is closed while there is nothing to receive; and one
//! that is closed while there is no room. With no room at all (`sync_channel(0)`) the sender waits until its value was taken.

use crate::facade;
use crate::operation::{OPEN, Operation, Otherwise};
use crate::view::View;
use crate::world::{Handle, World};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

struct State<T> {
    queue: VecDeque<(T, View, Option<u32>)>,
    senders: usize,
    receiver: bool,
}

struct Channel<T> {
    handle: Handle,
    room: Option<usize>,
    state: Mutex<State<T>>,
}

const EMPTY: u32 = 1;
const FULL: u32 = 2;

impl<T> Channel<T> {
    fn object(&self, world: &mut World) -> u32 {
        let (object, new) = self.handle.register(world, 3);
        if new {
            self.settle(world, object);
        }
        object
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens and closes what depends on the state.
    fn settle(&self, world: &mut World, object: u32) {
        let state = self.state();
        world.object(object + EMPTY).closed = state.queue.is_empty() && state.senders > 0;
        world.object(object + FULL).closed = self.is_full(&state) && state.receiver;
    }

    fn is_full(&self, state: &State<T>) -> bool {
        self.room.is_some_and(|room| state.queue.len() >= room.max(1))
    }

    fn step(&self, gate: Option<u32>, otherwise: Otherwise) {
        facade::point(|world| {
            let object = self.object(world);
            Operation { soft: gate.map_or(OPEN, |gate| object + gate), otherwise, ..Operation::write(object) }
        });
    }

    fn settled(&self) {
        facade::world(|world| {
            let object = self.object(world);
            self.settle(world, object);
        });
    }

    fn put(&self, value: T) -> Result<(), SendError<T>> {
        if !self.state().receiver {
            return Err(SendError(value));
        }
        let sent = facade::world(|world| {
            let (current, view) = (world.current, world.me().view.clone());
            world.me().view.tick(current);
            let taken = (self.room == Some(0)).then(|| world.new_object());
            if let Some(taken) = taken {
                world.object(taken).closed = true;
            }
            (view, taken)
        });
        let (view, taken) = sent.unwrap_or_default();
        self.state().queue.push_back((value, view, taken));
        self.settled();
        if let Some(taken) = taken {
            facade::point(|world| Operation::write(self.object(world)).when(taken));
            // The receiver may have gone away without it.
            let mut state = self.state();
            if let Some(place) = state.queue.iter().position(|entry| entry.2 == Some(taken)) {
                let entry = state.queue.remove(place);
                drop(state);
                return entry.map_or(Ok(()), |(value, ..)| Err(SendError(value)));
            }
        }
        Ok(())
    }

    fn take(&self) -> Option<T> {
        let (value, view, taken) = self.state().queue.pop_front()?;
        facade::world(|world| {
            world.me().view.join(&view);
            if let Some(taken) = taken {
                world.object(taken).closed = false;
            }
        });
        self.settled();
        Some(value)
    }

    fn receive(&self, otherwise: Otherwise) -> Result<T, RecvTimeoutError> {
        self.step(Some(EMPTY), otherwise);
        match self.take() {
            Some(value) => Ok(value),
            None if self.state().senders == 0 => Err(RecvTimeoutError::Disconnected),
            None if otherwise == Otherwise::TimesOut => Err(RecvTimeoutError::Timeout),
            None => facade::cannot_wait(),
        }
    }
}

/// The sending side of a channel without a bound.
pub struct Sender<T>(Arc<Channel<T>>);
/// The sending side of a channel with a bound.
pub struct SyncSender<T>(Arc<Channel<T>>);
/// The receiving side.
pub struct Receiver<T>(Arc<Channel<T>>);

fn make<T>(room: Option<usize>) -> Arc<Channel<T>> {
    let state = State { queue: VecDeque::new(), senders: 1, receiver: true };
    Arc::new(Channel { handle: Handle::new(), room, state: Mutex::new(state) })
}

/// A channel without a bound.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = make(None);
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

/// A channel with room for so many values.
pub fn sync_channel<T>(room: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = make(Some(room));
    (SyncSender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Sender<T> {
    /// Sends a value.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.step(None, Otherwise::Waits);
        self.0.put(value)
    }
}

impl<T> SyncSender<T> {
    /// Sends a value when there is room.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.step(Some(FULL), Otherwise::Waits);
        self.0.put(value)
    }

    /// Sends a value if there is room. With no room at all it never succeeds here: no receiver is known to wait.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.0.step(None, Otherwise::Waits);
        let state = self.0.state();
        if !state.receiver {
            return Err(TrySendError::Disconnected(value));
        }
        if self.0.room == Some(0) || self.0.is_full(&state) {
            return Err(TrySendError::Full(value));
        }
        drop(state);
        self.0.put(value).map_err(|SendError(value)| TrySendError::Disconnected(value))
    }
}

impl<T> Receiver<T> {
    /// Waits for a value.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.0.receive(Otherwise::Waits).map_err(|_| RecvError)
    }

    /// A value, if one is there.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.step(None, Otherwise::Waits);
        let senders = self.0.state().senders;
        self.0.take().ok_or(if senders == 0 { TryRecvError::Disconnected } else { TryRecvError::Empty })
    }

    /// Waits for a value, or until the time is up, which may be at any time.
    pub fn recv_timeout(&self, _time: Duration) -> Result<T, RecvTimeoutError> {
        self.0.receive(Otherwise::TimesOut)
    }

    /// Values until all senders are gone.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// The values that are there.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.try_recv().ok())
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

/// Values until all senders are gone.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

fn one_more<T>(channel: &Arc<Channel<T>>) -> Arc<Channel<T>> {
    // Nobody can notice how many senders there are, but that there is none.
    channel.state().senders += 1;
    Arc::clone(channel)
}

fn one_less<T>(channel: &Channel<T>) {
    channel.step(None, Otherwise::Waits);
    channel.state().senders -= 1;
    channel.settled();
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        Sender(one_more(&self.0))
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> SyncSender<T> {
        SyncSender(one_more(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        one_less(&self.0);
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        one_less(&self.0);
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.step(None, Otherwise::Waits);
        let mut state = self.0.state();
        state.receiver = false;
        // Who waits until its value is taken gets it back; other values are gone.
        let waiting: Vec<u32> = state.queue.iter().filter_map(|entry| entry.2).collect();
        let gone: Vec<_> = if waiting.is_empty() { state.queue.drain(..).collect() } else { Vec::new() };
        drop(state);
        drop(gone);
        facade::world(|world| waiting.iter().for_each(|&taken| world.object(taken).closed = false));
        self.0.settled();
    }
}

macro_rules! debug {
    ($($name:ident)*) => { $(
        impl<T> std::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )* };
}

debug!(Sender SyncSender Receiver);
