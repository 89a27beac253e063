//! The reference step function.
