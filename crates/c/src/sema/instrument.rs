//! What is stated beside a program, read in the scopes of the program.

use super::{Analyser, INT, Res, Symbol};
use crate::instrument::{BEFORE, INVARIANT, Instrumentation, Item, Places, UPDATE, Unplaced, mark, words};
use crate::lower::acts;
use crate::normalise::{Normal, normalise};
use crate::parse::parse;
use crate::source::LineMap;
use crate::typed::{
    Expr, ExprKind, Function, FunctionId, FunctionType, Initial, Span, Stmt, StmtKind, Storage, Type,
    Variable, VariableId,
};
use crate::walk;
use lang_c::ast::{
    BinaryOperator, BlockItem, CallExpression, Expression, ExternalDeclaration, FunctionDefinition,
    Statement, TranslationUnit, UnaryOperator,
};
use lang_c::span::{Node, Span as Range};
use lang_c::visit::{self, Visit};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// What is stated beside the program that is read.
#[derive(Debug)]
pub(super) struct Stated<'a> {
    given: &'a Instrumentation,
    /// Where it is, as far as no statement was read to which it belongs.
    places: Places,
    /// What belongs to a statement that was read.
    found: BTreeSet<Item>,
    /// Ghost variables, once they are asked for.
    ghosts: Option<Rc<HashMap<String, VariableId>>>,
    unplaced: Vec<Unplaced>,
}

impl<'a> Stated<'a> {
    pub(super) fn new(given: &'a Instrumentation, text: &[u8], map: &LineMap, source: &[u8]) -> Stated<'a> {
        let places = Places::of(given, text, map, source);
        Stated { given, places, found: BTreeSet::new(), ghosts: None, unplaced: Vec::new() }
    }
}

/// What comes before and after a statement.
#[derive(Default)]
pub(super) struct Around {
    pub(super) before: Vec<Stmt>,
    pub(super) after: Vec<Stmt>,
    items: Vec<Item>,
}

impl Around {
    /// The statement with what is around it.
    pub(super) fn put(mut self, stmt: Stmt) -> Vec<Stmt> {
        // What is before a labelled statement is behind the label.
        let Stmt { kind, span } = stmt;
        let labelled = |body: Box<Stmt>, around: Around| {
            Box::new(Stmt { span: body.span, kind: StmtKind::Block(around.put(*body)) })
        };
        let kind = match kind {
            kind if self.before.is_empty() => kind,
            StmtKind::Label(name, body) => StmtKind::Label(name, labelled(body, std::mem::take(&mut self))),
            StmtKind::Case(low, high, body) => {
                StmtKind::Case(low, high, labelled(body, std::mem::take(&mut self)))
            }
            StmtKind::Default(body) => StmtKind::Default(labelled(body, std::mem::take(&mut self))),
            kind => kind,
        };
        self.before.push(Stmt { kind, span });
        self.before.append(&mut self.after);
        self.before
    }
}

impl Analyser<'_> {
    /// What is stated about the statement, or the loop, that starts where a part of the text does.
    fn items(&mut self, range: Range, of_loop: bool) -> Vec<Item> {
        let start = self.normal.original(range.start);
        let Some(stated) = self.stated.as_mut().filter(|_| self.fixed.is_none()) else { return Vec::new() };
        let given = stated.given;
        let is_loop = |item| matches!(item, Item::Invariant(number) if given.invariants[number].is_loop);
        let items = stated.places.take(start, of_loop, is_loop);
        stated.found.extend(&items);
        items
    }

    fn unplaced(&mut self, item: Item, why: impl Into<String>) {
        if let Some(stated) = &mut self.stated {
            stated.unplaced.push(Unplaced { item, why: why.into(), is_stronger: false });
        }
    }

    /// What is stated about a statement that starts here.
    pub(super) fn around_statement(&mut self, node: &Node<Statement>) -> Around {
        let around = self.around(node.span, matches!(node.node, Statement::Expression(_)));
        if let (Some(stated), Statement::Labeled(_)) = (&mut self.stated, &node.node) {
            // Jumps lead behind the label, and perhaps not to what is before it.
            let why = "whether it is meant for jumps to the label is not known";
            let invariants = around.items.iter().filter(|item| matches!(item, Item::Invariant(_)));
            let of_jumps = |&item: &Item| Unplaced { item, why: why.to_string(), is_stronger: true };
            stated.unplaced.extend(invariants.map(of_jumps));
        }
        around
    }

    /// The same of a statement or declaration. It is a step if it has no statements inside.
    pub(super) fn around(&mut self, range: Range, is_step: bool) -> Around {
        let mut around = Around::default();
        let span = self.span(range);
        let (mut updates, mut first) = (Vec::new(), None);
        around.items = self.items(range, false);
        for item in around.items.clone() {
            match item {
                Item::Invariant(number) => {
                    if let Some(call) = self.asserted(number, span) {
                        around.before.push(Stmt { span: call.span, kind: StmtKind::Expr(call) });
                    }
                }
                Item::Update(number) if is_step => match self.assignments(number, span) {
                    Ok(assignments) => {
                        first = first.or(Some(number));
                        updates.extend(assignments);
                    }
                    Err(why) => self.unplaced(item, why),
                },
                _ => self.unplaced(item, "the statement is neither an expression nor a declaration"),
            }
        }
        if let Some(first) = first {
            let number = self.number(first as i128, INT, span);
            updates.insert(0, number);
            let before = self.hook(BEFORE, Vec::new(), span);
            let after = self.hook(UPDATE, updates, span);
            around.before.push(Stmt { kind: StmtKind::Expr(before), span });
            around.after.push(Stmt { kind: StmtKind::Expr(after), span });
        }
        around
    }

    /// The condition of a loop that starts here, after the invariants that hold whenever it is evaluated.
    pub(super) fn headed(&mut self, range: Range, condition: Option<Expr>) -> Option<Expr> {
        let span = self.span(range);
        let mut condition = condition;
        for item in self.items(range, true).into_iter().rev() {
            let Item::Invariant(number) = item else { continue };
            let Some(call) = self.asserted(number, span) else { continue };
            let after = condition.unwrap_or_else(|| self.number(1, INT, span));
            let (ty, span) = (after.ty.clone(), after.span);
            condition = Some(Expr { kind: ExprKind::Comma(Box::new(call), Box::new(after)), ty, span });
        }
        condition
    }

    /// The same of a loop that has a condition.
    pub(super) fn headed_by(&mut self, range: Range, condition: Expr) -> Expr {
        self.headed(range, Some(condition.clone())).unwrap_or(condition)
    }

    /// Everything that belongs to no statement, and the rest that was not put into the program.
    pub(super) fn all_unplaced(&mut self) -> Vec<Unplaced> {
        let Some(stated) = &mut self.stated else { return Vec::new() };
        let given = stated.given;
        let updates = (0..given.updates.len()).map(Item::Update);
        for item in updates.chain((0..given.invariants.len()).map(Item::Invariant)) {
            if !stated.found.contains(&item) {
                let is_loop = matches!(item, Item::Invariant(number) if given.invariants[number].is_loop);
                let what = if is_loop { "loop" } else { "statement" };
                let why = format!("no {what} starts there");
                stated.unplaced.push(Unplaced { item, why, is_stronger: false });
            }
        }
        std::mem::take(&mut stated.unplaced)
    }

    /// The call that asserts an invariant.
    fn asserted(&mut self, number: usize, span: Span) -> Option<Expr> {
        let holds = self.stated.as_ref()?.given.invariants[number].holds.clone();
        let span = mark(span, number);
        match self.stated_expression(&holds, span, |this, node| this.condition(node)) {
            Ok(holds) => {
                let number = self.number(number as i128, INT, span);
                Some(self.hook(INVARIANT, vec![number, holds], span))
            }
            Err(why) => {
                self.unplaced(Item::Invariant(number), why);
                None
            }
        }
    }

    /// The assignments of an update.
    fn assignments(&mut self, number: usize, span: Span) -> Result<Vec<Expr>, String> {
        let Some(stated) = &self.stated else { return Ok(Vec::new()) };
        let mut assignments = Vec::new();
        for (name, value) in &stated.given.updates[number].values {
            let ghost = self.ghosts().get(name).copied();
            let Some(ghost) = ghost else { return Err(format!("there is no ghost variable `{name}`")) };
            let ty = self.unit.variables[ghost.0].ty.clone();
            let value = self.stated_expression(value, span, |this, node| {
                let value = this.value(node)?;
                this.convert(value, &ty)
            })?;
            let to = Expr { kind: ExprKind::Variable(ghost), ty: ty.clone(), span };
            assignments.push(Expr { kind: ExprKind::Assign(Box::new(to), Box::new(value)), ty, span });
        }
        Ok(assignments)
    }

    /// The ghost variables; they are made when they are asked for first.
    fn ghosts(&mut self) -> Rc<HashMap<String, VariableId>> {
        let Some(stated) = &mut self.stated else { return Rc::default() };
        if let Some(ghosts) = &stated.ghosts {
            return Rc::clone(ghosts);
        }
        let given = stated.given;
        // Their initial values are read before any of them is known.
        stated.ghosts = Some(Rc::default());
        let mut ghosts = HashMap::new();
        for (number, ghost) in given.ghosts.iter().enumerate() {
            let made = match ghosts.contains_key(&ghost.name) {
                true => Err("there are two of this name".to_string()),
                false => self.ghost(ghost),
            };
            match made {
                Ok(variable) => _ = ghosts.insert(ghost.name.clone(), variable),
                Err(why) => self.unplaced(Item::Ghost(number), why),
            }
        }
        let ghosts = Rc::new(ghosts);
        if let Some(stated) = &mut self.stated {
            stated.ghosts = Some(Rc::clone(&ghosts));
        }
        ghosts
    }

    fn ghost(&mut self, ghost: &crate::instrument::Ghost) -> Result<VariableId, String> {
        let is_name = |name: &str| {
            let mut letters = name.bytes();
            letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
                && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
        };
        if !is_name(&ghost.name) {
            return Err("this is no name".to_string());
        }
        if self.lookup(&ghost.name).is_some() {
            return Err(format!("the program has a `{}` of its own", ghost.name));
        }
        // A cast to the type has the type.
        let text = format!("({})({})", ghost.ty, ghost.initial);
        words(&ghost.ty)?;
        words(&ghost.initial)?;
        let initial = self.stated_expression(&text, Span::default(), |this, node| {
            if !matches!(node.node, Expression::Cast(_)) {
                return this.error(node.span, "this is no type");
            }
            let value = this.value(node)?;
            Ok(this.settle(value))
        })?;
        let ty = initial.ty.clone();
        if !matches!((&initial.kind, &ty), (ExprKind::Int(_), Type::Int(_))) {
            return Err("its type is none of integers, or its initial value is not constant".to_string());
        }
        self.unit.variables.push(Variable {
            name: ghost.name.clone(),
            ty,
            storage: Storage::Static,
            initial: vec![Initial { path: Vec::new(), value: initial }],
            external: false,
            span: Span::default(),
        });
        Ok(VariableId(self.unit.variables.len() - 1))
    }

    /// Reads an expression without effects in the scope that is open, where ghost variables are known as well.
    fn stated_expression(
        &mut self,
        text: &str,
        span: Span,
        read: impl FnOnce(&mut Self, &Node<Expression>) -> Res<Expr>,
    ) -> Result<Expr, String> {
        let words = words(text)?;
        let ghosts = self.ghosts();
        let mut types = BTreeSet::new();
        for word in &words {
            match self.lookup(word) {
                Some(_) if ghosts.contains_key(word) => {
                    return Err(format!("the program has a `{word}` of its own"));
                }
                Some(Symbol::Typedef(..)) if !Normal::knows(word) => _ = types.insert(word.as_str()),
                _ => {}
            }
        }
        let types: String = types.into_iter().map(|name| format!("typedef int {name};\n")).collect();
        let prefix = normalise(types.as_bytes()).map_err(|(_, _, why)| why)?;
        let count = parse(&prefix).map_err(|(_, _, why)| why)?.0.len();
        let text = format!("{types}int stated(void) {{ return ({text}\n); }}\n");
        let normal = normalise(text.as_bytes()).map_err(|(_, _, why)| why)?;
        let tree = parse(&normal).map_err(|(_, _, why)| why)?;
        let node = returned(&tree, count).ok_or("this is no expression")?;
        let mut effects = Effects(false);
        effects.visit_expression(&node.node, &node.span);
        if effects.0 {
            return Err("it has a call or another effect".to_string());
        }
        let normal = std::mem::replace(&mut self.normal, Rc::new(normal));
        let fixed = self.fixed.replace(span);
        let done = self.scoped(|this| {
            for word in &words {
                if let Some(&ghost) = ghosts.get(word) {
                    this.define(word, Symbol::Variable(ghost));
                }
            }
            read(this, node)
        });
        self.normal = normal;
        self.fixed = fixed;
        let expr = done.map_err(|error| error.message)?;
        let mut unknown = acts(&expr);
        walk::expression(&expr, &mut |part| unknown |= matches!(part.kind, ExprKind::Unsupported(_)));
        if unknown { Err("it has a call or another effect".to_string()) } else { Ok(expr) }
    }

    /// A call of a function that no program can name.
    fn hook(&mut self, name: &str, arguments: Vec<Expr>, span: Span) -> Expr {
        let ty = FunctionType { result: Type::Void, parameters: Vec::new(), variadic: true };
        let known = self.unit.functions.iter().position(|function| function.name == name);
        let id = known.unwrap_or_else(|| {
            self.unit.functions.push(Function {
                name: name.to_string(),
                ty: ty.clone(),
                parameters: Vec::new(),
                body: None,
                declared: true,
                span: Span::default(),
            });
            self.unit.functions.len() - 1
        });
        let kind = ExprKind::Function(FunctionId(id));
        let callee = Expr { kind, ty: Type::Function(Box::new(ty)), span };
        Expr { kind: ExprKind::Call(Box::new(callee), arguments), ty: Type::Void, span }
    }
}

/// The expression that the only function returns, after so many other declarations.
fn returned(tree: &TranslationUnit, count: usize) -> Option<&Node<Expression>> {
    let [Node { node: ExternalDeclaration::FunctionDefinition(definition), .. }] = tree.0.get(count..)?
    else {
        return None;
    };
    let FunctionDefinition { statement, .. } = &definition.node;
    let Statement::Compound(items) = &statement.node else { return None };
    let [Node { node: BlockItem::Statement(only), .. }] = &items[..] else { return None };
    match &only.node {
        Statement::Return(Some(value)) => Some(value),
        _ => None,
    }
}

/// Whether an expression does more than to compute a value.
struct Effects(bool);

impl<'ast> Visit<'ast> for Effects {
    fn visit_call_expression(&mut self, _: &'ast CallExpression, _: &'ast Range) {
        self.0 = true;
    }

    fn visit_expression(&mut self, expression: &'ast Expression, range: &'ast Range) {
        self.0 |= matches!(
            expression,
            Expression::Statement(_) | Expression::CompoundLiteral(_) | Expression::VaArg(_)
        );
        visit::visit_expression(self, expression, range);
    }

    fn visit_unary_operator(&mut self, operator: &'ast UnaryOperator, _: &'ast Range) {
        use UnaryOperator::{PostDecrement, PostIncrement, PreDecrement, PreIncrement};
        self.0 |= matches!(operator, PostIncrement | PostDecrement | PreIncrement | PreDecrement);
    }

    fn visit_binary_operator(&mut self, operator: &'ast BinaryOperator, _: &'ast Range) {
        use BinaryOperator as Operator;
        self.0 |= matches!(
            operator,
            Operator::Assign
                | Operator::AssignMultiply
                | Operator::AssignDivide
                | Operator::AssignModulo
                | Operator::AssignPlus
                | Operator::AssignMinus
                | Operator::AssignShiftLeft
                | Operator::AssignShiftRight
                | Operator::AssignBitwiseAnd
                | Operator::AssignBitwiseXor
                | Operator::AssignBitwiseOr
        );
    }
}
