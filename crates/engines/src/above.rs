//! Bounds: everything reachable lies within what they compute.
//!
//! * [`closure`]: whether the abstract states reached so far are closed, and so are all there are;
//! * [`tops`]: the least set of abstract states that is closed;
//! * [`emerging`]: the coarser one of the CUBA paper;
//! * [`thread_modular`]: products of sets of thread states;
//! * [`predicates`]: programs with integers as Boolean programs;
//! * [`views`]: what few threads of a program see together, by predicates and a solver;
//! * [`finite_contexts`]: whether one context reaches finitely many states;
//! * [`exact`]: the reachable states themselves, where an explorer has exhausted them.

pub mod closure;
pub mod emerging;
pub mod exact;
pub mod finite_contexts;
pub mod predicates;
pub mod thread_modular;
pub mod tops;
pub mod views;
