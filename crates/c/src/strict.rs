//! A program that goes wrong where another one is not followed.
//!
//! Where the property asked about is not that memory is safe, an access outside of an array or a division by zero is no
//! violation: the run is not followed from there, and nothing is proved if a run comes there. But a bound from above may come
//! there although no run does, and then proves nothing either. Of a program that goes wrong there, a proof says that no run
//! comes to such a place, and that none goes wrong before; so it is a proof of the program itself, and engines can look for it.
//!
//! Invariant: a run of the program that stays within what is followed is one of the result, and one that leaves it goes wrong.

use allways_model::program::{Binary, Expr, Op, Place, Program, Target, Value};

/// Goes wrong where the program is not followed; says whether there are such places.
pub fn go_wrong_beyond(program: &mut Program) -> bool {
    let mut found = false;
    for edge in program.locations.iter_mut().flat_map(|location| &mut location.edges) {
        if edge.op == Op::Beyond {
            edge.op = Op::Error;
            found = true;
        }
        edge.op.rewrite(&mut |expr| match expr {
            Expr::SharedElement(_, length, index, _) | Expr::LocalElement(_, length, index, _) => {
                found |= index_alone(index, *length);
            }
            Expr::Binary(Binary::Divide | Binary::Remainder, _, by, _) => found |= divisor_alone(by),
            _ => {}
        });
        let places: &mut [Place] = match &mut edge.op {
            Op::Assign(places, ..) | Op::Call(_, _, places) => places,
            _ => &mut [],
        };
        for place in places {
            if let Target::SharedElement(_, length, index) | Target::LocalElement(_, length, index) =
                &mut place.target
            {
                found |= index_alone(index, *length);
            }
        }
    }
    found
}

/// Whether an expression is a number too large to be followed.
pub fn is_beyond(expr: &Expr) -> bool {
    let Expr::Binary(Binary::Plus, left, right, _) = expr else { return false };
    matches!((&**left, &**right), (Expr::Constant(Value::MAX), Expr::Constant(1)))
}

/// An index that is tested to be one of its array becomes the index alone.
fn index_alone(index: &mut Expr, length: usize) -> bool {
    let Expr::If(condition, then, other) = &*index else { return false };
    let Expr::Binary(Binary::And, above, below, _) = &**condition else { return false };
    let compared = |expr: &Expr, operator: Binary, with: Value| match expr {
        Expr::Binary(by, left, right, _) => {
            *by == operator && left == then && **right == Expr::Constant(with)
        }
        _ => false,
    };
    let tested = compared(above, Binary::GreaterEqual, 0) && compared(below, Binary::Less, length as Value);
    if !tested || !is_beyond(other) {
        return false;
    }
    *index = (**then).clone();
    true
}

/// A divisor that is tested to be none other than zero becomes the divisor alone.
fn divisor_alone(by: &mut Expr) -> bool {
    let Expr::If(condition, then, other) = &*by else { return false };
    let Expr::Binary(Binary::Equal, left, right, _) = &**condition else { return false };
    if left != other || **right != Expr::Constant(0) || !is_beyond(then) {
        return false;
    }
    *by = (**other).clone();
    true
}
