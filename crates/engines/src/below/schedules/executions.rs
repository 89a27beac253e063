//! Executions one by one, none of the configurations remembered: what a tool that tests has to do (DBS, section 4).
//!
//! The bound grows from 0. In each round all executions within the bound are run, depth first and cheapest choice first; those
//! that cost less than the bound were run before and do not count again.

use super::asynchronous::{Asynchronous, Configuration, Reached};
use super::bounding::Bounding;

/// How many executions it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Executions {
    /// The bound that was reached.
    pub bound: usize,
    /// The executions that were run.
    pub count: usize,
    /// Whether the last one goes wrong.
    pub wrong: bool,
    /// Whether there are no others; if nothing went wrong and this is false, there were more than allowed.
    pub all: bool,
}

/// Runs executions until one goes wrong, or all were run, or so many. One that is longer than `steps` is cut there.
pub fn executions<B: Bounding>(
    program: &Asynchronous<'_>,
    bounding: &B,
    steps: usize,
    most: usize,
) -> Executions {
    let mut done = Executions { bound: 0, count: 0, wrong: false, all: false };
    let Some(initial) = program.initial(bounding) else { return done };
    loop {
        let mut beyond_bound = false;
        for configuration in &initial {
            let mut todo = vec![(configuration.clone(), 0, 0)];
            while let Some((configuration, cost, length)) = todo.pop() {
                let end = extend(program, bounding, (&configuration, cost, length), done.bound, &mut todo);
                let ends = match end {
                    End::Wrong => {
                        done.count += 1;
                        done.wrong = true;
                        return done;
                    }
                    End::Cut => {
                        beyond_bound = true;
                        true
                    }
                    End::Branches(costly) => {
                        beyond_bound |= costly;
                        false
                    }
                    End::Last => true,
                };
                let too_long = length >= steps;
                if too_long && !ends {
                    // What was added last are its successors; they are not run.
                    while todo.last().is_some_and(|(_, _, longer)| *longer > length) {
                        todo.pop();
                    }
                }
                if (ends || too_long) && cost == done.bound {
                    done.count += 1;
                    if done.count >= most {
                        return done;
                    }
                }
            }
        }
        if !beyond_bound {
            done.all = true;
            return done;
        }
        done.bound += 1;
    }
}

enum End {
    /// It goes wrong here.
    Wrong,
    /// It goes on only beyond the bound.
    Cut,
    /// It goes on, perhaps beyond the bound as well.
    Branches(bool),
    /// It ends here.
    Last,
}

/// Adds what may come after a configuration, the cheapest last.
fn extend<B: Bounding>(
    program: &Asynchronous<'_>,
    bounding: &B,
    (configuration, cost, length): (&Configuration<B::Object>, usize, usize),
    bound: usize,
    todo: &mut Vec<(Configuration<B::Object>, usize, usize)>,
) -> End {
    if let Some(Reached::Wrong(_)) = program.violated(bounding, configuration) {
        return End::Wrong;
    }
    let successors = program.successors(bounding, configuration);
    if successors.iter().any(|successor| matches!(successor.reached, Reached::Wrong(_))) {
        return End::Wrong;
    }
    let (none, before) = (successors.is_empty(), todo.len());
    let mut costly = false;
    for successor in successors.into_iter().rev() {
        let Reached::To(to) = successor.reached else { continue };
        match cost + successor.cost <= bound {
            true => todo.push((to, cost + successor.cost, length + 1)),
            false => costly = true,
        }
    }
    match todo.len() > before {
        true => End::Branches(costly),
        false if none => End::Last,
        false => End::Cut,
    }
}
