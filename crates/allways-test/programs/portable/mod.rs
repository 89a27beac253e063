//! Programs with a bug that use only what loom has as well. `super::rt` is `shuttle` or `loom`.

use super::rt;

pub mod async_missed_wake;
pub mod barrier_reuse;
pub mod bounded_buffer;
pub mod channel_shutdown;
pub mod check_then_act;
pub mod deque_last_item;
pub mod device_stop;
pub mod double_checked;
pub mod election;
pub mod if_instead_of_while;
pub mod late_shutdown;
pub mod lock_order;
pub mod lost_update;
pub mod lost_updates;
pub mod missed_signal;
pub mod park_flag;
pub mod peterson;
pub mod philosophers;
pub mod publication;
pub mod reference_count;
pub mod semaphore_leak;
pub mod seqlock;
pub mod spin_lock;
pub mod stack_aba;
pub mod upgrade;

/// Each with its name.
pub const PROGRAMS: [(&str, fn()); 25] = [
    ("lost update", lost_update::test),
    ("lost updates, all but two", lost_updates::test),
    ("lock order, AB-BA", lock_order::test),
    ("philosophers, three", philosophers::test),
    ("condition variable, missed signal", missed_signal::test),
    ("condition variable, `if` for `while`", if_instead_of_while::test),
    ("bounded buffer, one condition variable", bounded_buffer::test),
    ("check, then act", check_then_act::test),
    ("double-checked initialisation", double_checked::test),
    ("publication before the data", publication::test),
    ("spin lock, test then set", spin_lock::test),
    ("Peterson, flag raised too late", peterson::test),
    ("sequence lock, torn read", seqlock::test),
    ("reference count, read then decrement", reference_count::test),
    ("Treiber stack, ABA", stack_aba::test),
    ("work stealing, the last item", deque_last_item::test),
    ("semaphore, a permit leaks", semaphore_leak::test),
    ("reader-writer lock, two upgrades", upgrade::test),
    ("device stopped during a request", device_stop::test),
    ("closed at the end of a long run", late_shutdown::test),
    ("election, the last comes first", election::test),
    ("channel, shutdown race", channel_shutdown::test),
    ("barrier used again", barrier_reuse::test),
    ("future, waker registered too late", async_missed_wake::test),
    ("park, a token spent elsewhere", park_flag::test),
];
