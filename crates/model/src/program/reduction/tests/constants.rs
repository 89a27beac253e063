//! What has one value, and what is never reached.

use super::*;

#[test]
fn a_shared_variable_that_nobody_changes_is_its_value() {
    let less = binary(Binary::Less, g(0), c(4));
    let ops = vec![guard(less), set(Target::Shared(0), Type::Int, c(3)), Op::Error];
    let reduction = line(vec![variable("x", Type::Int, Some(3))], vec![], ops);
    assert_eq!(*op(&reduction, 0), guard(c(1)));
    assert_eq!(reduction.shared, [false]);
}

#[test]
fn one_with_any_initial_value_or_another_write_is_not() {
    let reduction = line(vec![any("x", Type::Bool)], vec![], vec![guard(g(0))]);
    assert_eq!(*op(&reduction, 0), guard(g(0)));
    assert_eq!(reduction.shared, [true]);
    let ops = vec![guard(g(0)), set(Target::Shared(0), Type::Bool, c(1))];
    let draft = Draft::new(vec![bool("x")]).procedure(vec![], 0, ops).edge(0, Op::Skip, 1);
    assert_eq!(*op(&draft.reduce(), 0), guard(g(0)));
}

#[test]
fn a_write_that_is_never_reached_is_none() {
    let ops = vec![guard(g(0)), set(Target::Shared(0), Type::Bool, c(1)), Op::Error];
    let reduction = line(vec![bool("x")], vec![], ops);
    for location in 0..3 {
        assert_eq!(*op(&reduction, location), guard(c(0)));
    }
}

#[test]
fn a_write_to_some_element_is_one_to_all() {
    let write = |index| set(Target::SharedElement(0, 2, index), Type::Int, c(7));
    let ops = |index| vec![write(index), guard(element(0, 2, c(1)))];
    let shared = || vec![array("a", Type::Int, 2)];
    let choice = line(shared(), vec![], ops(Expr::Choose(0, 1)));
    assert_eq!(*op(&choice, 1), guard(g(1)));
    assert_eq!(choice.shared, [false, true]);
    // A known element is only itself.
    let first = line(shared(), vec![], ops(c(0)));
    assert_eq!(*op(&first, 1), guard(c(0)));
}

#[test]
fn of_a_local_array_the_other_elements_keep_their_values() {
    let write = |value| set(Target::LocalElement(0, 2, Expr::Choose(0, 1)), Type::Int, c(value));
    let ops = vec![write(0), guard(Expr::Unary(Unary::Not, Box::new(l(1)))), write(7), guard(l(1))];
    let reduction = line(vec![], vec![array("a", Type::Int, 2)], ops);
    assert_eq!((op(&reduction, 1), op(&reduction, 3)), (&guard(c(1)), &guard(l(1))));
}

#[test]
fn results_and_locks_are_writes() {
    let call = Op::Call(ProcedureId(1), vec![], vec![place(Target::Shared(0), Type::Int)]);
    let draft = Draft::new(vec![int("x")]).procedure(vec![], 0, vec![call, guard(g(0))]);
    let draft = draft.procedure(vec![], 0, vec![Op::Return(vec![c(1)])]);
    assert_eq!(*op(&draft.reduce(), 1), guard(g(0)));
    let ops = vec![Op::Acquire(lock_at(0, None)), guard(g(0))];
    let reduction = line(vec![variable("m", Type::Lock, Some(0))], vec![], ops);
    assert_eq!(*op(&reduction, 1), guard(g(0)));
}

#[test]
fn local_variables_are_constants_where_all_ways_agree() {
    let set = |value| set(Target::Local(0), Type::Int, c(value));
    let ops = || vec![set(1), guard(l(0)), Op::Skip, guard(l(0))];
    let draft = Draft::new(vec![]).procedure(vec![int("x")], 0, ops());
    let reduction = draft.reduce();
    assert_eq!((op(&reduction, 1), op(&reduction, 3)), (&guard(c(1)), &guard(c(1))));
    let reduction = draft.edge(1, set(2), 2).reduce();
    assert_eq!((op(&reduction, 1), op(&reduction, 3)), (&guard(c(1)), &guard(l(0))));
}

#[test]
fn parameters_results_and_mixed_variables_vary() {
    let locals = || vec![int("p"), int("x"), int("y")];
    let call = Op::Call(ProcedureId(1), vec![c(1)], vec![place(Target::Local(1), Type::Int)]);
    let draft = Draft::new(vec![]).procedure(locals(), 0, vec![call, guard(l(1))]);
    let draft = draft.procedure(locals(), 1, vec![guard(l(0)), Op::Return(vec![l(1)])]);
    let reduction = draft.reduce();
    assert_eq!(*op(&reduction, 1), guard(l(1)));
    assert_eq!(*op(&reduction, 3), guard(l(0)));
    assert_eq!(*op(&reduction, 4), Op::Return(vec![c(0)]));
    let mixed = Variable { mixed: true, ..int("x") };
    let ops = vec![set(Target::Local(0), Type::Int, c(1)), guard(l(0))];
    assert_eq!(*op(&line(vec![], vec![mixed], ops), 1), guard(l(0)));
}

#[test]
fn a_fork_copies_the_local_variables() {
    // Location 3 is entered with x = 1 by control and with x = 0 by a fork.
    let ops = vec![Op::Fork(LocationId(3)), set(Target::Local(0), Type::Int, c(1)), Op::Skip, guard(l(0))];
    assert_eq!(*op(&line(vec![], vec![int("x")], ops), 3), guard(l(0)));
}

#[test]
fn what_could_go_wrong_is_not_folded_away() {
    let zero = || binary(Binary::Divide, c(1), c(0));
    let large = || binary(Binary::Plus, c(Value::MAX), c(1));
    let outside = || element(0, 1, c(1));
    let shared = || vec![array("a", Type::Int, 1), any("b", Type::Bool)];
    for fault in [zero, large, outside] {
        for kept in [
            fault(),
            binary(Binary::And, fault(), c(0)),
            binary(Binary::Or, fault(), c(1)),
            binary(Binary::And, g(1), fault()),
            Expr::If(Box::new(fault()), Box::new(c(1)), Box::new(c(1))),
        ] {
            assert_eq!(*op(&line(shared(), vec![], vec![guard(kept.clone())]), 0), guard(kept));
        }
        let not_evaluated = [
            (binary(Binary::And, c(0), fault()), 0),
            (binary(Binary::Or, c(2), fault()), 1),
            (Expr::If(Box::new(c(0)), Box::new(fault()), Box::new(c(5))), 5),
        ];
        for (expr, value) in not_evaluated {
            assert_eq!(*op(&line(shared(), vec![], vec![guard(expr)]), 0), guard(c(value)));
        }
    }
}

#[test]
fn the_value_of_and_and_or_is_that_of_the_last_operand() {
    let folded = |expr| op(&line(vec![any("b", Type::Bool)], vec![], vec![guard(expr)]), 0).clone();
    assert_eq!(folded(binary(Binary::And, c(2), c(3))), guard(c(3)));
    assert_eq!(folded(binary(Binary::Or, c(0), c(3))), guard(c(3)));
    assert_eq!(folded(binary(Binary::And, g(0), c(0))), guard(c(0)));
    assert_eq!(folded(binary(Binary::Or, g(0), c(1))), guard(c(1)));
    // 1 or 3, whichever comes first.
    let either = binary(Binary::Or, g(0), c(3));
    assert_eq!(folded(either.clone()), guard(either));
    assert_eq!(folded(Expr::Choose(1, 1)), guard(Expr::Choose(1, 1)));
}

#[test]
fn a_constraint_sees_the_values_afterwards() {
    let constraint = |slot| Some(binary(Binary::Equal, Expr::NextLocal(slot), c(1)));
    let assign = |slot| Op::Assign(vec![place(Target::Local(0), Type::Int)], vec![c(1)], constraint(slot));
    let reduction = line(vec![], vec![int("x"), int("y")], vec![assign(0), assign(1), Op::Error]);
    assert!(matches!(op(&reduction, 0), Op::Assign(_, _, Some(Expr::Constant(1)))));
    assert!(matches!(op(&reduction, 1), Op::Assign(_, _, Some(Expr::Constant(0)))));
    assert_eq!(*op(&reduction, 2), guard(c(0)));
}

#[test]
fn woken_threads_go_on() {
    let draft = Draft::new(vec![]).procedure(vec![], 0, vec![Op::Wait(EventId(0)), Op::Error]);
    assert_eq!(*op(&draft.reduce(), 1), Op::Error);
}
