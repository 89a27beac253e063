//! What a task is about to do, as the types of this crate announce it to the scheduler: which objects the operation touches
//! and how, and what it waits for.
//!
//! Two operations are independent if they lead to the same state in both orders and neither makes the other possible or
//! impossible. Reduction (`world.rs`) leaves out orders of independent operations, so this must never be claimed wrongly;
//! whatever is not known is dependent.

/// How an operation touches an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// One more reference to the object. It has at least one, which the task holds.
    Clone,
    /// One reference less; who drops the last one destroys the object.
    Drop,
}

/// The objects that an operation touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touches {
    /// Nothing that another task could touch: starting a thread, waiting for one that has ended.
    Nothing,
    One(u32, Access),
    Two((u32, Access), (u32, Access)),
    /// Not known, or everything: giving up the turn, ending the execution.
    Everything,
}

/// What an operation does if what it waits for does not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    Waits,
    /// It may give up at any time, and does if nobody else can go on.
    TimesOut,
    /// It may go on at any time.
    WakesUp,
}

/// No gate.
pub(crate) const OPEN: u32 = u32::MAX;

/// An operation that is announced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub touches: Touches,
    /// The object that must be open in any case.
    pub hard: u32,
    /// The object that must be open, or else `otherwise`.
    pub soft: u32,
    pub otherwise: Otherwise,
    pub yields: bool,
}

impl Operation {
    pub const fn on(touches: Touches) -> Operation {
        Operation { touches, hard: OPEN, soft: OPEN, otherwise: Otherwise::Waits, yields: false }
    }

    pub fn read(object: u32) -> Operation {
        Operation::on(Touches::One(object, Access::Read))
    }

    pub fn write(object: u32) -> Operation {
        Operation::on(Touches::One(object, Access::Write))
    }

    /// Writes the object when the gate is open.
    pub fn when(self, gate: u32) -> Operation {
        Operation { hard: gate, ..self }
    }
}

/// Whether two operations of different tasks are independent, given the number of references to an object.
pub(crate) fn independent(a: Touches, b: Touches, references: impl Fn(u32) -> usize) -> bool {
    let pair = |(x, how): (u32, Access), (y, other): (u32, Access)| {
        x != y
            || match (how, other) {
                (Access::Read, Access::Read) | (Access::Clone, Access::Clone) => true,
                (Access::Clone, Access::Drop) | (Access::Drop, Access::Clone) => true,
                // With a third reference, neither is the last one.
                (Access::Drop, Access::Drop) => references(x) > 2,
                _ => false,
            }
    };
    match (list(a), list(b)) {
        (Some(a), Some(b)) => {
            a.into_iter().flatten().all(|one| b.into_iter().flatten().all(|other| pair(one, other)))
        }
        _ => a == Touches::Nothing || b == Touches::Nothing,
    }
}

fn list(touches: Touches) -> Option<[Option<(u32, Access)>; 2]> {
    match touches {
        Touches::Nothing => Some([None, None]),
        Touches::One(object, access) => Some([Some((object, access)), None]),
        Touches::Two(one, other) => Some([Some(one), Some(other)]),
        Touches::Everything => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independence() {
        let (read, write) = (Touches::One(1, Access::Read), Touches::One(1, Access::Write));
        let both = Touches::Two((2, Access::Write), (1, Access::Read));
        let check = |a, b| (independent(a, b, |_| 2), independent(b, a, |_| 3));
        assert_eq!(check(read, read), (true, true));
        assert_eq!(check(read, write), (false, false));
        assert_eq!(check(read, both), (true, true));
        assert_eq!(check(write, both), (false, false));
        assert_eq!(check(write, Touches::Everything), (false, false));
        assert_eq!(check(Touches::Nothing, Touches::Everything), (true, true));
        let drop = Touches::One(1, Access::Drop);
        assert_eq!(check(drop, drop), (false, true));
        assert_eq!(check(drop, Touches::One(1, Access::Clone)), (true, true));
        assert_eq!(check(drop, read), (false, false));
    }
}
