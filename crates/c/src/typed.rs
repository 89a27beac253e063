//! C programs with every name resolved and every conversion written out: what `sema` makes and
//! `lower` reads.
//!
//! An expression is either an *lvalue* (it denotes an object: [`ExprKind::Variable`], [`ExprKind::Deref`],
//! [`ExprKind::Member`] of an lvalue) or a value. Where C converts silently (lvalue to value, array to pointer, function to
//! pointer, integer promotions, the usual arithmetic conversions, assignment, arguments, `return`), the tree has a
//! [`ExprKind::Load`], [`ExprKind::AddressOf`] or [`ExprKind::Cast`], so that the type of every node is what its operator
//! works on. `a[i]` is `*(a + i)`, `p->m` is `(*p).m`, `&*p` is `p`, `*&x` is `x`, `sizeof` is a constant. What needs neither
//! memory nor a run (constants of enumerations, `_Generic`, `__builtin_types_compatible_p`, casts of constants) is already
//! computed.
//!
//! Two forms have no node of their own. A compound literal in a function is `*({ its declaration; &literal; })`, or
//! `({ its declaration; literal; })` where its value is used. An array whose length is computed is a pointer (to an array
//! without a length) that is initialised with a call of `__builtin_alloca`, after a variable with its size in bytes.
//!
//! Values of integer constants are mathematical: an `unsigned long` constant lies in 0 to 2^64 - 1.

use crate::instrument::Unplaced;
pub use allways_model::program::Span;

/// The number of a variable in [`Unit::variables`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct VariableId(pub usize);

/// The number of a function in [`Unit::functions`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunctionId(pub usize);

/// The number of a struct or union in [`Unit::records`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RecordId(pub usize);

/// An integer type as the machine has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Int {
    /// 8, 16, 32 or 64; of `_Bool`, 1.
    pub bits: u8,
    /// Whether it has negative values.
    pub signed: bool,
}

/// A type, without qualifiers other than `_Atomic`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// `void`
    Void,
    /// Integers, `_Bool`, `char` and enumerations. (`int` and `long` of ILP32 are one type here.)
    Int(Int),
    /// `float`, `double`, `long double`, by their size in bytes.
    Float(u8),
    /// A pointer.
    Pointer(Box<Type>),
    /// An array; `None` if its length is not known (a flexible member, or `extern int a[]`).
    Array(Box<Type>, Option<u64>),
    /// A function.
    Function(Box<FunctionType>),
    /// A struct or union.
    Record(RecordId),
    /// `_Atomic`: loads, stores and compound assignments of such an lvalue are single steps.
    Atomic(Box<Type>),
}

/// The type of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionType {
    /// What it returns.
    pub result: Type,
    /// Its parameters (arrays and functions already pointers).
    pub parameters: Vec<Type>,
    /// Whether more arguments may follow: `...`, or no prototype at all.
    pub variadic: bool,
}

/// A struct or union.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Its tag, or the name of the typedef, or empty.
    pub name: String,
    /// Whether it is a union.
    pub union: bool,
    /// Its members; members of anonymous structs and unions stay inside a member without a name. Bit-fields without a
    /// name are left out.
    pub fields: Vec<Field>,
    /// Its size and alignment in bytes; none while incomplete.
    pub layout: Option<Layout>,
}

/// Size and alignment in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The size.
    pub size: u64,
    /// The alignment.
    pub align: u64,
}

/// A member of a struct or union.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// Its name; empty for an anonymous struct or union.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it starts, in bytes.
    pub offset: u64,
    /// Of a bit-field, how many bits it has.
    pub bits: Option<u8>,
    /// Whether one without bits comes before it, so that it begins another memory location.
    pub apart: bool,
}

/// How long a variable lives, and who sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// For the whole run: file scope, or `static` in a function.
    Static,
    /// As `Static`, one for each thread: `__thread`, `_Thread_local`.
    Thread,
    /// While its function runs: which function.
    Automatic(FunctionId),
}

/// A variable, parameter, string literal or compound literal.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// Its name; of literals, something that no name in C is spelt like.
    pub name: String,
    /// Its type. The length of an array is that of its initialiser where the declaration leaves it out.
    pub ty: Type,
    /// How long it lives.
    pub storage: Storage,
    /// Of static storage: its initial values; what they leave out is zero. Constant expressions and addresses only.
    pub initial: Vec<Initial>,
    /// Whether it is only declared here (`extern` without a definition anywhere).
    pub external: bool,
    /// Where it is declared.
    pub span: Span,
}

/// The value of one scalar part of an object (or of a whole struct, copied from an expression).
#[derive(Clone, PartialEq, Debug)]
pub struct Initial {
    /// The way to the part: numbers of fields and indices of arrays.
    pub path: Vec<u64>,
    /// Its value, converted to the type of the part.
    pub value: Expr,
}

/// A function, defined or only declared.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: FunctionType,
    /// The variables of its parameters, if it is defined.
    pub parameters: Vec<VariableId>,
    /// Its body, if it is defined.
    pub body: Option<Vec<Stmt>>,
    /// Whether it was declared at all; if not, it is called without a declaration.
    pub declared: bool,
    /// Where it is defined, or else declared first.
    pub span: Span,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it is.
    pub span: Span,
}

/// What a statement is.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// An expression for its effects.
    Expr(Expr),
    /// The place where an automatic variable comes into being. With an initialiser (`Some`, perhaps empty as in `= {}`),
    /// all of it that the list leaves out is zero; without one it has any value.
    Declare(VariableId, Option<Vec<Initial>>),
    /// A block: automatic variables declared in it end with it.
    Block(Vec<Stmt>),
    /// `if`
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `while`
    While(Expr, Box<Stmt>),
    /// `do … while`
    DoWhile(Box<Stmt>, Expr),
    /// `for`: the first part is a block item before it; condition, step, body.
    For(Option<Expr>, Option<Expr>, Box<Stmt>),
    /// `switch`: the promoted value, and a body that contains `Case` and `Default`.
    Switch(Expr, Box<Stmt>),
    /// `case LOW … HIGH:` (converted to the type of the switch) and the statement after it.
    Case(i128, i128, Box<Stmt>),
    /// `default:` and the statement after it.
    Default(Box<Stmt>),
    /// A label and the statement after it.
    Label(String, Box<Stmt>),
    /// `goto`
    Goto(String),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`, the value converted to the result's type.
    Return(Option<Expr>),
    /// Inline assembly: the lvalues that it writes, and what it is known to write into the one there is.
    Asm(Vec<Expr>, Option<Reading>),
    /// `;`
    Empty,
    /// Where the program is not followed any further, and why.
    Beyond(&'static str),
}

/// What inline assembly reads from outside of the program.
#[derive(Clone, PartialEq, Debug)]
pub enum Reading {
    /// A port.
    Port,
    /// This lvalue, in memory.
    Memory(Expr),
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Where it is.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// An integer constant; of a pointer type, an address such as the null pointer.
    Int(i128),
    /// A constant of a floating type.
    Float(f64),
    /// An lvalue: a variable.
    Variable(VariableId),
    /// A function designator; only below `AddressOf` and as the callee of a `Call`.
    Function(FunctionId),
    /// An lvalue: what the pointer points to.
    Deref(Box<Expr>),
    /// A member (its number) of an lvalue or of a struct value.
    Member(Box<Expr>, usize),
    /// The value of an lvalue.
    Load(Box<Expr>),
    /// The address of an lvalue or function. Of an array that decays, the type is a pointer to its element.
    AddressOf(Box<Expr>),
    /// An operator before its operand, which has the type of the result (`!` has `int`, its operand any scalar type).
    Unary(Unary, Box<Expr>),
    /// An operator between operands of one type, which is also the type of the result (comparisons have `int`; of shifts,
    /// the right operand has a type of its own).
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A pointer plus so many elements (an integer of `ptrdiff_t`'s type; `p - i` adds the negation).
    PointerAdd(Box<Expr>, Box<Expr>),
    /// How many elements lie between two pointers.
    PointerDifference(Box<Expr>, Box<Expr>),
    /// `&&`
    And(Box<Expr>, Box<Expr>),
    /// `||`
    Or(Box<Expr>, Box<Expr>),
    /// `?:`; `a ?: b` has none in the middle.
    Conditional(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    /// Converted to this node's type (to `void`: the value is dropped).
    Cast(Box<Expr>),
    /// Stores the value, whose type is that of the lvalue; its value is what is stored.
    Assign(Box<Expr>, Box<Expr>),
    /// `lvalue OP= value`: the lvalue is converted to the type of the value (of shifts: to the given type), the operator
    /// applied, the result converted back.
    AssignOp(Binary, Box<Expr>, Box<Expr>, Type),
    /// `lvalue += value` of a pointer, in elements.
    AssignPointerAdd(Box<Expr>, Box<Expr>),
    /// `++` and `--`: the lvalue (integer or pointer), 1 or -1, and whether the value is that before.
    Step(Box<Expr>, i8, bool),
    /// A call: callee (a `Function`, or a pointer to function) and arguments, converted to the parameters' types or
    /// promoted.
    Call(Box<Expr>, Vec<Expr>),
    /// One after the other; the value is that of the second.
    Comma(Box<Expr>, Box<Expr>),
    /// `({ … })`: statements; the value is that of the last one if it is an expression.
    Statements(Vec<Stmt>),
    /// `va_arg`, `va_start` and such: not followed; the word says which.
    Unsupported(&'static str),
}

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// `-`
    Minus,
    /// `~`
    Complement,
    /// `!`
    Not,
}

/// An operator between its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    /// `*`
    Times,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Binary {
    /// Whether it compares.
    pub fn compares(self) -> bool {
        use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, Unequal};
        matches!(self, Equal | Unequal | Less | LessEqual | Greater | GreaterEqual)
    }
}

impl Type {
    /// The type, without `_Atomic`.
    pub fn plain(&self) -> &Type {
        match self {
            Type::Atomic(ty) => ty.plain(),
            ty => ty,
        }
    }
}

/// A translation unit.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Unit {
    /// Structs and unions.
    pub records: Vec<Record>,
    /// All variables: global, static, automatic, literals.
    pub variables: Vec<Variable>,
    /// All functions that are defined or used.
    pub functions: Vec<Function>,
    /// The sizes of types.
    pub model: DataModel,
    /// Functions of the C library whose bodies are not the program's.
    pub library: Vec<FunctionId>,
    /// What is stated beside the program and was not put into it.
    pub unplaced: Vec<Unplaced>,
}

impl Unit {
    /// Whether a variable is a string literal.
    pub fn is_string_literal(&self, variable: VariableId) -> bool {
        self.variables[variable.0].name.starts_with('"')
    }
}

/// The sizes of `long` and pointers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DataModel {
    /// `int`, `long` and pointers of 32 bits.
    Ilp32,
    /// `long` and pointers of 64 bits.
    #[default]
    Lp64,
}
