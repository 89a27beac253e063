//! Where local variables are live.

use super::*;

fn bools(count: usize) -> Vec<Variable> {
    (0..count).map(|index| any(&format!("l{index}"), Type::Bool)).collect()
}

fn assign(slot: Slot, value: Expr) -> Op {
    set(Target::Local(slot), Type::Bool, value)
}

#[test]
fn a_variable_lives_from_its_last_write_to_its_last_read() {
    let ops = vec![Op::Skip, assign(0, Expr::Choose(0, 1)), guard(l(0)), Op::Skip];
    let reduction = line(vec![], bools(1), ops);
    assert_eq!(reduction.live, [[false], [false], [true], [false], [false]]);
    // It is dead at the start, so it may as well start with one value.
    assert_eq!(reduction.program.procedures[0].locals[0].initial, [Some(0)]);
    let ops = vec![assign(0, Expr::Unary(Unary::Not, Box::new(l(0)))), guard(l(0))];
    let reduction = line(vec![], bools(1), ops);
    assert_eq!(reduction.live, [[true], [true], [false]]);
    assert_eq!(reduction.program.procedures[0].locals[0].initial, [None]);
}

#[test]
fn loops_keep_variables_alive() {
    let draft = Draft::new(vec![]).procedure(bools(1), 0, vec![guard(l(0)), Op::Skip, Op::Skip]);
    assert_eq!(draft.edge(2, Op::Skip, 0).reduce().live, [[true], [true], [true], [false]]);
}

#[test]
fn elements_do_not_overwrite_arrays() {
    let initial = vec![None; 2];
    let array = Variable { initial, ..array("a", Type::Bool, 2) };
    let write = |index| set(Target::LocalElement(0, 2, index), Type::Bool, Expr::Choose(0, 1));
    let locals = || vec![array.clone(), any("i", Type::Bool)];
    let read = Expr::LocalElement(0, 2, Box::new(l(2)), Span::default());
    let reduction = line(vec![], locals(), vec![write(l(2)), guard(read.clone())]);
    assert_eq!(reduction.live[0], [true, true, true]);
    let reduction = line(vec![], locals(), vec![write(c(1)), guard(read)]);
    assert_eq!(reduction.live[0], [true, false, true]);
}

#[test]
fn constraints_read_what_is_not_assigned() {
    let constraint = Some(binary(Binary::Equal, Expr::NextLocal(0), Expr::NextLocal(1)));
    let op = Op::Assign(vec![place(Target::Local(0), Type::Bool)], vec![Expr::Choose(0, 1)], constraint);
    assert_eq!(line(vec![], bools(2), vec![op]).live, [[false, true], [false, false]]);
}

#[test]
fn calls_keep_what_the_caller_needs() {
    // l0 gets the result, l1 is the argument, l2 is read afterwards, l3 selects the place of a result.
    let array = array("a", Type::Bool, 2);
    let places =
        vec![place(Target::Local(0), Type::Bool), place(Target::SharedElement(0, 2, l(3)), Type::Bool)];
    let ops = vec![
        Op::Call(ProcedureId(1), vec![l(1)], places),
        guard(binary(Binary::And, l(0), l(2))),
        guard(g(0)),
    ];
    let draft = Draft::new(vec![array]).procedure(bools(4), 0, ops);
    let draft = draft.procedure(bools(1), 1, vec![guard(l(0)), Op::Return(vec![l(0), c(1)])]);
    let reduction = draft.reduce();
    assert_eq!(reduction.live_on_return[&(LocationId(0), 0)], [false, false, true, true]);
    assert_eq!(reduction.live[0], [false, true, true, true]);
    assert_eq!(reduction.live[1], [true, false, true, false]);
    assert_eq!((&reduction.live[4], &reduction.live[5]), (&vec![true], &vec![true]));
}

#[test]
fn what_others_write_is_live_during_a_call() {
    let mixed = Variable { mixed: true, ..any("x", Type::Bool) };
    let call = Op::Call(ProcedureId(1), vec![], vec![place(Target::Local(0), Type::Bool)]);
    let draft = Draft::new(vec![]).procedure(vec![mixed], 0, vec![call]);
    let reduction = draft.procedure(vec![], 0, vec![Op::Return(vec![c(1)])]).reduce();
    assert_eq!(reduction.live_on_return[&(LocationId(0), 0)], [true]);
}

#[test]
fn a_call_without_results_leads_straight_on() {
    let ops = vec![Op::Call(ProcedureId(1), vec![], vec![]), guard(l(0))];
    let draft = Draft::new(vec![]).procedure(bools(2), 0, ops).procedure(bools(1), 0, vec![]);
    let reduction = draft.reduce();
    assert_eq!(reduction.live_on_return[&(LocationId(0), 0)], reduction.live[1]);
    assert_eq!(reduction.live[0], [true, false]);
}

#[test]
fn forks_waits_and_other_threads() {
    let ops =
        vec![Op::Fork(LocationId(3)), assign(0, c(1)), Op::Return(vec![]), Op::Wait(EventId(0)), guard(l(0))];
    let reduction = line(vec![], bools(1), ops);
    assert_eq!(reduction.live, [[true], [false], [false], [true], [true], [false]]);
    let mixed = Variable { mixed: true, ..any("x", Type::Bool) };
    let reduction = line(vec![], vec![mixed], vec![Op::Skip, assign(0, c(1))]);
    assert_eq!(reduction.live, [[true], [true], [true]]);
}

#[test]
fn what_does_not_matter_is_never_live() {
    let ops = vec![assign(1, l(0)), assign(0, l(1))];
    let reduction = line(vec![], bools(2), ops);
    assert_eq!(reduction.live, vec![vec![false; 2]; 3]);
}
