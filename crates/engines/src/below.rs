//! Explorers: everything they find is reachable.
//!
//! * [`free`]: every schedule, breadth first, up to a number of states or a depth of stacks;
//! * [`rounds_delays`]: round-robin schedules with a bound on rounds and delays.

pub mod free;
pub mod rounds_delays;
