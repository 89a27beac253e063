//! Witnesses and task definitions: what other tools of SV-COMP write and read.

mod common;
#[path = "witness/correctness.rs"]
mod correctness;

use allways::witness::read::read;
use allways::witness::schema::{Genre, check};
use allways::witness::{Content, Place, Step, Witness, sha256, yaml};
use common::{allways, file, folder};
use std::fs;
use std::path::Path;
use std::process::Command;

fn preprocessor() -> bool {
    let there = Command::new("cc").arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: there is no C compiler `cc` to preprocess programs with");
    }
    there
}

/// A file of the corpus.
fn corpus(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(name).display().to_string()
}

/// The witness of a check, with its exit code.
fn witness(test: &str, name: &str, arguments: &str, code: i32) -> String {
    let path = folder(test).join(name);
    let run = allways(&format!("check {arguments} --witness {}", path.display()));
    assert_eq!(run.code, code, "{run:?}");
    fs::read_to_string(path).expect("a witness")
}

fn kind(text: &str) -> Genre {
    let node = allways_lang::yaml::parse(text.as_bytes()).expect("YAML");
    check(&node).unwrap_or_else(|misfit| panic!("{misfit:?}\n{text}"))
}

#[test]
fn violations_are_told_thread_by_thread() {
    if !preprocessor() {
        return;
    }
    let program = corpus("c/counter-racy.c");
    let text = witness("witness-violation", "w.yml", &format!("{program} --property unreach-call"), 10);
    assert_eq!(kind(&text), Genre::Violation);
    let read = read(text.as_bytes()).expect("a witness");
    assert_eq!(yaml::write(&read), text, "what is read is written in the same way");
    assert_eq!(read.about.hash, sha256::hexadecimal(&fs::read(&program).expect("the program")));
    assert_eq!(read.about.specification, "G ! call(reach_error())");
    let Content::Violation(steps, targets) = read.content else { panic!("{text}") };
    let source = fs::read_to_string(&program).expect("the program");
    let line =
        |part: &str| source.lines().position(|line| line.contains(part)).expect("it is there") as u32 + 1;
    let created: Vec<u32> = steps
        .iter()
        .filter(|step| matches!(step.step, Step::Creates(_)))
        .map(|step| step.place.line)
        .collect();
    assert_eq!(created, [line("&one"), line("&two")]);
    let threads: Vec<usize> = steps.iter().filter_map(|step| step.thread).collect();
    assert!(threads.contains(&1) && threads.contains(&2), "{text}");
    let both =
        |thread| steps.iter().any(|step| step.thread == Some(thread) && step.place.line == line("counter++"));
    assert!(both(1) && both(2), "both come to the increment: {text}");
    assert_eq!(targets.len(), 1);
    assert_eq!((targets[0].thread, targets[0].place.line), (Some(0), line("fails here")));
    assert_eq!(targets[0].place.function.as_deref(), Some("main"));
}

#[test]
fn races_have_two_targets() {
    if !preprocessor() {
        return;
    }
    let program = corpus("c/counter-racy.c");
    let text = witness("witness-race", "w.yml", &format!("{program} --property no-data-race"), 10);
    assert_eq!(kind(&text), Genre::Violation);
    assert!(text.contains("format_version: \"2.2\"") && text.contains("G ! data-race"), "{text}");
    let Content::Violation(_, targets) = read(text.as_bytes()).expect("a witness").content else { panic!() };
    let threads: Vec<Option<usize>> = targets.iter().map(|target| target.thread).collect();
    assert!(threads == [Some(1), Some(2)] || threads == [Some(2), Some(1)], "{text}");
}

#[test]
fn inputs_are_returned() {
    if !preprocessor() {
        return;
    }
    let folder = folder("witness-inputs");
    let text = "extern int __VERIFIER_nondet_int(void);\nvoid reach_error(void);\nint main(void) {\n  int x;\n  x = \
                __VERIFIER_nondet_int();\n  if (x == 7)\n    reach_error();\n  return 0;\n}\n";
    let program = file(&folder, "input.i", text);
    let text = witness("witness-inputs-1", "w.yml", &format!("{program} --property unreach-call"), 10);
    assert_eq!(kind(&text), Genre::Violation);
    assert!(
        text.contains("value: \"\\\\result == 7\"") && text.contains("format_version: \"2.0\""),
        "{text}"
    );
    assert!(!text.contains("thread_id"), "one thread needs no number: {text}");
    let text = witness("witness-inputs-2", "w.graphml", &format!("{program} --property unreach-call"), 10);
    assert!(text.contains("<data key=\"assumption\">x == 7;</data>"), "{text}");
}

#[test]
fn graphml_is_one_path() {
    if !preprocessor() {
        return;
    }
    let program = corpus("c/counter-racy.c");
    let text = witness("witness-graphml", "w.graphml", &format!("{program} --property unreach-call"), 10);
    let (nodes, edges) = (text.matches("<node ").count(), text.matches("<edge ").count());
    assert_eq!(nodes, edges + 1);
    assert_eq!(text.matches("key=\"entry\"").count() + text.matches("key=\"violation\"").count(), 2);
    assert!(text.contains("<data key=\"createThread\">2</data>"), "{text}");
    for key in text.split("<data key=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(text.contains(&format!("<key id=\"{key}\"")), "`{key}` is used and not declared");
    }
}

#[test]
fn proofs_have_witnesses_of_their_own() {
    if !preprocessor() {
        return;
    }
    let program = corpus("c/counter-locked.c");
    let text = witness("witness-proof", "w.yml", &format!("{program} --property unreach-call"), 0);
    assert_eq!(kind(&text), Genre::Correctness);
    assert_eq!(yaml::write(&read(text.as_bytes()).expect("a witness")), text);
    let run =
        allways(&format!("check {program} --witness {}/w.graphml", folder("witness-proof-2").display()));
    assert_eq!(run.code, 0);
    assert!(run.err.contains("no witness is written"), "{run:?}");
}

/// The program with the ghost variables of a witness, and with an assertion for each of its invariants before the statement that it is of.
/// A ghost gets 1 right after the mutex was taken, and 0 right before it is given back: in between, the thread has done nothing else.
fn instrumented(source: &str, witness: &Witness) -> String {
    let Content::Correctness(invariants, ghosts, _) = &witness.content else { panic!("no proof") };
    let lines: Vec<usize> =
        std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let offset =
        |place: &Place| lines[place.line as usize - 1] + place.column.expect("a column") as usize - 1;
    let mut inserted: Vec<(usize, String)> = Vec::new();
    for update in &ghosts.updates {
        let start = offset(&update.place);
        for (name, value) in &update.values {
            let taken = source[start..].starts_with("pthread_mutex_lock");
            assert!(taken || source[start..].starts_with("pthread_mutex_unlock"), "{update:?}");
            assert_eq!(value, if taken { "1" } else { "0" });
            let end = start + source[start..].find(';').expect("its end") + 1;
            inserted.push((if taken { end } else { start }, format!("{name} = {value};")));
        }
    }
    for invariant in invariants {
        let check =
            format!("__VERIFIER_atomic_begin(); assert({}); __VERIFIER_atomic_end(); ", invariant.holds);
        inserted.push((offset(&invariant.place), check));
    }
    inserted.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut text = source.to_string();
    inserted.iter().for_each(|(at, insert)| text.insert_str(*at, insert));
    let declared =
        ghosts.variables.iter().map(|ghost| format!("{} {} = {};", ghost.ty, ghost.name, ghost.initial));
    format!(
        "#include <assert.h>\nvoid __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); {}\n{text}",
        declared.collect::<String>()
    )
}

/// Two threads and `main`, with sections of two mutexes: numbers under one of them, in any order.
fn with_sections(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut roll = |sides: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % sides
    };
    let mut section = || {
        let (mutex, names) = if roll(2) == 0 { ("m", ["x", "y"]) } else { ("n", ["z", "w"]) };
        let (one, other) = if roll(2) == 0 { (names[0], names[1]) } else { (names[1], names[0]) };
        let body = match roll(5) {
            4 => format!("  {one} = {one} + 2;\n  {other} = {other} - 2;\n"),
            0 => format!("  {one} = {one} + 1;\n  {other} = {other} + 1;\n"),
            1 => format!("  {one} = 3;\n  {other} = {one};\n  {one} = 0;\n  {other} = 0;\n"),
            2 => format!("  if ({one} == {other}) {{\n  {one} = 1;\n  {other} = 1;\n  }}\n"),
            _ => format!("  {one} = 5;\n  {one} = {other};\n"),
        };
        let after = if roll(2) == 0 { "  own = own + 1;\n" } else { "" };
        format!("  pthread_mutex_lock(&{mutex});\n{body}  pthread_mutex_unlock(&{mutex});\n{after}")
    };
    let bodies = [section() + &section(), section(), section()];
    format!(
        "#include <pthread.h>\nint x, y, z, w;\npthread_mutex_t m, n;\nvoid *f(void *arg) {{\n  int own = 0;\n{}  return 0;\n}}\n\
         void *g(void *arg) {{\n  int own = 0;\n{}  return 0;\n}}\nint main(void) {{\n  int own = 0;\n  pthread_t a, b;\n  \
         pthread_create(&a, 0, f, 0);\n  pthread_create(&b, 0, g, 0);\n{}  own = 1;\n  return 0;\n}}\n",
        bodies[0], bodies[1], bodies[2]
    )
}

/// Invariants with ghost variables hold: they are asserted in the program, which is checked anew.
#[test]
fn ghosts_tell_whether_mutexes_are_taken() {
    if !preprocessor() {
        return;
    }
    let folder = folder("witness-ghosts");
    let (mut with_ghosts, mut changed) = (0, 0);
    for seed in 0..8 {
        let source = with_sections(seed);
        let program = file(&folder, "sections.c", &source);
        let text = witness("witness-ghosts-1", "w.yml", &format!("{program} --property unreach-call"), 0);
        assert_eq!(kind(&text), Genre::Correctness);
        let mut told = read(text.as_bytes()).expect("a witness");
        assert_eq!(yaml::write(&told), text, "what is read is written in the same way");
        let Content::Correctness(_, ghosts, _) = &told.content else { panic!("{text}") };
        if ghosts.variables.is_empty() {
            assert!(text.contains("format_version: \"2.0\""), "{text}");
            continue;
        }
        with_ghosts += 1;
        assert!(text.contains("format_version: \"2.1\"") && text.contains("ghost_instrumentation"), "{text}");
        let path = file(&folder, "instrumented.c", instrumented(&source, &told));
        let run = allways(&format!("check {path} --property unreach-call --quiet"));
        assert_eq!(run.code, 0, "{run:?}\n{}", instrumented(&source, &told));
        // What is not true of the ghosts is found out in this way.
        let Content::Correctness(invariants, ..) = &mut told.content else { panic!("{text}") };
        let before = invariants.clone();
        invariants.iter_mut().for_each(|one| one.holds = one.holds.replace("_locked == 1", "_locked == 0"));
        if *invariants != before {
            changed += 1;
            let path = file(&folder, "changed.c", instrumented(&source, &told));
            let run = allways(&format!("check {path} --property unreach-call --quiet"));
            assert_eq!(run.code, 10, "{run:?}\n{}", instrumented(&source, &told));
        }
    }
    assert!(with_ghosts > 4 && changed > 4, "{with_ghosts} have ghosts, {changed} of them changed");
}

/// A mutex that is used in other ways than by statements that take it and give it back has no ghost.
#[test]
fn ghosts_are_of_mutexes_that_are_followed() {
    if !preprocessor() {
        return;
    }
    let folder = folder("witness-no-ghosts");
    let plain = with_sections(0);
    let uses = [
        "  pthread_mutex_trylock(&m);\n",
        "  pthread_mutex_t *p = &m;\n  pthread_mutex_lock(p);\n",
        "  if (own)\n    pthread_mutex_lock(&m), own = 2;\n",
    ];
    for other in uses {
        let source = plain.replace("  own = 1;\n", other);
        assert_ne!(source, plain);
        let program = file(&folder, "other.c", &source);
        let text = witness("witness-no-ghosts-1", "w.yml", &format!("{program} --property unreach-call"), 0);
        assert!(!text.contains("m_locked"), "{text}");
    }
    let source = plain.replace("int x, y", "int m_locked, x, y");
    let program = file(&folder, "name.c", &source);
    let text = witness("witness-no-ghosts-2", "w.yml", &format!("{program} --property unreach-call"), 0);
    assert!(!text.contains("name: \"m_locked\"") && !text.contains("(m_locked == 1 "), "{text}");
}

#[test]
fn what_has_no_witness_is_said() {
    if !preprocessor() {
        return;
    }
    let path = folder("witness-none").join("w.yml");
    let run = allways(&format!("check ../aw/peterson.aw --witness {}", path.display()));
    assert_eq!(run.code, 2, "{run:?}");
    let program = corpus("c/bank-deadlock-wrong.c");
    let run = allways(&format!("check {program} --deadlock --witness {}", path.display()));
    assert_eq!(run.code, 10);
    assert!(run.err.contains("no witness is written"), "{run:?}");
    assert!(!path.exists());
}

#[test]
fn what_is_no_witness_is_refused() {
    let text = "- entry_type: \"violation_sequence\"\n  metadata:\n    format_version: \"2.0\"\n    uuid: \"01234567-89ab-8def-8123-456789abcdef\"\n    \
                creation_time: \"2026-01-02T03:04:05Z\"\n    producer:\n      name: \"a tool\"\n      version: \"1\"\n    task:\n      input_files: \
                [\"a.c\"]\n      input_file_hashes:\n        a.c: \"0000000000000000000000000000000000000000000000000000000000000000\"\n      \
                specification: \"G ! call(reach_error())\"\n      data_model: \"LP64\"\n      language: \"C\"\n  content:\n  - segment:\n    - \
                waypoint:\n        type: \"target\"\n        action: \"follow\"\n        location:\n          file_name: \"a.c\"\n          line: \
                4\n";
    assert_eq!(kind(text), Genre::Violation);
    let changes = [
        ("\"2.0\"", "\"3.0\""),
        ("01234567-", ""),
        ("2026-01-02", "yesterday"),
        ("LP64", "LP65"),
        ("line: 4", "line: 0"),
        ("line: 4", "column: 4"),
        ("\"follow\"", "\"avoid\""),
        ("\"target\"", "\"function_enter\""),
        ("\"target\"", "\"goal\""),
        ("        action", "        thread_id: 1\n        action"),
        (
            "        action",
            "        constraint:\n          value: \"1\"\n          format: c_expression\n        action",
        ),
        ("a.c: \"0", "b.c: \"0"),
        ("      name: \"a tool\"\n", ""),
        ("  content:", "  more: 1\n  content:"),
    ];
    for (from, to) in changes {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        let node = allways_lang::yaml::parse(changed.as_bytes()).expect("YAML");
        assert!(check(&node).is_err(), "{from:?} is {to:?}");
    }
    let later = text.replace("2.0", "2.2").replace("        action", "        thread_id: 1\n        action");
    assert_eq!(kind(&later), Genre::Violation);
}

#[test]
fn task_definitions_say_what_is_asked() {
    if !preprocessor() {
        return;
    }
    let run = allways(&format!("check {} --quiet", corpus("tasks/counter-racy.yml")));
    assert_eq!(run.code, 10, "{run:?}");
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[0].starts_with("unsafe: ") && lines[2].starts_with("unsafe: "), "{run:?}");
    assert_eq!([lines[1], lines[3]], ["  of unreach-call, as expected", "  of no-data-race, as expected"]);
    let run = allways(&format!("check {}", corpus("tasks/counter-racy.yml")));
    assert!(run.err.contains("termination is not checked"), "{run:?}");
    let run =
        allways(&format!("check {} --property no-data-race --json", corpus("tasks/counter-locked.yml")));
    let json = run.json();
    assert_eq!((&json["verdict"], &json["expected"]), (&"safe".into(), &"safe".into()), "{run:?}");
    let run = allways(&format!("check {} --json", corpus("tasks/freed-node-wrong.yml")));
    assert_eq!((run.code, &run.json()["property"]), (10, &"valid-memsafety".into()), "{run:?}");
    let run = allways(&format!("check {} --evidence /dev/null", corpus("tasks/counter-racy.yml")));
    assert_eq!(run.code, 2, "one file for two answers: {run:?}");
}

#[test]
fn definitions_choose_the_sizes_of_types() {
    if !preprocessor() {
        return;
    }
    let folder = folder("definition-sizes");
    file(
        &folder,
        "sizes.c",
        "void reach_error(void); int main(void) { if (sizeof(long) == 4) reach_error(); }\n",
    );
    let text = "format_version: '2.0'\ninput_files: sizes.c\nproperties:\n  - property_file: unreach-call.prp\n    \
                expected_verdict: true\noptions: {language: C, data_model: ILP32}\n";
    let path = file(&folder, "sizes.yml", text);
    let run = allways(&format!("check {path} --quiet"));
    assert_eq!(run.code, 10, "{run:?}");
    assert!(run.out.contains("otherwise than expected: safe"), "{run:?}");
    assert_eq!(allways(&format!("check {path} --quiet --data-model lp64")).code, 0);
    for (from, to) in
        [("sizes.c", "[a.c, b.c]"), ("true", "perhaps"), ("ILP32", "LP32"), ("language: C", "language: Java")]
    {
        let path = file(&folder, "wrong.yml", text.replace(from, to));
        assert_eq!(allways(&format!("check {path}")).code, 2, "{to}");
    }
    let path = file(&folder, "termination.yml", text.replace("unreach-call", "termination"));
    assert_eq!(allways(&format!("check {path}")).code, 2);
}

/// Memory that is lost is asked for by the property file of SV-COMP, and is looked for when `main` returns only.
#[test]
fn leaks_are_not_said_to_be_none() {
    if !preprocessor() {
        return;
    }
    let folder = folder("definition-leaks");
    let property = corpus("tasks/valid-memsafety.prp");
    let leak = "#include <stdlib.h>\nint main(void) { int *p = malloc(sizeof(int)); *p = 1; return 0; }\n";
    let path = file(&folder, "leak.c", leak);
    let run = allways(&format!("check {path} --property {property}"));
    assert_eq!(run.code, 10, "{run:?}");
    assert!(run.out.contains("memory is not freed"), "{run:?}");
    assert_eq!(allways(&format!("check {path} --property valid-memsafety")).code, 0);
    let run = allways(&format!("check {path} --property valid-memcleanup"));
    assert!(run.code == 10 && run.out.contains("memory is not freed"), "{run:?}");
    let kept = leak.replace("int main", "int *p; int main").replace("{ int *p", "{ p");
    let path = file(&folder, "kept.c", &kept);
    let run = allways(&format!("check {path} --property {property}"));
    assert!(run.code == 5 && run.out.contains("valid-memtrack"), "{run:?}");
    let path = file(&folder, "none.c", "int x; int main(void) { int *p = &x; *p = 1; return 0; }\n");
    assert_eq!(allways(&format!("check {path} --property {property}")).code, 0);
}

/// Our own witnesses, and such as another tool might write, are confirmed where the program goes wrong, and only there.
#[test]
fn witnesses_of_others_are_confirmed_or_not() {
    if !preprocessor() {
        return;
    }
    let program = corpus("c/counter-racy.c");
    for property in ["unreach-call", "no-data-race"] {
        let text =
            witness(&format!("confirm-{property}"), "w.yml", &format!("{program} --property {property}"), 10);
        let path = file(&folder("confirm"), "w.yml", &text);
        let run = allways(&format!("certify {program} {path}"));
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.out.starts_with("accepted: "), "{run:?}");
        let other = file(&folder("confirm-other"), "w.yml", text.replace("\": \"", "\": \"0"));
        assert_eq!(allways(&format!("certify {program} {other}")).code, 2, "the hash is none");
    }
    let text = witness("confirm-line", "w.yml", &format!("{program} --property unreach-call"), 10);
    let source = fs::read_to_string(&program).expect("the program");
    let fails = source.lines().position(|line| line.contains("fails here")).expect("it is there") + 1;
    let (steps, target) = text.split_once("\"target\"").expect("a target");
    let target = target.replace(&format!("line: {fails}"), &format!("line: {}", fails - 1));
    let path = file(&folder("confirm-elsewhere"), "w.yml", format!("{steps}\"target\"{target}"));
    let run = allways(&format!("certify {program} {path} --json"));
    assert_eq!((run.code, &run.json()["verdict"]), (20, &"rejected".into()), "{run:?}");
    let hash = sha256::hexadecimal(source.as_bytes());
    let path = file(&folder("confirm-hash"), "w.yml", text.replace(&hash, &"0".repeat(64)));
    assert_eq!(allways(&format!("certify {program} {path}")).code, 20);
}

/// The inputs of a witness are tried first, and are not needed.
#[test]
fn inputs_of_witnesses_are_hints() {
    if !preprocessor() {
        return;
    }
    let folder = folder("confirm-inputs");
    let source = "extern int __VERIFIER_nondet_int(void);\nvoid reach_error(void);\nint main(void) {\n  int x;\n  int y;\n  x = \
                  __VERIFIER_nondet_int();\n  y = __VERIFIER_nondet_int();\n  if (x == 7 && y - x == 100000)\n    reach_error();\n  \
                  return 0;\n}\n";
    let program = file(&folder, "input.i", source);
    let text = witness("confirm-inputs-1", "w.yml", &format!("{program} --property unreach-call"), 10);
    assert!(text.contains("== 7\"") && text.contains("== 100007\""), "{text}");
    for (from, to) in
        [("", ""), ("== 7\"", "== 8\""), ("== 100007", "== 99999999999"), ("line: 6", "line: 600")]
    {
        let path = file(&folder, "w.yml", text.replace(from, to));
        let run = allways(&format!("certify {program} {path} --timeout 60s"));
        assert_eq!(run.code, 0, "{to}: {run:?}");
    }
}
