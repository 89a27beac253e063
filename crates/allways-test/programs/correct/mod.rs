//! Programs without a bug, small enough that every schedule can be explored.

pub mod barrier;
pub mod bounded_buffer;
pub mod channel;
pub mod counter;
pub mod device_stop;
pub mod lock_order;
pub mod once;
pub mod oneshot;
pub mod stack_tagged;

/// Each with its name.
pub const PROGRAMS: [(&str, fn()); 10] = [
    ("counter under a lock, two threads", counter::two),
    ("counter under a lock, three threads", counter::three),
    ("two locks in one order", lock_order::test),
    ("signal under a lock", oneshot::test),
    ("initialisation, checked under the lock", once::test),
    ("channel, two senders", channel::test),
    ("bounded buffer, two condition variables", bounded_buffer::test),
    ("barrier with generations", barrier::test),
    ("Treiber stack with a tag", stack_tagged::test),
    ("device stopped, count before the test", device_stop::test),
];
