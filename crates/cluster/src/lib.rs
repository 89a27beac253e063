//! Exploration by many workers: threads of one process, or processes on several machines, on timely dataflow.
//!
//! For finite systems whose states do not fit into the memory of one machine, or take too long on one core. The states are
//! divided among the workers by a hash of what they are, and the search goes level by level, breadth first: the same states,
//! counts, verdicts and lengths of traces as those of the engine `free`. Read in this order:
//!
//! * [`settings`]: how many workers, and where; [`control`]: what a supervisor and its workers tell each other;
//! * [`exchange`]: the dataflows; [`network`]: processes that find each other, and notice when one is lost;
//! * [`pieces`]: what states are made of, by names that mean the same everywhere; [`shard`]: the states of one worker;
//!   [`levels`]: where they are, in memory or on disk; [`disk`], [`runs`], [`spill`]: how they are on disk;
//! * [`explore`](mod@explore): the search; [`trace`]: the way to a bad state, found after the fact;
//! * [`certify`]: a second dataflow, in which what was found is checked by the reference semantics; [`buckets`]: the same on disk;
//! * [`checkpoint`]: what a run has found, kept for another;
//! * [`work`](mod@work): what each worker does; [`run`](mod@run): the supervisor; [`engine`]: all this as an engine.

pub mod buckets;
pub mod certify;
pub mod checkpoint;
pub mod control;
pub mod disk;
pub mod engine;
pub mod exchange;
pub mod explore;
pub mod levels;
pub mod network;
pub mod pieces;
pub mod run;
pub mod runs;
pub mod settings;
pub mod shard;
pub mod spill;
pub mod trace;
pub mod work;

pub use engine::Cluster;
pub use settings::{Hosts, Settings, Spill};
