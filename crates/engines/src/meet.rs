//! Methods: below and above run against each other until they meet.
//!
//! * [`druba`]: explore under growing rounds and delays, wait for a plateau, test closure (DrUBA, Algorithm 1);
//! * [`ai`]: the same exploration, closure tested after each increment;
//! * [`cuba`]: explore growing contexts, and test generators at a plateau (CUBA, Algorithm 3), and its relatives;
//! * [`coverability`]: counter systems, with any number of threads: backward, Karp–Miller and forward (UCOB);
//! * [`observation`]: the walk of DrUBA through rounds and delays, watched through predicates;
//! * [`predicates`]: predicate abstraction with refinement (UCOB, SATABS);
//! * [`progress`]: what is promised of runs, by cycles of finite programs: fair ones, or ranks that exclude them;
//! * [`sandwich`]: the least closed set from above, a witness for each of its members from below;
//! * [`views`]: programs with integers, by what ever more threads see together, ever more closely.

pub mod ai;
pub mod coverability;
pub mod cuba;
pub mod druba;
pub mod observation;
pub mod predicates;
pub mod progress;
pub mod sandwich;
pub mod views;
pub mod walk;
