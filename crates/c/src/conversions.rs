//! Conversions that change nothing, taken out.
//!
//! A variable all of whose values, by [`crate::bounds`], are numbers of the type that it is converted to has the same value
//! afterwards. Without the conversion its value is a copy, and copies are followed further than what is computed.

use crate::bounds::Ranges;
use allways_model::program::{Expr, Program, Unary};

/// Takes out the conversions of variables that change nothing.
pub fn forget(program: &mut Program) {
    let before = program.clone();
    let ranges = Ranges::of_variables(&before);
    for location in &mut program.locations {
        let here = location.procedure;
        for edge in &mut location.edges {
            edge.op.rewrite(&mut |expr| {
                let Expr::Unary(Unary::Wrap(machine), part) = expr else { return };
                let variable = matches!(
                    **part,
                    Expr::Shared(_) | Expr::Local(_) | Expr::SharedElement(..) | Expr::LocalElement(..)
                );
                let ((low, high), (least, most)) = (ranges.of(here, part), machine.bounds());
                if variable && least <= low && high <= most {
                    *expr = std::mem::replace(part, Expr::Constant(0));
                }
            });
        }
    }
}
