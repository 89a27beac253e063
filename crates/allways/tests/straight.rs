//! `scripts/straight`: programs that are written anew mean the same.

mod common;

use common::{allways, file, folder};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file of the project.
fn ours(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Whether Python is there with what the script needs, and a C compiler.
fn tools() -> bool {
    let there = |command: &str, arguments: &[&str]| {
        Command::new(command).args(arguments).output().is_ok_and(|run| run.status.success())
    };
    let all = there("python3", &["-c", "import pycparser"]) && there("cc", &["--version"]);
    if !all {
        eprintln!("skipped: there is no python3 with pycparser, or no C compiler `cc`");
    }
    all
}

/// A program written anew.
fn written(program: &Path, out: &Path, options: &[&str]) -> String {
    let mut command = Command::new("python3");
    command.arg(ours("../../scripts/straight")).arg(program).arg(out).args(options);
    let run = command.output().expect("python3");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    std::fs::read_to_string(out).expect("a program")
}

/// What a program returns when it runs.
fn returned(program: &Path, binary: &Path) -> Option<i32> {
    let compiled = Command::new("cc").arg("-w").arg(program).arg("-o").arg(binary).status();
    assert!(compiled.expect("cc").success(), "{} is not compiled", program.display());
    Command::new(binary).status().expect("a program that runs").code()
}

#[test]
fn programs_written_anew_return_the_same() {
    if !tools() {
        return;
    }
    let folder = folder("straight-control");
    let program = ours("tests/straight/control.c");
    let expected = returned(&program, &folder.join("control"));
    assert!(expected.is_some());
    for rounds in ["0", "1", "2", "5"] {
        let out = folder.join(format!("{rounds}.c"));
        let text = written(&program, &out, &["--rounds", rounds, "--most", "20000"]);
        assert!(!text.contains("while"), "loops are jumps: {text}");
        assert_eq!(returned(&out, &folder.join(rounds)), expected, "{rounds} rounds");
    }
}

#[test]
fn threads_written_anew_do_the_same() {
    if !tools() {
        return;
    }
    let folder = folder("straight-lost");
    let text = std::fs::read_to_string(ours("tests/straight/lost.c")).expect("a program");
    let calls = ("__VERIFIER_atomic_begin()", "__VERIFIER_atomic_end()");
    for (kind, (enter, leave), code) in [("free", ("(void)0", "(void)0"), 10), ("atomic", calls, 0)] {
        let program =
            file(&folder, &format!("given-{kind}.c"), text.replace("ENTER", enter).replace("LEAVE", leave));
        let out = folder.join(format!("anew-{kind}.c"));
        let text = written(Path::new(&program), &out, &["--rounds", "1"]);
        // Both threads, and both calls in each, have copies of their own; each update is a read and a write.
        assert_eq!(text.matches("= counter;").count(), 4, "{text}");
        for path in [program, out.display().to_string()] {
            let run = allways(&format!("check {path} --property unreach-call"));
            assert_eq!(run.code, code, "{run:?}");
        }
    }
}

#[test]
fn waits_inputs_and_values_are_written_out() {
    if !tools() {
        return;
    }
    let folder = folder("straight-values");
    let text = "extern int pthread_cond_wait(void *, void *); extern int pthread_mutex_lock(void *);\n\
        extern int pthread_mutex_unlock(void *); extern int given(int); long lock[9], waits[9];\n\
        extern int __VERIFIER_nondet_int(void);\n\
        int main(void) { int unknown; pthread_cond_wait(waits, lock); return given(unknown) + __VERIFIER_nondet_int(); }\n";
    let program = file(&folder, "given.c", text);
    let out = folder.join("anew.c");
    let text = written(Path::new(&program), &out, &["--define", "given", "--values"]);
    assert!(text.contains("unknown = __VERIFIER_nondet_int();"), "{text}");
    assert!(!text.contains("pthread_cond_wait(waits"), "{text}");
    assert_eq!(text.matches("= __VERIFIER_nondet_int();").count(), 3, "{text}");
}
