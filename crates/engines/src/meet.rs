//! Methods: below and above run against each other until they meet.
//!
//! * [`druba`]: explore under growing rounds and delays, wait for a plateau, test closure (DrUBA, Algorithm 1);
//! * [`ai`]: the same exploration, closure tested after each increment.

pub mod ai;
pub mod druba;
pub mod walk;
