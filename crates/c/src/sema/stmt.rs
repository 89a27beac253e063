//! Statements.

use super::convert::wrap;
use super::{Analyser, INT, MAX_ERRORS, Res};
use crate::typed::{ExprKind, Reading, Stmt, StmtKind, Type};
use lang_c::ast::{
    AsmStatement, BlockItem, Expression, ForInitializer, ForStatement, Label, LabeledStatement, Statement,
};
use lang_c::span::Node;

impl Analyser<'_> {
    /// The statements of a block, in a scope of their own. Errors are collected here: what follows one is read all the same.
    pub(super) fn block(&mut self, items: &[Node<BlockItem>]) -> Res<Vec<Stmt>> {
        self.scoped(|this| {
            let mut list = Vec::new();
            for item in items {
                let done = match &item.node {
                    BlockItem::Declaration(declaration) => {
                        let around = this.around(item.span, true);
                        list.extend(around.before);
                        let done = this.declaration(declaration, &mut list);
                        list.extend(around.after);
                        done
                    }
                    BlockItem::StaticAssert(_) => Ok(()),
                    BlockItem::Statement(statement) => {
                        this.statements(statement).map(|statements| list.extend(statements))
                    }
                };
                if let Err(error) = done {
                    this.errors.push(error);
                    if this.errors.len() >= MAX_ERRORS {
                        break;
                    }
                }
            }
            Ok(list)
        })
    }

    pub(super) fn statement(&mut self, node: &Node<Statement>) -> Res<Stmt> {
        let mut statements = self.statements(node)?;
        match (statements.pop(), statements.is_empty()) {
            (Some(only), true) => Ok(only),
            (last, _) => {
                statements.extend(last);
                Ok(Stmt { kind: StmtKind::Block(statements), span: self.span(node.span) })
            }
        }
    }

    /// A statement, with what is stated about it before and after.
    fn statements(&mut self, node: &Node<Statement>) -> Res<Vec<Stmt>> {
        let around = self.around_statement(node);
        Ok(around.put(self.alone(node)?))
    }

    fn alone(&mut self, node: &Node<Statement>) -> Res<Stmt> {
        let span = self.span(node.span);
        let kind = match &node.node {
            Statement::Labeled(labeled) => self.labeled(labeled)?,
            Statement::Compound(items) => StmtKind::Block(self.block(items)?),
            Statement::Expression(None) => StmtKind::Empty,
            Statement::Expression(Some(expression)) => StmtKind::Expr(self.value(expression)?),
            Statement::If(statement) => {
                let condition = self.condition(&statement.node.condition)?;
                let then = self.inner(&statement.node.then_statement)?;
                let other = match &statement.node.else_statement {
                    Some(other) => Some(Box::new(self.inner(other)?)),
                    None => None,
                };
                StmtKind::If(condition, Box::new(then), other)
            }
            Statement::Switch(statement) => {
                let value = self.value(&statement.node.expression)?;
                if !matches!(value.ty, Type::Int(_)) {
                    return self.error(statement.node.expression.span, "`switch` needs an integer");
                }
                let value = self.promote(value);
                let ty = value.ty.clone();
                if let Some(inside) = &mut self.inside {
                    inside.switches.push(ty);
                }
                let body = self.inner(&statement.node.statement);
                if let Some(inside) = &mut self.inside {
                    inside.switches.pop();
                }
                StmtKind::Switch(value, Box::new(body?))
            }
            Statement::While(statement) => {
                let condition = self.condition(&statement.node.expression)?;
                let condition = self.headed_by(node.span, condition);
                StmtKind::While(condition, Box::new(self.inner(&statement.node.statement)?))
            }
            Statement::DoWhile(statement) => {
                let body = self.inner(&statement.node.statement)?;
                let condition = self.condition(&statement.node.expression)?;
                StmtKind::DoWhile(Box::new(body), self.headed_by(node.span, condition))
            }
            Statement::For(statement) => self.scoped(|this| this.for_statement(statement))?,
            Statement::Goto(label) => StmtKind::Goto(label.node.name.clone()),
            Statement::Continue => StmtKind::Continue,
            Statement::Break => StmtKind::Break,
            Statement::Return(value) => self.return_statement(value.as_deref())?,
            Statement::Asm(statement) => self.assembly(&statement.node)?,
        };
        Ok(Stmt { kind, span })
    }

    /// A statement inside of another one: a scope of its own.
    fn inner(&mut self, node: &Node<Statement>) -> Res<Stmt> {
        self.scoped(|this| this.statement(node))
    }

    fn labeled(&mut self, node: &Node<LabeledStatement>) -> Res<StmtKind> {
        let LabeledStatement { label, statement } = &node.node;
        let (low, high) = match &label.node {
            Label::Identifier(name) => {
                let statement = self.statement(statement)?;
                return Ok(StmtKind::Label(name.node.name.clone(), Box::new(statement)));
            }
            Label::Default => {
                return Ok(StmtKind::Default(Box::new(self.statement(statement)?)));
            }
            Label::Case(value) => {
                let value = self.constant(value)?;
                (value, value)
            }
            Label::CaseRange(range) => (self.constant(&range.node.low)?, self.constant(&range.node.high)?),
        };
        let switch = self.inside.as_ref().and_then(|inside| inside.switches.last());
        let Some(Type::Int(ty)) = switch else {
            return self.error(label.span, "`case` outside of a `switch`");
        };
        let (low, high) = (wrap(low, *ty), wrap(high, *ty));
        Ok(StmtKind::Case(low, high, Box::new(self.statement(statement)?)))
    }

    fn for_statement(&mut self, node: &Node<ForStatement>) -> Res<StmtKind> {
        let mut list = Vec::new();
        let span = self.span(node.span);
        match &node.node.initializer.node {
            ForInitializer::Empty | ForInitializer::StaticAssert(_) => {}
            ForInitializer::Expression(expression) => {
                let value = self.value(expression)?;
                list.push(Stmt { span: value.span, kind: StmtKind::Expr(value) });
            }
            ForInitializer::Declaration(declaration) => self.declaration(declaration, &mut list)?,
        }
        let condition = match &node.node.condition {
            Some(condition) => Some(self.condition(condition)?),
            None => None,
        };
        let condition = self.headed(node.span, condition);
        let step = match &node.node.step {
            Some(step) => Some(self.value(step)?),
            None => None,
        };
        let body = self.inner(&node.node.statement)?;
        let kind = StmtKind::For(condition, step, Box::new(body));
        if list.is_empty() {
            return Ok(kind);
        }
        list.push(Stmt { kind, span });
        Ok(StmtKind::Block(list))
    }

    fn return_statement(&mut self, value: Option<&Node<Expression>>) -> Res<StmtKind> {
        let Some(node) = value else { return Ok(StmtKind::Return(None)) };
        let result = self.inside.as_ref().map_or(INT, |inside| inside.result.clone());
        let value = self.value(node)?;
        if result == Type::Void {
            let span = value.span;
            let list =
                vec![Stmt { kind: StmtKind::Expr(value), span }, Stmt { kind: StmtKind::Return(None), span }];
            return Ok(StmtKind::Block(list));
        }
        Ok(StmtKind::Return(Some(self.convert(value, &result)?)))
    }

    fn assembly(&mut self, node: &AsmStatement) -> Res<StmtKind> {
        let mut outputs = Vec::new();
        let AsmStatement::GnuExtended(statement) = node else { return Ok(StmtKind::Asm(outputs, None)) };
        for output in &statement.outputs {
            outputs.push(self.expression(&output.node.variable_name)?);
        }
        let (_, letters) = self.string_units(statement.template.span);
        let text: String = letters.into_iter().filter_map(char::from_u32).collect();
        let mut words = text.split([' ', ',', '\t']).filter(|word| !word.is_empty());
        let words = (words.next().unwrap_or_default(), words.collect::<Vec<_>>());
        let reading = match (&words.1[..], &statement.inputs[..]) {
            _ if outputs.len() != 1 => None,
            ([_, _], _) if matches!(words.0, "inb" | "inw" | "inl") => Some(Reading::Port),
            (["%1", "%0"], [input]) if matches!(words.0, "movb" | "movw" | "movl" | "movq") => {
                let place = self.expression(&input.node.variable_name)?;
                matches!(place.kind, ExprKind::Deref(_)).then_some(Reading::Memory(place))
            }
            _ => None,
        };
        Ok(StmtKind::Asm(outputs, reading))
    }
}
