//! Whether only holders release locks.

use super::*;

fn acquire(slot: Slot) -> Op {
    Op::Acquire(lock_at(slot, None))
}

fn release(slot: Slot) -> Op {
    Op::Release(lock_at(slot, None))
}

fn draft(ops: Vec<Op>) -> Draft {
    let shared = vec![variable("m", Type::Lock, Some(0)), array("n", Type::Lock, 2), any("b", Type::Bool)];
    Draft::new(shared).procedure(vec![], 0, ops)
}

fn safe(ops: Vec<Op>) -> bool {
    draft(ops).reduce().locks_are_safe
}

#[test]
fn a_release_needs_an_acquire_before_it() {
    assert!(safe(vec![]));
    assert!(line(vec![], vec![], vec![]).locks_are_safe);
    assert!(safe(vec![acquire(0), Op::Skip, release(0), acquire(0)]));
    assert!(!safe(vec![release(0)]));
    assert!(!safe(vec![acquire(1), release(0)]));
    assert!(!safe(vec![acquire(0), release(0), release(0)]));
    assert!(safe(vec![Op::AtomicBegin, acquire(0), acquire(1), release(0), release(1), Op::AtomicEnd]));
}

#[test]
fn on_all_ways() {
    let ops = || vec![Op::Skip, acquire(0), release(0)];
    assert!(draft(ops()).edge(0, acquire(0), 2).reduce().locks_are_safe);
    assert!(!draft(ops()).edge(0, guard(g(3)), 2).reduce().locks_are_safe);
    // A way that cannot be taken does not count.
    assert!(draft(ops()).edge(0, guard(c(0)), 2).reduce().locks_are_safe);
}

#[test]
fn of_an_array_only_known_elements() {
    let some = |index| lock_at(1, Some((2, index)));
    let known = vec![Op::Acquire(some(c(1))), Op::Release(some(c(1)))];
    assert!(safe(known));
    assert!(!safe(vec![Op::Acquire(some(g(3))), Op::Release(some(g(3)))]));
    assert!(!safe(vec![Op::Acquire(some(g(3))), release(1)]));
    assert!(safe(vec![Op::Acquire(some(g(3)))]));
}

#[test]
fn a_callee_holds_nothing_of_its_own_and_may_release() {
    let call = |callee| Op::Call(ProcedureId(callee), vec![], vec![]);
    let with = |ops, callee: Vec<Op>| {
        draft(ops).procedure(vec![], 0, vec![call(2)]).procedure(vec![], 0, callee).reduce().locks_are_safe
    };
    assert!(with(vec![acquire(0), call(1), release(0)], vec![acquire(1), release(1)]));
    // Locked here, released there: not followed.
    assert!(!with(vec![acquire(0), call(1)], vec![release(0)]));
    assert!(!with(vec![acquire(0), call(1), release(0)], vec![acquire(0), release(0)]));
}

#[test]
fn a_forked_thread_holds_nothing() {
    assert!(!safe(vec![acquire(0), Op::Fork(LocationId(2)), release(0)]));
    assert!(safe(vec![acquire(0), Op::Fork(LocationId(3)), release(0)]));
}

#[test]
fn a_lock_is_no_variable() {
    assert!(!safe(vec![guard(g(0))]));
    assert!(!safe(vec![set(Target::Shared(0), Type::Lock, c(0))]));
    assert!(!safe(vec![acquire(3)]));
}
