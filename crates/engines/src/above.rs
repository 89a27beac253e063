//! Bounds: everything reachable lies within what they compute.
//!
//! * [`closure`]: whether the abstract states reached so far are closed, and so are all there are;
//! * [`exact`]: the reachable states themselves, where an explorer has exhausted them.

pub mod closure;
pub mod exact;
