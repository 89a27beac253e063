//! Explorers: everything they find is reachable.
//!
//! * [`free`]: every schedule, breadth first, up to a number of states or a depth of stacks;
//! * [`orbits`]: the same for programs whose threads can be renumbered, one state of all that come about so;
//! * [`rounds_delays`]: round-robin schedules with a bound on rounds and delays;
//! * [`contexts`]: schedules with a bound on contexts, state by state;
//! * [`symbolic`]: the same, with sets of stacks;
//! * [`schedules`]: asynchronous programs under a scheduler, with a bound on its delays;
//! * [`inputs`]: programs with wide inputs, these as formulas, with a bound on delays;
//! * [`diagrams`]: programs with many Booleans, sets of values as decision diagrams, few contexts first;
//! * [`walks`]: single runs under random schedules;
//! * [`points`]: every schedule, states at rare combinations of points of control first;
//! * [`growth`]: whether integers grow without end, so that there is no end of states;
//! * [`capped`]: few states for each visible state, to witness as many as possible;
//! * [`shortest`]: from a run to a bad state, one with the fewest context switches and steps.

pub mod capped;
pub mod contexts;
pub mod diagrams;
pub mod free;
pub mod growth;
pub mod inputs;
pub mod orbits;
pub mod points;
pub mod rounds_delays;
pub mod schedules;
pub mod shortest;
pub mod symbolic;
pub mod walks;
