//! Threads. As with loom, an execution ends when all of them have ended, whether or not they are joined.

use allways_test::thread as inner;

pub use inner::{AccessError, LocalKey, Thread, ThreadId, current, panicking, park, yield_now};

/// A thread that can be joined.
#[derive(Debug)]
pub struct JoinHandle<T>(Option<inner::JoinHandle<T>>, Thread);

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended, and gives what its function has returned.
    pub fn join(mut self) -> std::thread::Result<T> {
        self.0.take().expect("it is joined once").join()
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.1
    }

    /// Whether its function has returned.
    pub fn is_finished(&self) -> bool {
        self.0.as_ref().is_none_or(inner::JoinHandle::is_finished)
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            handle.keep();
        }
    }
}

fn wrap<T>(handle: inner::JoinHandle<T>) -> JoinHandle<T> {
    let thread = handle.thread().clone();
    JoinHandle(Some(handle), thread)
}

/// Starts a thread.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    wrap(inner::spawn(f))
}

/// Starts threads with a name.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// A thread without a name.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Sets the name.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Not used.
    pub fn stack_size(self, _bytes: usize) -> Builder {
        self
    }

    /// Starts a thread.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // The name is for people only, and the picture of a failure numbers its tasks.
        Ok(spawn(f))
    }
}
