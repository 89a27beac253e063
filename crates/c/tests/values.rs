//! Expressions with variables: what the typed tree computes, step by step, against what gcc's code does.
//!
//! The tree is run by a small interpreter that knows nothing of C's conversions: it casts where the tree has a cast. A
//! conversion that is missing or wrong shows as a different number.

use allways_c::sema::analyse;
use allways_c::source::LineMap;
use allways_c::typed::{
    Binary, DataModel, Expr, ExprKind, Int, RecordId, StmtKind, Type, Unary, Unit, VariableId,
};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::process::Command;

const HEAD: &str = "\
    struct bits { int a : 5; unsigned b : 7; unsigned c : 31; long long d : 40; _Bool e : 1; unsigned f : 32; };
    char c; signed char sc; unsigned char uc; short s; unsigned short us; int i; unsigned u; long l; unsigned long ul;
    long long ll; unsigned long long ull; _Bool t; struct bits bits; _Atomic int at; enum { E = 3 } e;
";

/// The names of the objects. (Bit-fields that are wider than `int` are left out: gcc computes with integers of just that
/// width, clang with the declared type, and so does the tree.)
const OBJECTS: [&str; 19] = [
    "c", "sc", "uc", "s", "us", "i", "u", "l", "ul", "ll", "ull", "t", "bits.a", "bits.b", "bits.c",
    "bits.e", "bits.f", "at", "e",
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.roll(list.len() as u64) as usize]
    }
}

/// An expression without effects.
fn pure(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return match dice.roll(3) {
            0 => dice
                .pick(&["0", "1", "-1", "3", "255", "65536", "2147483647", "4294967295", "7ul", "'a'", "E"])
                .to_string(),
            _ => dice.pick(&OBJECTS).to_string(),
        };
    }
    let (a, b) = (pure(dice, depth - 1), pure(dice, depth - 1));
    match dice.roll(13) {
        0 => format!("(({a}) / ((({b}) & 7) + 1))"),
        1 => format!("(({a}) % ((({b}) & 7) + 1))"),
        2 => format!("(({a}) {} (({b}) & 15))", dice.pick(&["<<", ">>"])),
        3 => format!("(({a}) {} ({b}))", dice.pick(&["<", "<=", ">", ">=", "==", "!="])),
        4 => {
            let ty = dice.pick(&[
                "char",
                "unsigned char",
                "short",
                "unsigned short",
                "int",
                "unsigned",
                "long",
                "_Bool",
            ]);
            format!("(({ty})({a}))")
        }
        5 => format!("(({a}) ? ({b}) : ({}))", pure(dice, depth - 1)),
        6 => format!("({}({a}))", dice.pick(&["-", "~", "!", "+"])),
        7 => format!("(({a}) {} ({b}))", dice.pick(&["&&", "||"])),
        8 => format!("(({a}) ?: ({b}))"),
        _ => format!("(({a}) {} ({b}))", dice.pick(&["+", "-", "*", "&", "|", "^"])),
    }
}

/// A statement that changes one object; its value goes to `result`.
fn effect(dice: &mut Dice, depth: usize) -> String {
    let object = dice.pick(&OBJECTS);
    let value = pure(dice, depth);
    match dice.roll(6) {
        0 => format!("({object} = {value})"),
        1 => format!("({object} {} {value})", dice.pick(&["+=", "-=", "*=", "&=", "|=", "^="])),
        2 => format!("({object} {} (({value}) & 15))", dice.pick(&["<<=", ">>="])),
        3 => format!("({object} {} ((({value}) & 7) + 1))", dice.pick(&["/=", "%="])),
        4 => format!("({object}{})", dice.pick(&["++", "--"])),
        _ => format!("({}{object})", dice.pick(&["++", "--"])),
    }
}

/// Objects by variable and member.
type Store = HashMap<(usize, Option<usize>), i128>;

struct Machine<'u> {
    unit: &'u Unit,
    store: Store,
}

fn wrap(value: i128, to: Int) -> i128 {
    if to.bits == 1 && !to.signed {
        return i128::from(value != 0);
    }
    narrow(value, u32::from(to.bits), to.signed)
}

fn narrow(value: i128, bits: u32, signed: bool) -> i128 {
    let value = value.rem_euclid(1 << bits);
    if signed && value >= 1 << (bits - 1) { value - (1 << bits) } else { value }
}

impl Machine<'_> {
    fn number(&self, ty: &Type) -> Int {
        match ty {
            Type::Int(int) => *int,
            Type::Atomic(inner) => self.number(inner),
            other => panic!("{other:?} is no integer"),
        }
    }

    fn place(&self, object: &Expr) -> (usize, Option<usize>) {
        match &object.kind {
            ExprKind::Variable(VariableId(id)) => (*id, None),
            ExprKind::Member(inner, number) => (self.place(inner).0, Some(*number)),
            other => panic!("{other:?} is no object"),
        }
    }

    fn load(&self, object: &Expr) -> i128 {
        self.store.get(&self.place(object)).copied().unwrap_or(0)
    }

    /// Stores a value of the object's type; a bit-field keeps its bits only.
    fn save(&mut self, object: &Expr, value: i128) -> i128 {
        let ty = self.number(&object.ty);
        let mut value = wrap(value, ty);
        if let ExprKind::Member(inner, number) = &object.kind
            && let Type::Record(RecordId(id)) = &inner.ty
            && let Some(bits) = self.unit.records[*id].fields[*number].bits
            && ty.bits > 1
        {
            value = narrow(value, u32::from(bits), ty.signed);
        }
        self.store.insert(self.place(object), value);
        value
    }

    fn operate(&self, operator: Binary, a: i128, b: i128, ty: Int) -> i128 {
        let truth = i128::from;
        match operator {
            Binary::Times => wrap(a.wrapping_mul(b), ty),
            Binary::Divide => wrap(a / b, ty),
            Binary::Remainder => wrap(a % b, ty),
            Binary::Plus => wrap(a + b, ty),
            Binary::Minus => wrap(a - b, ty),
            Binary::ShiftLeft => wrap(a << b, ty),
            Binary::ShiftRight => a >> b,
            Binary::BitAnd => wrap(a & b, ty),
            Binary::BitXor => wrap(a ^ b, ty),
            Binary::BitOr => wrap(a | b, ty),
            Binary::Equal => truth(a == b),
            Binary::Unequal => truth(a != b),
            Binary::Less => truth(a < b),
            Binary::LessEqual => truth(a <= b),
            Binary::Greater => truth(a > b),
            Binary::GreaterEqual => truth(a >= b),
        }
    }

    fn value(&mut self, expr: &Expr) -> i128 {
        match &expr.kind {
            ExprKind::Int(value) => *value,
            ExprKind::Load(object) => self.load(object),
            ExprKind::Unary(operator, inner) => {
                let value = self.value(inner);
                let ty = self.number(&expr.ty);
                match operator {
                    Unary::Minus => wrap(-value, ty),
                    Unary::Complement => wrap(!value, ty),
                    Unary::Not => i128::from(value == 0),
                }
            }
            ExprKind::Binary(operator, a, b) => {
                let shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
                assert!(shift || a.ty == b.ty, "{expr:?}");
                let ty = self.number(&a.ty);
                let (a, b) = (self.value(a), self.value(b));
                self.operate(*operator, a, b, ty)
            }
            ExprKind::And(a, b) => i128::from(self.value(a) != 0 && self.value(b) != 0),
            ExprKind::Or(a, b) => i128::from(self.value(a) != 0 || self.value(b) != 0),
            ExprKind::Conditional(test, then, other) => {
                assert_eq!(expr.ty, other.ty);
                let known = self.value(test);
                match then {
                    _ if known == 0 => self.value(other),
                    Some(then) => {
                        assert_eq!(expr.ty, then.ty);
                        self.value(then)
                    }
                    None => {
                        assert_eq!(expr.ty, test.ty);
                        known
                    }
                }
            }
            ExprKind::Cast(inner) => {
                let value = self.value(inner);
                wrap(value, self.number(&expr.ty))
            }
            ExprKind::Assign(object, value) => {
                let value = self.value(value);
                self.save(object, value)
            }
            ExprKind::AssignOp(operator, object, value, works) => {
                let works = self.number(works);
                let value = self.value(value);
                let old = wrap(self.load(object), works);
                let new = self.operate(*operator, old, value, works);
                self.save(object, new)
            }
            ExprKind::Step(object, by, before) => {
                let old = self.load(object);
                let new = self.save(object, old + i128::from(*by));
                if *before { old } else { new }
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn expressions_compute_what_gcc_computes() {
    let mut dice = Dice(3);
    let mut text = HEAD.to_string();
    let mut tests = Vec::new();
    for number in 0..1500 {
        let sets: Vec<String> = OBJECTS
            .iter()
            .map(|object| {
                let value = dice.pick(&[
                    "0",
                    "1",
                    "-1",
                    "5",
                    "-7",
                    "127",
                    "200",
                    "40000",
                    "-2147483647",
                    "3000000000",
                    "99999999999",
                ]);
                format!("{object} = {value};")
            })
            .collect();
        let depth = 1 + number % 3;
        let body = if number % 2 == 0 { pure(&mut dice, depth) } else { effect(&mut dice, depth) };
        writeln!(text, "long long f{number}(void) {{ {} return {body}; }}", sets.join(" ")).unwrap();
        tests.push(body);
    }
    let unit = match analyse(text.as_bytes(), &LineMap::identity(text.as_bytes()), DataModel::Lp64) {
        Ok(unit) => unit,
        Err(errors) => panic!("{errors:#?}"),
    };
    let mut ours = Vec::new();
    for number in 0..tests.len() {
        let name = format!("f{number}");
        let function = unit.functions.iter().find(|function| function.name == name).expect("it is defined");
        let mut machine = Machine { unit: &unit, store: Store::new() };
        for statement in function.body.as_ref().expect("it has a body") {
            match &statement.kind {
                StmtKind::Expr(expr) => {
                    machine.value(expr);
                }
                StmtKind::Return(Some(expr)) => ours.push(machine.value(expr)),
                other => panic!("{other:?}"),
            }
        }
    }
    text.push_str("int main(void) {\n");
    for number in 0..tests.len() {
        writeln!(text, "__builtin_printf(\"%lld\\n\", f{number}());").unwrap();
    }
    text.push_str("return 0; }\n");
    let folder = std::env::temp_dir().join(format!("allways-c-values-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, binary) = (folder.join("values.c"), folder.join("values"));
    std::fs::write(&source, text).unwrap();
    match Command::new("cc").args(["-w", "-fwrapv", "-std=gnu11", "-o"]).arg(&binary).arg(&source).output() {
        Err(_) => println!("no compiler: nothing is compared"),
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let run = Command::new(&binary).output().unwrap();
            let theirs: Vec<i128> =
                String::from_utf8_lossy(&run.stdout).lines().map(|line| line.parse().unwrap()).collect();
            assert_eq!(theirs.len(), ours.len());
            for ((body, ours), theirs) in tests.iter().zip(&ours).zip(&theirs) {
                assert_eq!(ours, theirs, "{body}");
            }
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}
