//! Compiling a C program with the controlled scheduler, and what must be known of the result: lines and variables by address.

use super::NativeError;
use super::assembly::give_outputs;
use super::schedule::{Failing, Schedule, Undefined};
use allways_c::annotations;
use allways_c::source::{is_preprocessed, with_headers};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const RUNTIME: &str = include_str!("runtime.c");

/// A program that was built.
pub(super) struct Built {
    pub program: PathBuf,
    /// The commands that built it.
    pub commands: Vec<String>,
    /// The part of the schedule file that is about addresses.
    pub tables: String,
    /// The numbers of variables.
    pub names: HashMap<String, usize>,
}

/// Runs a command and gives what it prints.
fn run(program: &str, arguments: &[String], commands: &mut Vec<String>) -> Result<String, NativeError> {
    let shown = arguments.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    commands.push(format!("{program} {shown}"));
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| NativeError::NoTool(format!("`{program}` cannot be run: {error}")))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(NativeError::Build { command: format!("{program} {shown}"), words });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_=./,+:@".contains(character);
    if word.chars().all(plain) { word.to_string() } else { format!("'{word}'") }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_string()).collect()
}

/// The functions of the library that the runtime takes the place of.
fn wrapped() -> HashSet<&'static str> {
    let calls = RUNTIME.split("__wrap_").skip(1).chain(RUNTIME.split("__real_").skip(1));
    let end = |character: char| !character.is_ascii_alphanumeric() && character != '_';
    calls.filter_map(|rest| rest.split(end).next()).filter(|name| !name.is_empty()).collect()
}

/// Builds a program in a folder. If memory that is not there is accessed, accesses outside of arrays stop it.
pub(super) fn build(path: &Path, folder: &Path, schedule: &Schedule) -> Result<Built, NativeError> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let written = |path: PathBuf, bytes: &[u8]| {
        std::fs::write(&path, bytes)
            .map_err(|error| NativeError::Files(format!("{}: {error}", path.display())))?;
        Ok::<PathBuf, NativeError>(path)
    };
    let mut commands = Vec::new();
    let mut compile = words(&["-std=gnu11", "-fgnu89-inline", "-w", "-g", "-O0", "-fno-pie"]);
    compile.extend(words(&["-fsanitize=thread", "-finstrument-functions"]));
    if schedule.failing == Failing::Memory {
        compile.extend(words(&["-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"]));
    }
    let bytes =
        std::fs::read(path).map_err(|error| NativeError::Files(format!("{}: {error}", path.display())))?;
    // Assertions in comments are compiled as calls, on the same lines.
    let called = annotations::are_there(&bytes).then(|| annotations::written_out(&bytes).ok()).flatten();
    let is_called = called.is_some();
    let mut bytes = called.unwrap_or(bytes);
    // So are the values of variables that the program gives none.
    let mut is_given = !is_called && give_values(&mut bytes, &schedule.undefined);
    is_given |= give_outputs(&mut bytes, &schedule.chosen);
    if is_preprocessed(path, &bytes) {
        // Lines are those of the file itself.
        let copy = written(folder.join("program.i"), &without_markers(&bytes))?;
        compile.extend(words(&["-x", "cpp-output", "-c", &text(&copy)]));
    } else if is_called || is_given {
        let copy = written(folder.join("program.c"), &bytes)?;
        let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        compile.extend(words(&["-I", &text(beside), "-c", &text(&copy)]));
    } else {
        compile.extend(words(&["-c", &text(path)]));
    }
    let object = text(&folder.join("program.o"));
    compile.extend(words(&["-o", &object]));
    // What has no value may have any; zero is the same in every run. Older compilers do not know how.
    let mut zeroed = compile.clone();
    zeroed.insert(0, "-ftrivial-auto-var-init=zero".to_string());
    let mut compiled = run("gcc", &zeroed, &mut commands);
    if matches!(&compiled, Err(NativeError::Build { words, .. }) if words.contains("trivial-auto-var-init")) {
        commands.clear();
        zeroed = compile;
        compiled = run("gcc", &zeroed, &mut commands);
    }
    // Headers that verifiers bring along may be missing.
    if let Err(NativeError::Build { .. }) = &compiled {
        let again = with_headers(|headers| {
            zeroed.extend(words(&["-idirafter", headers]));
            let mut commands = Vec::new();
            run("gcc", &zeroed, &mut commands).map(|_| commands)
        });
        if let Some(Ok(used)) = again {
            commands = used;
            compiled = Ok(String::new());
        }
    }
    compiled?;
    let source = text(&written(folder.join("runtime.c"), RUNTIME.as_bytes())?);
    let runtime = text(&folder.join("runtime.o"));
    run(
        "gcc",
        &words(&["-O1", "-fno-omit-frame-pointer", "-w", "-fno-pie", "-c", &source, "-o", &runtime]),
        &mut commands,
    )?;
    let program = folder.join("program");
    let mut link = words(&["-no-pie", &object, &runtime, "-o", &text(&program), "-pthread", "-lm"]);
    let mut wraps: Vec<String> = wrapped().iter().map(|name| format!("-Wl,--wrap={name}\n")).collect();
    wraps.sort();
    let wraps = written(folder.join("wraps"), wraps.concat().as_bytes())?;
    link.push(format!("@{}", text(&wraps)));
    match run("gcc", &link, &mut commands) {
        Err(NativeError::Build { words: complaint, .. }) if complaint.contains("undefined reference") => {
            let stubs = written(folder.join("stubs.c"), stubs(&complaint).as_bytes())?;
            let compiled = text(&folder.join("stubs.o"));
            run("gcc", &words(&["-w", "-fno-pie", "-c", &text(&stubs), "-o", &compiled]), &mut commands)?;
            link.insert(1, compiled);
            run("gcc", &link, &mut commands)?;
        }
        linked => drop(linked?),
    }
    let mut unseen = Vec::new();
    let lines = run("objdump", &words(&["--dwarf=decodedline", &text(&program)]), &mut unseen)?;
    let own = run("nm", &words(&["--defined-only", &object]), &mut unseen)?;
    let symbols = run("nm", &words(&["-S", "--defined-only", &text(&program)]), &mut unseen)?;
    let (tables, names) = tables(&lines, &own, &symbols);
    Ok(Built { program, commands, tables, names })
}

/// Has declarations without a value start with what the runtime says; whether there are any.
fn give_values(text: &mut Vec<u8>, undefined: &[Undefined]) -> bool {
    let mut places: Vec<(usize, u32)> =
        undefined.iter().filter_map(|one| Some((end_of_name(text, one)?, one.span.start))).collect();
    places.sort_unstable();
    places.dedup();
    for &(place, start) in places.iter().rev() {
        let value =
            format!(" = ({{ extern long long allways_undefined(long); allways_undefined({start}); }})");
        text.splice(place..place, value.into_bytes());
    }
    !places.is_empty()
}

/// Where the name of a variable ends in its declaration, if that ends there, too.
fn end_of_name(text: &[u8], variable: &Undefined) -> Option<usize> {
    let start = variable.span.start as usize;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let declared = text.get(start..)?;
    let name = variable.name.as_bytes();
    let line = declared.iter().position(|&byte| byte == b';')? + 1;
    let found = (0..line).find(|&at| {
        declared[at..].starts_with(name)
            && !declared.get(at + name.len()).is_some_and(is_part)
            && !(at > 0 && is_part(&declared[at - 1]))
    })?;
    let end = start + found + name.len();
    let next = text[end..].iter().find(|byte| !byte.is_ascii_whitespace())?;
    (matches!(next, b',' | b';') && !is_parameter(&text[..end])).then_some(end)
}

/// Whether brackets are open at the end of a text, since the last statement.
fn is_parameter(text: &[u8]) -> bool {
    let mut closed = 0;
    for byte in text.iter().rev() {
        match byte {
            b')' => closed += 1,
            b'(' if closed == 0 => return true,
            b'(' => closed -= 1,
            b';' | b'{' | b'}' => return false,
            _ => {}
        }
    }
    false
}

/// A preprocessed text in which no line claims to be another.
fn without_markers(text: &[u8]) -> Vec<u8> {
    let kept = |line: &&[u8]| {
        let start = line.trim_ascii_start();
        !start.starts_with(b"#")
            || start.strip_prefix(b"#").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"pragma"))
    };
    let lines = text.split(|&byte| byte == b'\n').map(|line| if kept(&line) { line } else { b"" });
    lines.collect::<Vec<&[u8]>>().join(&b'\n')
}

/// Functions that a linker misses: they do nothing and return what was chosen.
fn stubs(complaint: &str) -> String {
    let mut names: Vec<&str> = complaint
        .split("undefined reference to `")
        .skip(1)
        .filter_map(|rest| rest.split('\'').next())
        .filter(|name| name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_'))
        .collect();
    names.sort_unstable();
    names.dedup();
    let mut text = "long long allways_choose(void *);\n".to_string();
    for name in names {
        let _ =
            writeln!(text, "long long {name}() {{ return allways_choose(__builtin_return_address(0)); }}");
    }
    text
}

/// What the runtime must know of addresses, and the numbers of variables.
fn tables(lines: &str, own: &str, symbols: &str) -> (String, HashMap<String, usize>) {
    let mut text = String::new();
    let mut places: Vec<(u64, u32)> = lines.lines().filter_map(place).collect();
    places.sort_by_key(|place| place.0);
    for (address, line) in places {
        let _ = writeln!(text, "L {address} {line} 0 0 0 0");
    }
    let own: HashSet<&str> = own.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let mut names = HashMap::new();
    let mut variables = Vec::new();
    for symbol in symbols.lines() {
        let parts: Vec<&str> = symbol.split_whitespace().collect();
        let [address, size, kind, name] = parts[..] else { continue };
        let (Ok(address), Ok(size)) = (u64::from_str_radix(address, 16), u64::from_str_radix(size, 16))
        else {
            continue;
        };
        if !own.contains(name) {
            continue;
        }
        if kind.eq_ignore_ascii_case("t") {
            let section = name.starts_with("__VERIFIER_atomic") && !is_bracket(name);
            let error = matches!(name, "reach_error" | "__VERIFIER_error");
            let letter = if section { 'A' } else { 'X' };
            if section || error {
                let _ = writeln!(text, "{letter} {address} 0 0 0 0 0");
            }
        }
        // A static variable of a function has a number after its name.
        let name = name.split('.').next().unwrap_or_default().to_string();
        let next = names.len();
        variables.push((address, size, *names.entry(name).or_insert(next)));
    }
    variables.sort_unstable();
    for (address, size, number) in variables {
        let _ = writeln!(text, "S {address} {size} {number} 0 0 0");
    }
    (text, names)
}

/// Whether a function is one of the two between which a section is.
fn is_bracket(name: &str) -> bool {
    matches!(name, "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end")
}

/// An address and its line; 0 in text of a header.
fn place(row: &str) -> Option<(u64, u32)> {
    let parts: Vec<&str> = row.split_whitespace().collect();
    let at = parts.iter().rposition(|part| part.starts_with("0x"))?;
    let address = u64::from_str_radix(parts[at].strip_prefix("0x")?, 16).ok()?;
    let file = parts[..at.checked_sub(1)?].join(" ");
    let line = parts[at - 1].parse().ok().filter(|_| !file.ends_with(".h"));
    Some((address, line.unwrap_or(0)))
}
