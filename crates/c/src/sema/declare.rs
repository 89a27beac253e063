//! Declarations: typedefs, prototypes and variables, at file scope and in blocks.

use super::attributes::Said;
use super::declarator;
use super::specifier::Spec;
use super::{Analyser, Declared, Res, Symbol, pointer};
use crate::typed::{
    Binary, Expr, ExprKind, FunctionType, Initial, RecordId, Span, Stmt, StmtKind, Storage, Type, Variable,
    VariableId,
};
use lang_c::ast::{Declaration, InitDeclarator, Initializer};
use lang_c::span::Node;

impl Analyser<'_> {
    /// A declaration outside of functions.
    pub(super) fn file_declaration(&mut self, node: &Node<Declaration>) -> Res<()> {
        self.declaration(node, &mut Vec::new())
    }

    /// A declaration; what it does when it is run is added to `out`.
    pub(super) fn declaration(&mut self, node: &Node<Declaration>, out: &mut Vec<Stmt>) -> Res<()> {
        let spec = self.specifiers(&node.node.specifiers, node.span)?;
        let Some(first) = node.node.declarators.first() else { return Ok(()) };
        let front = self.attributes_between(node.span.start, first.span.start);
        for declarator in &node.node.declarators {
            self.init_declarator(&spec, &front, declarator, out)?;
        }
        Ok(())
    }

    fn init_declarator(
        &mut self,
        spec: &Spec,
        front: &Said,
        node: &Node<InitDeclarator>,
        out: &mut Vec<Stmt>,
    ) -> Res<()> {
        self.length = None;
        let mut declared = self.declarator(spec.ty.clone(), &node.node.declarator)?;
        let length = self.length.take();
        let after = self.attributes_after(node.node.declarator.span);
        declared.ty = self.attributed(front, declared.ty);
        declared.ty = self.attributed(&after, declared.ty);
        if spec.typedef {
            if let Type::Record(RecordId(id)) = declared.ty {
                if after.transparent || front.transparent {
                    self.transparent.insert(RecordId(id));
                }
                // Of the thread library's types, this name counts, whatever the tag.
                let is_library = |name: &str| crate::library::opaque(name).is_some();
                let counts = |name: &str| name.is_empty() || is_library(&declared.name) && !is_library(name);
                let record = self.unit.records.get_mut(id).filter(|record| counts(&record.name));
                if let Some(record) = record {
                    record.name.clone_from(&declared.name);
                }
            }
            let inherited = spec.align.filter(|_| !declared.derived);
            let align = after.align.max(front.align).or(inherited);
            self.define(&declared.name, Symbol::Typedef(declared.ty, align));
            return Ok(());
        }
        if let Type::Function(ty) = declared.ty {
            let span = self.span(declared.range);
            self.prototype(&declared.name, *ty, span);
            if after.constructor || front.constructor {
                self.constructors.insert(declared.name.clone());
            }
            self.define(&declared.name, Symbol::Function);
            return Ok(());
        }
        match length {
            None => self.variable(spec, declared, node.node.initializer.as_ref(), out),
            Some(length) if !spec.fixed && !spec.external && node.node.initializer.is_none() => {
                self.open_array(declared, length, out)
            }
            Some(_) => self.error(declared.range, "the length of an array is not constant"),
        }
    }

    /// An array whose length is computed: a pointer to memory from `__builtin_alloca`.
    fn open_array(&mut self, declared: declarator::Declared, length: Expr, out: &mut Vec<Stmt>) -> Res<()> {
        let (span, size) = (self.span(declared.range), self.unsigned_long());
        let element = match &declared.ty {
            Type::Array(element, None) => self.size(element),
            _ => None,
        };
        let (Some(element), Some(inside)) = (element, self.inside.as_ref().map(|inside| inside.id)) else {
            return self.error(declared.range, "the length of an array is not constant");
        };
        let ty = pointer(declared.ty);
        let id = VariableId(self.unit.variables.len());
        let bytes = VariableId(id.0 + 1);
        let (name, storage) = (declared.name, Storage::Automatic(inside));
        let variable = Variable {
            name: name.clone(),
            ty: ty.clone(),
            storage,
            initial: Vec::new(),
            external: false,
            span,
        };
        self.unit.variables.push(variable);
        self.unit.variables.push(Variable {
            name: format!("sizeof({name})"),
            ty: size.clone(),
            storage,
            initial: Vec::new(),
            external: false,
            span,
        });
        self.define(&name, Symbol::OpenArray(id, bytes));
        let element = self.number(element.into(), size.clone(), span);
        let value = self.operate(Binary::Times, self.cast(length, &size), element, size.clone(), span);
        let parts = vec![Initial { path: Vec::new(), value }];
        out.push(Stmt { kind: StmtKind::Declare(bytes, Some(parts)), span });
        self.declare_builtin("__builtin_alloca", declared.range);
        let callee = self.function_designator("__builtin_alloca", declared.range)?;
        let bytes = self.decay(Expr { kind: ExprKind::Variable(bytes), ty: size, span });
        let kind = ExprKind::Call(Box::new(callee), vec![bytes]);
        let memory = Expr { kind, ty: pointer(Type::Void), span };
        let value = self.cast(memory, &ty);
        let parts = vec![Initial { path: Vec::new(), value }];
        out.push(Stmt { kind: StmtKind::Declare(id, Some(parts)), span });
        Ok(())
    }

    /// Declares a function, perhaps again.
    pub(super) fn prototype(&mut self, name: &str, ty: FunctionType, span: Span) {
        let fresh = Declared { ty: ty.clone(), span, declared: true, id: None };
        let known = self.functions.entry(name.to_string()).or_insert(fresh);
        let vague =
            ty.variadic && ty.parameters.is_empty() && !known.ty.parameters.is_empty() && known.declared;
        if !vague {
            known.ty = ty;
        }
        if !known.declared {
            known.declared = true;
            known.span = span;
        }
        if let Some(function) = known.id.and_then(|id| self.unit.functions.get_mut(id.0)) {
            function.declared = true;
            if function.body.is_none() {
                function.ty = known.ty.clone();
            }
        }
    }

    fn variable(
        &mut self,
        spec: &Spec,
        declared: declarator::Declared,
        initializer: Option<&Node<Initializer>>,
        out: &mut Vec<Stmt>,
    ) -> Res<()> {
        let declarator::Declared { name, range, mut ty, derived } = declared;
        let span = self.span(range);
        let mut given = None;
        if spec.auto {
            let Some(Node { node: Initializer::Expression(expression), .. }) = initializer else {
                return self.error(range, "`__auto_type` needs an initial value");
            };
            let value = self.value(expression)?;
            ty = value.ty.clone();
            given = Some(vec![Initial { path: Vec::new(), value }]);
        }
        if ty == Type::Void {
            return self.error(range, format!("the variable `{name}` has type `void`"));
        }
        let linked = self.at_file_scope() || (spec.external && !spec.fixed);
        let fixed = if spec.thread { Storage::Thread } else { Storage::Static };
        let storage = match &self.inside {
            Some(inside) if !linked && !spec.fixed && !spec.thread => Storage::Automatic(inside.id),
            _ => fixed,
        };
        let id = match self.globals.get(&name).copied().filter(|_| linked) {
            Some(id) => {
                self.merge(id, &ty, storage, span, spec.external && initializer.is_none());
                id
            }
            None => {
                let id = VariableId(self.unit.variables.len());
                let external = spec.external && initializer.is_none();
                let variable = Variable {
                    name: name.clone(),
                    ty: ty.clone(),
                    storage,
                    initial: Vec::new(),
                    external,
                    span,
                };
                self.unit.variables.push(variable);
                if linked {
                    self.globals.insert(name.clone(), id);
                }
                id
            }
        };
        self.define(&name, Symbol::Variable(id));
        // The name is known in its own initialiser.
        let mut parts = match (given, initializer) {
            (Some(parts), _) => Some(parts),
            (None, Some(initializer)) => Some(self.initialiser(&mut ty, initializer)?),
            (None, None) => None,
        };
        let automatic = matches!(storage, Storage::Automatic(_));
        if let (Some(list), false) = (&mut parts, automatic) {
            *list = self.constant_parts(std::mem::take(list))?;
        }
        if let (Some(list), true) = (&parts, spec.constant && !derived) {
            self.remember(id, list);
        }
        if self.size(&ty).is_none() && !linked {
            return self.error(
                range,
                format!("the variable `{name}` has no size: its type is `{}`", self.show(&ty)),
            );
        }
        if let Some(variable) = self.unit.variables.get_mut(id.0) {
            if initializer.is_some() {
                variable.ty = ty;
            }
            if let (Some(list), false) = (&mut parts, automatic) {
                variable.initial = std::mem::take(list);
            }
        }
        if automatic {
            out.push(Stmt { kind: StmtKind::Declare(id, parts), span });
        }
        Ok(())
    }

    /// Another declaration of a variable with linkage.
    fn merge(&mut self, id: VariableId, ty: &Type, storage: Storage, span: Span, external: bool) {
        let Some(variable) = self.unit.variables.get_mut(id.0) else { return };
        let open = |ty: &Type| matches!(ty, Type::Array(_, None));
        if open(&variable.ty) || (!external && !open(ty)) {
            variable.ty = ty.clone();
        }
        if storage == Storage::Thread {
            variable.storage = storage;
        }
        if variable.external && !external {
            variable.external = false;
            variable.span = span;
        }
    }
}
