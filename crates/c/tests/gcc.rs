//! Layouts, constants and initial values, compared with what gcc says about the same text.
//!
//! `_Static_assert` with `-fsyntax-only` needs neither libraries nor headers, so both data models can be asked. Where no
//! compiler is found, the tests say so and pass.

use allways_c::sema::analyse;
use allways_c::source::LineMap;
use allways_c::typed::{DataModel, ExprKind, Int, RecordId, Type, Unit};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

fn read(text: &str, model: DataModel) -> Unit {
    match analyse(text.as_bytes(), &LineMap::identity(text.as_bytes()), model) {
        Ok(unit) => unit,
        Err(errors) => panic!("{errors:#?}"),
    }
}

/// Gives a text to the compiler; false if there is no compiler for the model.
fn accepted(text: &str, model: DataModel) -> bool {
    let flag = if model == DataModel::Ilp32 { "-m32" } else { "-m64" };
    let run = |text: &str| {
        let mut child = Command::new("cc")
            .args([flag, "-std=gnu11", "-w", "-fsyntax-only", "-xc", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        child.stdin.take()?.write_all(text.as_bytes()).ok()?;
        child.wait_with_output().ok()
    };
    if !run("int x;").is_some_and(|output| output.status.success()) {
        println!("no compiler for {flag}: nothing is compared");
        return false;
    }
    let output = run(text).expect("the compiler ran before");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Numbers that look random and are always the same.
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

const TYPES: [&str; 16] = [
    "char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "_Bool",
    "float",
    "double",
    "long double",
    "void *",
    "enum e",
];

/// A struct or union with members that the dice choose.
fn record(dice: &mut Dice, number: usize) -> String {
    let mut text = format!("{} s{number} {{\n", dice.pick(&["struct", "struct", "struct", "union"]));
    for member in 0..1 + dice.roll(7) {
        let ty = dice.pick(&TYPES);
        let whole = !matches!(ty, "float" | "double" | "long double" | "void *");
        let before = dice.roll(number.max(1) as u64);
        let line = match dice.roll(14) {
            0..=3 if whole => {
                let most = match ty {
                    "_Bool" => 1,
                    "char" | "unsigned char" => 8,
                    "short" | "unsigned short" => 16,
                    _ => 32,
                };
                format!("{ty} m{member} : {};", 1 + dice.roll(most))
            }
            4 if whole => format!("{ty} : {};", dice.pick(&["0", "0", "1", "1"])),
            5 => format!("{ty} m{member}[{}];", 1 + dice.roll(5)),
            6 if number > 0 => format!("KIND{before} m{member};"),
            7 => format!("struct {{ {ty} a{member}; char b{member}; }};"),
            8 => format!("union {{ {ty} c{member}; short d{member}; }} m{member};"),
            9 => format!("{ty} m{member} __attribute__((aligned({})));", 1 << dice.roll(6)),
            10 => format!("{ty} m{member} __attribute__((packed));"),
            _ => format!("{ty} m{member};"),
        };
        text.push_str(&line);
        text.push('\n');
    }
    let end = dice.pick(&[
        "",
        "",
        "",
        "",
        " __attribute__((packed))",
        " __attribute__((aligned(32)))",
        " __attribute__((packed, aligned(4)))",
    ]);
    text + "}" + end + ";\n"
}

/// Many structs, and some that are known to be hard.
fn records() -> String {
    let mut text = String::from("enum e { A, B = 5 };\n");
    let mut dice = Dice(1);
    let mut kinds: Vec<String> = Vec::new();
    for number in 0..400 {
        let mut one = record(&mut dice, number);
        for before in (0..number).rev() {
            one = one.replace(&format!("KIND{before} "), &format!("{} ", kinds[before]));
        }
        kinds.push(format!("{} s{number}", one.split(' ').next().unwrap_or("struct")));
        text.push_str(&one);
    }
    text + "struct flexible { int n; double x[]; }; struct __attribute__((packed)) front { char a; int b; };\n\
            struct atomic { char a; _Atomic long long b; _Atomic(char) c; _Atomic short d; };\n\
            typedef int loose __attribute__((aligned(2))); struct typedefs { char a; loose b; char c; };\n\
            struct zero { int a[0]; char b; }; struct empty { }; struct alignas { char a; _Alignas(16) char b; };\n\
            struct mode { char a; int b __attribute__((__mode__(__DI__))); int c __attribute__((mode(QI))); };\n\
            struct bits { unsigned long long a : 40; unsigned b : 30; int : 0; char c : 3; _Bool d : 1; };\n\
            struct wide { char a; __int128 b; }; struct list { __builtin_va_list a; char b; };\n\
            struct __attribute__((aligned(sizeof(long) * 2))) computed { char a; };\n"
}

#[test]
fn layouts_are_those_of_gcc() {
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        let mut text = records();
        if model == DataModel::Ilp32 {
            text = text.replace("struct wide { char a; __int128 b; };", "");
        }
        let unit = read(&text, model);
        let mut asserts = 0;
        let named =
            unit.records.iter().filter(|record| !record.name.is_empty() && !record.name.starts_with("__"));
        for record in named {
            let layout = record.layout.expect("all are complete");
            let name = format!("{} {}", if record.union { "union" } else { "struct" }, record.name);
            writeln!(text, "_Static_assert(sizeof({name}) == {}, \"size of {name}\");", layout.size).unwrap();
            writeln!(text, "_Static_assert(_Alignof({name}) == {}, \"align of {name}\");", layout.align)
                .unwrap();
            for field in record.fields.iter().filter(|field| field.bits.is_none() && !field.name.is_empty()) {
                let (member, offset) = (&field.name, field.offset);
                writeln!(
                    text,
                    "_Static_assert(__builtin_offsetof({name}, {member}) == {offset}, \"{name}.{member}\");"
                )
                .unwrap();
                asserts += 1;
            }
        }
        assert!(asserts > 800, "{asserts}");
        accepted(&text, model);
    }
}

/// An expression without division by zero or shifts that are too wide.
fn expression(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        return match dice.roll(4) {
            0 => dice
                .pick(&[
                    "'a'",
                    "'\\xff'",
                    "L'x'",
                    "sizeof(long)",
                    "sizeof(struct s)",
                    "A",
                    "B",
                    "sizeof(int[3])",
                    "'\\0'",
                ])
                .to_string(),
            1 => dice
                .pick(&[
                    "2147483647",
                    "2147483648",
                    "0xffffffff",
                    "0x7fffffffffffffff",
                    "037777777777",
                    "4294967296",
                ])
                .to_string(),
            2 => format!("{}{}", dice.roll(1000), dice.pick(&["", "u", "l", "ul", "ll", "ULL", "LLU", "uL"])),
            _ => format!("{}", dice.roll(20)),
        };
    }
    let a = expression(dice, depth - 1);
    let b = expression(dice, depth - 1);
    match dice.roll(12) {
        0 => format!("(({a}) / ((({b}) & 7) + 1))"),
        1 => format!("(({a}) % ((({b}) & 7) + 1))"),
        2 => format!("(({a}) {} (({b}) & 15))", dice.pick(&["<<", ">>"])),
        3 => format!("(({a}) {} ({b}))", dice.pick(&["<", "<=", ">", ">=", "==", "!="])),
        4 => format!(
            "(({}){a})",
            dice.pick(&[
                "char",
                "unsigned char",
                "short",
                "unsigned short",
                "int",
                "unsigned",
                "long",
                "unsigned long",
                "long long",
                "_Bool"
            ])
        ),
        5 => format!("(({a}) ? ({b}) : {})", expression(dice, depth - 1)),
        6 => format!("{}({a})", dice.pick(&["-", "~", "!", "+"])),
        7 => format!("(({a}) {} ({b}))", dice.pick(&["&&", "||"])),
        _ => format!("(({a}) {} ({b}))", dice.pick(&["+", "-", "*", "&", "|", "^"])),
    }
}

#[test]
fn constants_are_those_of_gcc() {
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        let head = "enum { A = 7, B = -3 }; struct s { char c; double d; };\n";
        let mut dice = Dice(2);
        let mut list: Vec<String> = (0..1500).map(|number| expression(&mut dice, 1 + number % 4)).collect();
        list.extend(
            [
                "__builtin_offsetof(struct s, d)",
                "(unsigned long)&((struct s *)0)->d",
                "(char)200",
                "(int)3.9",
                "1.5 > 1",
                "(unsigned char)-1",
                "sizeof(\"abc\" \"de\")",
                "sizeof('a')",
                "_Alignof(double)",
                "1 ? -1 : 0u",
                "__builtin_types_compatible_p(int *, int *)",
                "__builtin_types_compatible_p(int, char)",
                "'\\377'",
                "'ab'",
                "__builtin_choose_expr(1, 2, 3)",
                "_Generic(1.0f, int: 1, float: 2, default: 3)",
                "sizeof(struct s[4])",
                "(short)40000 + 1",
                "0b101",
                "-1 < 0u",
                "(_Bool)0.5",
                "5 ?: 3",
                "sizeof(L\"ab\")",
                "(long long)1 << 40",
                "sizeof((struct s){ 1, 2 }.d)",
                "&((struct s *)8)[1].c - (char *)0",
                "08.5 > 8",
                "0x1p3 == 8",
            ]
            .map(str::to_string),
        );
        let mut text = head.to_string();
        for (number, expression) in list.iter().enumerate() {
            writeln!(text, "__typeof__({expression}) v{number} = ({expression});").unwrap();
        }
        let unit = read(&text, model);
        let mut asserts = head.to_string();
        for (number, expression) in list.iter().enumerate() {
            let name = format!("v{number}");
            let variable = unit.variables.iter().find(|variable| variable.name == name).expect(&name);
            let (Type::Int(Int { bits, signed }), [initial]) = (&variable.ty, variable.initial.as_slice())
            else {
                panic!("{expression}: {variable:?}");
            };
            let ExprKind::Int(value) = initial.value.kind else { panic!("{expression}: {initial:?}") };
            let value = match signed {
                true => format!("({} - 1)", value + 1)
                    .replace("(-9223372036854775807 - 1)", "(-9223372036854775807ll - 1)"),
                false => format!("{value}ull"),
            };
            let bytes = u32::from(*bits).div_ceil(8);
            writeln!(asserts, "_Static_assert(({expression}) == {value}, \"\");").unwrap();
            writeln!(asserts, "_Static_assert(sizeof({expression}) == {bytes}, \"\");").unwrap();
            writeln!(
                asserts,
                "_Static_assert(((__typeof__({expression}))-1 < 1) == {}, \"\");",
                u8::from(*signed)
            )
            .unwrap();
        }
        accepted(&asserts, model);
    }
}

/// The scalar parts of an object: their paths, and how C spells them.
fn leaves(unit: &Unit, ty: &Type, path: &mut Vec<u64>, words: &str, found: &mut Vec<(Vec<u64>, String)>) {
    match ty {
        Type::Array(element, length) => {
            for index in 0..length.unwrap_or(0) {
                path.push(index);
                leaves(unit, element, path, &format!("{words}[{index}]"), found);
                path.pop();
            }
        }
        Type::Record(RecordId(id)) => {
            let record = &unit.records[*id];
            for (number, field) in record.fields.iter().enumerate() {
                if record.union && number > 0 {
                    break;
                }
                path.push(number as u64);
                let words = match field.name.is_empty() {
                    true => words.to_string(),
                    false => format!("{words}.{}", field.name),
                };
                leaves(unit, &field.ty, path, &words, found);
                path.pop();
            }
        }
        _ => found.push((path.clone(), words.to_string())),
    }
}

#[test]
fn initial_values_are_those_of_gcc() {
    let text = r#"
        struct p { int x, y; }; struct q { struct p a, b[2]; char name[4]; int z; };
        struct an { int k; union { int i; char c; }; struct { short s, t; }; };
        struct p v0 = { 1, 2 }; struct p v1 = { .y = 3 }; struct p v2 = { y: 4, x: 5 };
        struct q v3 = { 1, 2, 3, 4, 5, 6, "ab", 7 }; struct q v4 = { { 1 }, { { 2 }, 3 }, { 'x', 'y' }, 9 };
        struct q v5 = { .b[1].x = 7, 8, "abcd", .a.y = 2 }; struct q v6[] = { 1, 2, 3, 4, 5, 6, "a", 7, [2] = { .z = 5 }, { 4 } };
        int v7[] = { 1, [5] = 2, 3, [1] = 9 }; int v8[6] = { [1 ... 3] = 4, 5 }; int v9[2][3] = { 1, 2, 3, 4 };
        int v10[][2] = { { 1 }, { 2, 3 }, 4, 5, 6 }; char v11[] = "hi" "\x41\n"; char v12[3] = { "abc" }; char v13[2][4] = { "ab", "cd" };
        struct an v14 = { 1, 2, 3, 4 }; struct an v15 = { .t = 5, .i = 6 }; int v16 = { 5 }; char v17 = 300; unsigned char v18 = -1;
        struct q v19 = { .b = { [1] = { .y = 4 } }, .a = { 1, 2 } }; int v20[3] = { 1, 2, 3, 4 }; short v21[] = { -1, 65535, sizeof(struct q) };
        struct p v22[2] = { [0].x = 1, [1].y = 2 }; struct p v23[] = { { 1, 2 }, 3, 4, { .y = 5 } }; _Bool v24[] = { 5, 0, 0.5 };
        struct { int n; struct p list[3]; } v25 = { 1, { { 2, 3 }, [2] = { 4 } } }; int v26[2] = {}; struct q v27 = { .name = { [1] = 'b' } };
        union { int i; char c[4]; } v28 = { 5 }; struct { char a[2][2]; int b; } v29 = { "a", "bc", 3 }; enum { E = 3 } v30 = E;
        struct q v31 = { .b[0 ... 1] = { 3, 4 }, .z = 1 }; long v32[] = { (long)1 << 20, -1u, -1 }; struct p v33 = (struct p){ 7 };
    "#;
    let unit = read(text, DataModel::Lp64);
    let mut program = format!("{text}\nint main(void) {{\n");
    let mut compared = 0;
    for variable in unit.variables.iter().filter(|variable| variable.name.starts_with('v')) {
        let mut found = Vec::new();
        leaves(&unit, &variable.ty, &mut Vec::new(), &variable.name, &mut found);
        let size = found.len();
        writeln!(program, "  if (sizeof({0}) == 0 || {size} == 0) return 1;", variable.name).unwrap();
        if let Type::Array(_, Some(length)) = &variable.ty {
            writeln!(program, "  if (sizeof({0}) / sizeof({0}[0]) != {length}) return 2;", variable.name)
                .unwrap();
        }
        let mut known = 0;
        for (path, words) in found {
            let given: Vec<_> = variable.initial.iter().filter(|initial| initial.path == path).collect();
            assert!(given.len() <= 1, "{words} twice");
            known += given.len();
            let value = match given.first().map(|initial| &initial.value.kind) {
                None => 0,
                Some(ExprKind::Int(value)) => *value,
                other => panic!("{words}: {other:?}"),
            };
            writeln!(program, "  if ({words} != {value}) {{ __builtin_printf(\"{words} is %ld, not {value}\\n\", (long){words}); return 3; }}").unwrap();
            compared += 1;
        }
        assert_eq!(known, variable.initial.len(), "{}: {:?}", variable.name, variable.initial);
    }
    assert!(compared > 200, "{compared}");
    program.push_str("  return 0;\n}\n");
    let folder = std::env::temp_dir().join(format!("allways-c-init-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, binary) = (folder.join("init.c"), folder.join("init"));
    std::fs::write(&source, program).unwrap();
    match Command::new("cc").args(["-w", "-o"]).arg(&binary).arg(&source).output() {
        Err(_) => println!("no compiler: nothing is compared"),
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let run = Command::new(&binary).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}
