//! What matters, and what does not.

use super::*;

/// Whether the second shared variable, boolean and with any value, matters to a thread that does this. The first is
/// an integer that nobody reads.
fn matters(ops: Vec<Op>) -> bool {
    let shared = vec![int("x"), any("b", Type::Bool), any("r", Type::Range(1, 2)), array("a", Type::Int, 2)];
    let locals = vec![int("l")];
    let callee = vec![variable("p", Type::Range(0, 1), Some(0)), int("q")];
    let draft = Draft::new(shared).procedure(locals, 0, ops);
    let reduction = draft.procedure(callee, 1, vec![Op::Return(vec![g(1)])]).reduce();
    let slot = reduction.program.shared[1].slot;
    if !reduction.shared[slot] {
        assert_eq!(reduction.program.shared[1].initial, [Some(0)]);
    }
    reduction.shared[slot]
}

#[test]
fn what_is_only_copied_does_not_matter() {
    let reduction = line(
        vec![int("x"), any("b", Type::Bool), any("r", Type::Range(1, 2))],
        vec![],
        vec![
            set(Target::Shared(0), Type::Int, g(1)),
            set(Target::Shared(1), Type::Bool, Expr::Choose(0, 1)),
            set(Target::Shared(2), Type::Range(1, 2), binary(Binary::Plus, g(1), c(1))),
        ],
    );
    assert_eq!(reduction.shared, [false; 3]);
    let values: Vec<_> = (0..3).map(|location| assigned(&reduction, location).clone()).collect();
    assert_eq!(values, [c(0), c(0), c(1)]);
    let initial: Vec<_> = reduction.program.shared.iter().map(|x| x.initial[0]).collect();
    assert_eq!(initial, [Some(0), Some(0), Some(1)]);
}

#[test]
fn control_matters() {
    assert!(matters(vec![guard(g(1))]));
    assert!(matters(vec![Op::Assert(g(1))]));
    let b = || vec![place(Target::Shared(0), Type::Int)];
    assert!(matters(vec![Op::Assign(b(), vec![c(1)], Some(g(1)))]));
    assert!(matters(vec![Op::Assign(b(), vec![c(1)], Some(Expr::NextShared(1)))]));
    // What is assigned matters if the constraint asks for it.
    let copied = |next| Op::Assign(b(), vec![g(1)], Some(binary(Binary::Less, Expr::NextShared(next), c(1))));
    assert!(matters(vec![copied(0)]));
    assert!(matters(vec![copied(2), copied(1)]));
    assert!(!matters(vec![copied(2)]));
}

#[test]
fn properties_matter() {
    let mut draft = Draft::new(vec![int("x"), int("y")]).procedure(vec![], 0, vec![]);
    draft.0.never.push(Never { name: None, expr: g(1), span: Span::default() });
    // Even a constant: the property is evaluated as it stands.
    assert_eq!(draft.reduce().shared, [false, true]);
}

#[test]
fn flow_into_what_matters_matters() {
    let local = |value| set(Target::Local(0), Type::Int, value);
    assert!(matters(vec![local(g(1)), guard(l(0))]));
    assert!(!matters(vec![local(g(1)), set(Target::Shared(0), Type::Int, l(0))]));
    assert!(matters(vec![set(Target::Shared(0), Type::Int, g(1)), guard(g(0))]));
    assert!(matters(vec![
        set(Target::SharedElement(3, 2, Expr::Choose(0, 1)), Type::Int, g(1)),
        guard(g(4))
    ]));
    assert!(matters(vec![set(Target::SharedElement(3, 2, g(1)), Type::Int, c(1)), guard(g(4))]));
    assert!(!matters(vec![set(Target::SharedElement(3, 2, g(1)), Type::Int, c(1)), guard(g(0))]));
}

#[test]
fn what_may_go_wrong_matters() {
    let stored = |value| matters(vec![set(Target::Shared(0), Type::Int, value)]);
    assert!(stored(binary(Binary::Divide, c(1), g(1))));
    assert!(stored(binary(Binary::Remainder, c(1), g(1))));
    assert!(!stored(binary(Binary::Divide, g(1), c(2))));
    assert!(stored(element(3, 2, binary(Binary::Plus, g(1), c(1)))));
    assert!(!stored(element(3, 2, g(1))));
    assert!(stored(binary(Binary::Plus, g(1), c(Value::MAX))));
    assert!(!stored(binary(Binary::Plus, g(1), c(Value::MAX - 1))));
    // The integer is added to itself, so nothing is known of it.
    let sum = || set(Target::Shared(0), Type::Int, binary(Binary::Plus, g(0), g(1)));
    assert!(matters(vec![sum()]));
    assert!(stored(Expr::Unary(Unary::Minus, Box::new(binary(Binary::Plus, g(1), c(Value::MIN))))));
    assert!(!stored(Expr::Unary(Unary::Minus, Box::new(g(1)))));
    let range = |value| matters(vec![set(Target::Shared(2), Type::Range(1, 2), value)]);
    assert!(range(g(1)));
    assert!(!range(binary(Binary::Plus, g(1), c(1))));
    let index = |index| matters(vec![set(Target::SharedElement(3, 2, index), Type::Int, c(1))]);
    assert!(index(binary(Binary::Times, g(1), c(2))));
    assert!(!index(g(1)));
}

#[test]
fn what_may_go_wrong_stays() {
    let quotient = binary(Binary::Divide, c(1), g(1));
    let shared = vec![int("x"), any("b", Type::Bool)];
    let reduction = line(shared, vec![], vec![set(Target::Shared(0), Type::Int, quotient.clone())]);
    assert_eq!(*assigned(&reduction, 0), quotient);
    assert_eq!(reduction.shared, [false, true]);
}

#[test]
fn calls_pass_values_on() {
    let call = |argument, places| Op::Call(ProcedureId(1), vec![argument], places);
    let x = || vec![place(Target::Shared(0), Type::Int)];
    assert!(!matters(vec![call(c(0), x())]));
    assert!(matters(vec![call(c(0), x()), guard(g(0))]));
    // The parameter is not read, but the argument must fit.
    assert!(!matters(vec![call(g(1), vec![])]));
    assert!(matters(vec![call(binary(Binary::Plus, g(1), c(1)), vec![])]));
    // Nor is the place, but the result must fit.
    assert!(matters(vec![call(c(0), vec![place(Target::Shared(2), Type::Range(1, 2))])]));
    let result = |index| vec![place(Target::SharedElement(3, 2, index), Type::Int)];
    assert!(matters(vec![call(c(0), result(binary(Binary::Plus, g(1), c(1))))]));
    assert!(!matters(vec![call(c(0), result(Expr::Choose(0, 1)))]));
}

#[test]
fn a_result_that_does_not_matter_fits_all_places() {
    let shared = vec![variable("r", Type::Range(2, 5), Some(2)), any("b", Type::Bool)];
    let call = Op::Call(ProcedureId(1), vec![], vec![place(Target::Shared(0), Type::Range(2, 5))]);
    let draft = Draft::new(shared).procedure(vec![], 0, vec![call]);
    let results = vec![binary(Binary::Plus, g(1), c(3))];
    let reduction = draft.procedure(vec![], 0, vec![Op::Return(results)]).reduce();
    assert_eq!(*op(&reduction, 2), Op::Return(vec![c(3)]));
    assert_eq!(reduction.shared, [false, false]);
}

#[test]
fn spawned_threads_get_arguments() {
    let spawn = |expr| Op::Spawn(TemplateId(0), vec![expr]);
    let draft = |read: Op| {
        let shared = vec![any("b", Type::Bool)];
        Draft::new(shared).procedure(vec![bool("p")], 1, vec![spawn(g(0)), read])
    };
    assert_eq!(draft(guard(l(0))).reduce().shared, [true]);
    let reduction = draft(Op::Skip).reduce();
    assert_eq!((reduction.shared.as_slice(), op(&reduction, 0)), (&[false][..], &spawn(c(0))));
}

#[test]
fn locks_and_their_indices_matter() {
    let acquire = Op::Acquire(lock_at(1, Some((2, g(0)))));
    let shared = vec![any("b", Type::Bool), array("m", Type::Lock, 2), variable("n", Type::Lock, Some(0))];
    let reduction = line(shared, vec![], vec![acquire.clone()]);
    assert_eq!(reduction.shared, [true; 4]);
    assert_eq!(reduction.locks, [false, true, true, true]);
    assert_eq!(*op(&reduction, 0), acquire);
}

#[test]
fn what_other_threads_write_matters() {
    let mixed = || Variable { mixed: true, ..bool("x") };
    let others = set(Target::Others(0), Type::Bool, g(0));
    let reduction = line(vec![any("b", Type::Bool)], vec![mixed()], vec![others.clone()]);
    assert_eq!((reduction.shared.as_slice(), op(&reduction, 0)), (&[true][..], &others));
    // It is not checked whether what they write fits, so nothing is known of it.
    let index = vec![set(Target::SharedElement(0, 2, l(0)), Type::Int, c(0))];
    let reduction = line(vec![array("a", Type::Int, 2)], vec![mixed()], index.clone());
    assert_eq!(*op(&reduction, 0), index[0]);
}

#[test]
fn bounds_follow_from_what_is_stored() {
    // x is 1 or 2, y is x or 5, so an index of y - x is below 5.
    let x = |value| set(Target::Shared(0), Type::Int, value);
    let y = |value| set(Target::Shared(1), Type::Int, value);
    let index = |length| {
        let difference = binary(Binary::Minus, g(1), g(0));
        set(Target::SharedElement(2, length, difference), Type::Int, c(1))
    };
    let reduce = |length| {
        let ops = vec![x(c(2)), y(g(0)), y(c(5)), index(length)];
        let draft = Draft::new(vec![
            variable("x", Type::Int, Some(1)),
            variable("y", Type::Int, Some(2)),
            array("a", Type::Int, length),
        ]);
        draft.procedure(vec![], 0, ops).reduce().shared[0]
    };
    // The difference may be -1 as far as bounds can tell.
    assert!(reduce(5));
    let ops = vec![x(c(2)), set(Target::SharedElement(1, 3, g(0)), Type::Int, c(1))];
    let shared = vec![variable("x", Type::Int, Some(1)), array("a", Type::Int, 3)];
    assert_eq!(line(shared, vec![], ops).shared, [false; 4]);
}
