//! What is not the program's: pointers that the environment gives, and the memory of devices.
//!
//! A pointer from `__VERIFIER_nondet_pointer`, or from a function without a body, may be any. Here it is the null pointer or
//! the address of an object that nobody else has, with any content: one for each call as it is inlined, of the type that the
//! result is converted to. A run with such a pointer is one that the environment may choose, so that errors are real; "safe"
//! would be a claim about the other pointers, too, and is not made where it matters which pointer is given.
//!
//! Memory that is given without a type is that of a *device*: it has as many slots as bytes, so that pointers to `void` can be
//! moved in it. Nothing but assembly can read it, which finds any value: hardware may change it at any time.

use super::input::any_of;
use super::layout::device;
use super::places::{Target, address_of};
use super::{Access, Lowering, Model, Object, ObjectId, Part, Result, refuse};
use crate::slots::{self, Kind};
use crate::typed::{Expr, ExprKind, Reading, Type};
use allways_model::program::Span;

/// How the names of these objects start; the line follows.
const GIVEN: &str = "#given@";

/// How many bytes of a device there are.
const DEVICE: usize = 512;

/// An object with more slots is not given.
const MOST_GIVEN: usize = 4096;

impl Lowering<'_> {
    /// A pointer that the environment gives.
    pub(super) fn given(&mut self, call: &Expr, name: &str) -> Result<Vec<Model>> {
        let span = call.span;
        if self.property.memory && !name.starts_with("__VERIFIER_nondet") {
            // How much memory is there, nobody says.
            return refuse(span, format!("`{name}` is not known, and its result is a pointer"));
        }
        let outer = || self.body.calls.iter().rev().find_map(|inlined| inlined.allocates.clone());
        let ty = self.allocated.get(&std::ptr::from_ref(call)).cloned().or_else(outer);
        let followed =
            |ty: &Type| slots::count(self.unit, ty).is_some_and(|count| (1..=MOST_GIVEN).contains(&count));
        let leaves: Vec<(String, Type, Kind, bool)> = match ty.filter(followed) {
            Some(ty) => slots::leaves(self.unit, &ty)
                .into_iter()
                .map(|leaf| (leaf.path, leaf.ty, leaf.kind, leaf.joined))
                .collect(),
            None => (0..DEVICE).map(|byte| (format!("[{byte}]"), device(), Kind::Library, false)).collect(),
        };
        let part = |(path, scalar, kind, joined)| {
            let initial = (scalar == device()).then_some(Model::Constant(0));
            let ty = match scalar == device() {
                true => allways_model::program::Type::Range(0, 0),
                false => slots::values(&scalar),
            };
            Part { path, ty, scalar, kind, joined, initial }
        };
        let header = Part {
            path: "#".to_string(),
            ty: slots::values(&Type::Pointer(Box::new(Type::Void))),
            scalar: Type::Void,
            kind: Kind::Library,
            joined: false,
            initial: Some(Model::Constant(super::heap::THERE)),
        };
        let parts: Vec<Part> = std::iter::once(header).chain(leaves.into_iter().map(part)).collect();
        let class = Some(self.pointers.class_of_site(call));
        let stride = Some(parts.len());
        let name = format!("{GIVEN}{}", span.line);
        self.objects.push(Object { name, parts, class, stride, span });
        let object = ObjectId(self.objects.len() - 1);
        self.given.push(object);
        let given = Model::If(
            Box::new(Model::Choose(0, 1)),
            Box::new(address_of(object.slot(1))),
            Box::new(Model::Constant(0)),
        );
        let slot = self.block(1, span);
        self.store(&Target::Local(slot), given, span)?;
        Ok(vec![Model::Local(slot)])
    }

    /// Assembly that reads a port, or the memory of a device.
    pub(super) fn read_outside(&mut self, output: &Expr, reading: &Reading, span: Span) -> Result<()> {
        let Type::Int(int) = output.ty.plain() else {
            return refuse(span, "inline assembly that writes variables is not followed");
        };
        if let Reading::Memory(Expr { kind: ExprKind::Deref(pointer), .. }) = reading {
            let address = self.address(pointer)?;
            let address = self.number(address, span)?;
            let address = self.settled(address, span)?;
            let class = self.pointers.target(pointer);
            self.accesses.push(Access { class, ty: device(), whole: None, span });
            let target = Target::Region(self.accesses.len() - 1, address);
            self.kept(self.load(&target, span), span)?;
        }
        let place = self.place(output)?;
        self.store(&place, any_of(*int), span)
    }
}
