//! Definitions of functions.

use super::declarator::Parameter;
use super::{Analyser, Declared, INT, Inside, Res, Symbol};
use crate::typed::{FunctionType, Storage, Type, Variable, VariableId};
use lang_c::ast::{
    Declaration, Declarator, DeclaratorKind, DerivedDeclarator, FunctionDefinition, Identifier, Statement,
};
use lang_c::span::Node;
use std::collections::HashMap;

impl Analyser<'_> {
    pub(super) fn definition(&mut self, node: &Node<FunctionDefinition>) -> Res<()> {
        let definition = &node.node;
        let spec = self.specifiers(&definition.specifiers, node.span)?;
        let declared = self.declarator(spec.ty, &definition.declarator)?;
        let Type::Function(ty) = declared.ty else {
            return self.error(definition.declarator.span, "this has a body but is no function");
        };
        let mut ty = *ty;
        let span = self.span(declared.range);
        let parameters = match parameters_of(&definition.declarator.node) {
            Some(DerivedDeclarator::Function(function)) => self.parameters(&function.node)?.0,
            Some(DerivedDeclarator::KRFunction(names)) => {
                let list = self.old_parameters(names, &definition.declarations)?;
                ty = FunctionType {
                    parameters: list.iter().map(|parameter| parameter.ty.clone()).collect(),
                    ..ty
                };
                list
            }
            _ => return self.error(definition.declarator.span, "this has a body but is no function"),
        };
        let name = declared.name;
        let empty = ty.parameters.is_empty() && ty.variadic;
        match self.functions.get_mut(&name) {
            // `int f() {…}` after a prototype.
            Some(known) if empty && known.declared && known.ty.parameters.is_empty() => ty = known.ty.clone(),
            Some(known) => {
                known.ty = ty.clone();
                known.span = span;
                known.declared = true;
            }
            None => {
                self.functions
                    .insert(name.clone(), Declared { ty: ty.clone(), span, declared: true, id: None });
            }
        }
        let said = self.attributes_between(node.span.start, definition.statement.span.start);
        if said.constructor {
            self.constructors.insert(name.clone());
        }
        self.define(&name, Symbol::Function);
        let Some(id) = self.function_id(&name) else {
            return self.error(node.span, "this function has no number");
        };
        let result = ty.result.clone();
        self.inside = Some(Inside { id, name: name.clone(), result, switches: Vec::new() });
        let done = self.scoped(|this| {
            let variables =
                parameters.into_iter().map(|parameter| this.parameter(parameter, id)).collect::<Vec<_>>();
            let Statement::Compound(items) = &definition.statement.node else {
                return this.error(definition.statement.span, "the body of a function is a block");
            };
            Ok((variables, this.block(items)?))
        });
        self.inside = None;
        let (variables, body) = done?;
        if let Some(function) = self.unit.functions.get_mut(id.0) {
            function.ty = ty;
            function.parameters = variables;
            function.body = Some(body);
            function.declared = true;
            function.span = span;
        }
        Ok(())
    }

    fn parameter(&mut self, parameter: Parameter, function: crate::typed::FunctionId) -> VariableId {
        let id = VariableId(self.unit.variables.len());
        let span = self.span(parameter.range);
        self.unit.variables.push(Variable {
            name: parameter.name.clone(),
            ty: parameter.ty,
            storage: Storage::Automatic(function),
            initial: Vec::new(),
            external: false,
            span,
        });
        self.define(&parameter.name, Symbol::Variable(id));
        id
    }

    /// The parameters of a definition in the old style: names, then declarations.
    fn old_parameters(
        &mut self,
        names: &[Node<Identifier>],
        declarations: &[Node<Declaration>],
    ) -> Res<Vec<Parameter>> {
        let mut types = HashMap::new();
        for declaration in declarations {
            let spec = self.specifiers(&declaration.node.specifiers, declaration.span)?;
            for declarator in &declaration.node.declarators {
                let declared = self.declarator(spec.ty.clone(), &declarator.node.declarator)?;
                types.insert(declared.name, self.adjusted(declared.ty));
            }
        }
        let parameter = |name: &Node<Identifier>| Parameter {
            name: name.node.name.clone(),
            range: name.span,
            ty: types.get(&name.node.name).cloned().unwrap_or(INT),
        };
        Ok(names.iter().map(parameter).collect())
    }
}

/// The part of a declarator that has the parameters of the function that it declares.
fn parameters_of(declarator: &Declarator) -> Option<&DerivedDeclarator> {
    if let DeclaratorKind::Declarator(inner) = &declarator.kind.node
        && let Some(found) = parameters_of(&inner.node)
    {
        return Some(found);
    }
    let suffix = |part: &&Node<DerivedDeclarator>| !matches!(part.node, DerivedDeclarator::Pointer(_));
    declarator.derived.iter().find(suffix).map(|part| &part.node)
}
