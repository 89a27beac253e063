//! Names and types: from the parser's tree to [`crate::typed`].
//!
//! Programs that gcc compiles with warnings are read, with casts put in; what it refuses is refused here, or not found.
//! Where C leaves a choice to the machine, it is what gcc does on x86 with Linux.

mod attributes;
mod builtin;
mod call;
mod compound;
mod constant;
mod convert;
mod declarator;
mod declare;
mod enumeration;
mod expr;
mod function;
mod init;
mod instrument;
mod layout;
mod literal;
mod operator;
mod punned;
mod specifier;
mod stmt;

use crate::instrument::Instrumentation;
use crate::normalise::{Normal, as_written, normalise};
use crate::parse::{STACK, parse};
use crate::source::{LineMap, MAX_TEXT};
use crate::typed::{
    DataModel, Expr, ExprKind, Function, FunctionId, FunctionType, Int, RecordId, Span, Stmt, StmtKind, Type,
    Unit, VariableId,
};
use instrument::Stated;
use lang_c::ast::ExternalDeclaration;
use lang_c::span::Span as Range;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// The most errors that are collected.
pub const MAX_ERRORS: usize = 20;

/// Something that is wrong with a program, or that is not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CError {
    /// Where.
    pub span: Span,
    /// What.
    pub message: String,
}

type Res<T> = Result<T, CError>;

/// Reads a preprocessed text. With errors, there are at most [`MAX_ERRORS`] of them.
pub fn analyse(text: &[u8], map: &LineMap, model: DataModel) -> Result<Unit, Vec<CError>> {
    analyse_with(text, map, model, None)
}

/// [`analyse`], with what is stated beside the program about places of this source.
pub fn analyse_with(
    text: &[u8],
    map: &LineMap,
    model: DataModel,
    stated: Option<(&Instrumentation, &[u8])>,
) -> Result<Unit, Vec<CError>> {
    let failed = |message: &str| Err(vec![CError { span: Span::default(), message: message.to_string() }]);
    if text.len() > MAX_TEXT {
        return failed("the text is too long");
    }
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK);
        match worker.spawn_scoped(scope, || read(text, map, model, stated)) {
            Ok(worker) => worker.join().unwrap_or_else(|_| failed("the reader failed on this text")),
            Err(error) => failed(&format!("no thread for the reader: {error}")),
        }
    })
}

/// [`analyse`], on a stack that is large enough.
fn read(
    text: &[u8],
    map: &LineMap,
    model: DataModel,
    stated: Option<(&Instrumentation, &[u8])>,
) -> Result<Unit, Vec<CError>> {
    let refuse = |(start, end, message)| vec![CError { span: map.span(start, end), message }];
    let normal = Rc::new(normalise(text).map_err(refuse)?);
    let tree = parse(&normal).map_err(refuse)?;
    let mut analyser = Analyser::new(&normal, map, model);
    analyser.stated = stated.map(|(given, source)| Stated::new(given, text, map, source));
    analyser.refuse_attributes();
    for node in &tree.0 {
        if node.span.start < Normal::start() {
            continue;
        }
        let done = match &node.node {
            ExternalDeclaration::Declaration(declaration) => analyser.file_declaration(declaration),
            ExternalDeclaration::FunctionDefinition(definition) => analyser.definition(definition),
            ExternalDeclaration::StaticAssert(_) => Ok(()),
        };
        if let Err(error) = done {
            analyser.errors.push(error);
        }
        if analyser.errors.len() >= MAX_ERRORS {
            break;
        }
    }
    analyser.errors.truncate(MAX_ERRORS);
    match analyser.errors.is_empty() {
        true => Ok(analyser.finish()),
        false => Err(analyser.errors),
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Symbol {
    /// A type; its alignment if an attribute of the typedef gives one.
    Typedef(Type, Option<u64>),
    /// `__auto_type`
    AutoType,
    /// A variable.
    Variable(VariableId),
    /// An array whose length is computed: the first variable points to it, the second one is its size.
    OpenArray(VariableId, VariableId),
    /// A function: its name is the key of [`Analyser::functions`].
    Function,
    /// A constant of an enumeration.
    Constant(i128, Type),
}

/// What a tag stands for.
#[derive(Clone, Debug)]
enum Tag {
    Record(RecordId),
    Enum(Type),
}

#[derive(Default, Debug)]
struct Scope {
    names: HashMap<String, Symbol>,
    tags: HashMap<String, Tag>,
}

/// A function that was declared.
#[derive(Clone, Debug)]
struct Declared {
    ty: FunctionType,
    span: Span,
    /// Whether somebody has declared it; if not, it was called all the same.
    declared: bool,
    /// Its number, if it is defined or used.
    id: Option<FunctionId>,
}

/// The function whose body is read.
#[derive(Clone, Debug)]
struct Inside {
    id: FunctionId,
    name: String,
    result: Type,
    /// The types of the switches around the current statement.
    switches: Vec<Type>,
}

struct Analyser<'a> {
    normal: Rc<Normal>,
    map: &'a LineMap,
    /// Where everything is that is read, if it is in another text.
    fixed: Option<Span>,
    /// What is stated beside the program.
    stated: Option<Stated<'a>>,
    unit: Unit,
    errors: Vec<CError>,
    scopes: Vec<Scope>,
    functions: HashMap<String, Declared>,
    /// Variables with linkage, by name.
    globals: HashMap<String, VariableId>,
    /// The values of variables that are `const`.
    constants: HashMap<VariableId, Expr>,
    /// Unions whose members are passed instead of them.
    transparent: HashSet<RecordId>,
    /// Functions that run before `main`.
    constructors: BTreeSet<String>,
    inside: Option<Inside>,
    /// The length of the array that was declared last, if it is computed.
    length: Option<Expr>,
    /// The type of `va_list`, and of integers of 128 bits, once they are asked for.
    va_list: Option<Type>,
    wide: Option<Type>,
}

const INT: Type = int(32, true);
const UNSIGNED: Type = int(32, false);
const CHAR: Type = int(8, true);
const BOOL: Type = int(1, false);
const DOUBLE: Type = Type::Float(8);

/// An integer type.
const fn int(bits: u8, signed: bool) -> Type {
    Type::Int(Int { bits, signed })
}

fn pointer(to: Type) -> Type {
    Type::Pointer(Box::new(to))
}

/// A type without `_Atomic`.
fn plain(ty: &Type) -> &Type {
    match ty {
        Type::Atomic(inner) => inner,
        other => other,
    }
}

impl<'a> Analyser<'a> {
    fn new(normal: &Rc<Normal>, map: &'a LineMap, model: DataModel) -> Analyser<'a> {
        let mut analyser = Analyser {
            normal: Rc::clone(normal),
            map,
            fixed: None,
            stated: None,
            unit: Unit { model, ..Unit::default() },
            errors: Vec::new(),
            scopes: vec![Scope::default()],
            functions: HashMap::new(),
            globals: HashMap::new(),
            constants: HashMap::new(),
            transparent: HashSet::new(),
            constructors: BTreeSet::new(),
            inside: None,
            length: None,
            va_list: None,
            wide: None,
        };
        analyser.define("__auto_type", Symbol::AutoType);
        let long_double = Type::Float(analyser.long_double());
        let floats = [
            ("ZFloat16", Type::Float(4)),
            ("ZFloat32", Type::Float(4)),
            ("ZFloat64", DOUBLE),
            ("ZFloat32x", DOUBLE),
        ];
        let wide =
            ["__float128", "__float80", "ZFloat128", "ZFloat64x"].map(|name| (name, long_double.clone()));
        for (name, ty) in floats.into_iter().chain(wide) {
            analyser.define(name, Symbol::Typedef(ty, None));
        }
        analyser
    }

    /// The place of a part of the parser's text.
    fn span(&self, range: Range) -> Span {
        if let Some(span) = self.fixed {
            return span;
        }
        let (start, end) = self.normal.extent(range.start, range.end);
        self.map.span(start, end)
    }

    fn error<T>(&self, range: Range, message: impl Into<String>) -> Res<T> {
        Err(CError { span: self.span(range), message: as_written(&message.into()) })
    }

    fn define(&mut self, name: &str, symbol: Symbol) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.to_string(), symbol);
        }
    }

    fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name))
    }

    fn define_tag(&mut self, name: &str, tag: Tag) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.tags.insert(name.to_string(), tag);
        }
    }

    fn lookup_tag(&self, name: &str) -> Option<&Tag> {
        self.scopes.iter().rev().find_map(|scope| scope.tags.get(name))
    }

    /// Reads something in a scope of its own.
    fn scoped<T>(&mut self, read: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.scopes.push(Scope::default());
        let done = read(self);
        self.scopes.pop();
        done
    }

    fn at_file_scope(&self) -> bool {
        self.inside.is_none()
    }

    /// The bits of `long` and of pointers.
    fn long_bits(&self) -> u8 {
        match self.unit.model {
            DataModel::Ilp32 => 32,
            DataModel::Lp64 => 64,
        }
    }

    fn long(&self) -> Type {
        int(self.long_bits(), true)
    }

    fn unsigned_long(&self) -> Type {
        int(self.long_bits(), false)
    }

    /// The bytes of `long double`.
    fn long_double(&self) -> u8 {
        match self.unit.model {
            DataModel::Ilp32 => 12,
            DataModel::Lp64 => 16,
        }
    }

    /// Lets `main` start with the calls of constructors, in the order of their definitions.
    fn call_constructors(&mut self) {
        let mut calls = Vec::new();
        for (number, function) in self.unit.functions.iter().enumerate() {
            if function.body.is_some() && self.constructors.contains(&function.name) {
                let span = function.span;
                let ty = Type::Function(Box::new(function.ty.clone()));
                let callee = Expr { kind: ExprKind::Function(FunctionId(number)), ty, span };
                let kind = ExprKind::Call(Box::new(callee), Vec::new());
                let call = Expr { kind, ty: function.ty.result.clone(), span };
                calls.push(Stmt { kind: StmtKind::Expr(call), span });
            }
        }
        let main = self.unit.functions.iter_mut().find(|function| function.name == "main");
        if let Some(body) = main.and_then(|main| main.body.as_mut()) {
            body.splice(0..0, calls);
        }
    }

    /// The unit, with names as the user wrote them.
    fn finish(mut self) -> Unit {
        self.call_constructors();
        self.unit.unplaced = self.all_unplaced();
        let mut unit = self.unit;
        let rename = |name: &mut String| *name = as_written(name);
        unit.variables.iter_mut().for_each(|variable| rename(&mut variable.name));
        unit.functions.iter_mut().for_each(|function| rename(&mut function.name));
        for record in &mut unit.records {
            rename(&mut record.name);
            record.fields.iter_mut().for_each(|field| rename(&mut field.name));
        }
        unit
    }

    /// The number of a function that is used or defined.
    fn function_id(&mut self, name: &str) -> Option<FunctionId> {
        let declared = self.functions.get_mut(name)?;
        if let Some(id) = declared.id {
            return Some(id);
        }
        let id = FunctionId(self.unit.functions.len());
        declared.id = Some(id);
        self.unit.functions.push(Function {
            name: name.to_string(),
            ty: declared.ty.clone(),
            parameters: Vec::new(),
            body: None,
            declared: declared.declared,
            span: declared.span,
        });
        Some(id)
    }
}
