//! Random programs that are called free of races, run by gcc's thread sanitizer, which must not report one.

use super::reference::Found;
use super::{PRELUDE, dice, programs, random, watched};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const HEADERS: &str = "#include <pthread.h>\n#include <stdlib.h>\n";

/// How long a run may take: one that waits for ever is ended.
const SECONDS: &str = "5";

/// How many runs of a program there are at a time.
const AT_ONCE: usize = 16;

/// Runs a program once, at addresses that the sanitizer can deal with.
fn run(program: &Path) -> Output {
    let mut command = Command::new("timeout");
    command.args([SECONDS, "setarch", "-R"]).arg(program).stdin(Stdio::null());
    command
        .env("TSAN_OPTIONS", "halt_on_error=1 exitcode=66 report_thread_leaks=0")
        .output()
        .expect("it starts")
}

fn build(folder: &Path, name: &str, text: &str) -> Option<PathBuf> {
    let (source, program) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&source, text).expect("it is written");
    let mut compiler = Command::new("gcc");
    compiler.args(["-fsanitize=thread", "-g", "-O1", "-w", "-pthread", "-o"]).arg(&program).arg(&source);
    compiler.output().ok().filter(|output| output.status.success()).map(|_| program)
}

/// Of how many programs (`ALLWAYS_RANDOM`) how many runs each (`ALLWAYS_RUNS`).
#[test]
fn the_thread_sanitizer_finds_no_race_where_there_is_none() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sanitizer");
    fs::create_dir_all(&folder).expect("a folder");
    let racy = "int x; void *f(void *a) { x++; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 2; pthread_join(t, 0); }";
    let works = build(&folder, "racy", &format!("{HEADERS}{racy}\n"))
        .is_some_and(|racy| (0..20).any(|_| run(&racy).status.code() == Some(66)));
    if !works {
        eprintln!("skipped: gcc's thread sanitizer does not work here");
        return;
    }
    let runs: usize = env::var("ALLWAYS_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(3);
    let (mut compared, mut others) = (0, 0);
    for seed in dice::seeds(40) {
        let text = random::program(seed);
        // Atomic sections are no construct of C: a mutex in their place would order less.
        if text.contains("__VERIFIER_atomic") {
            others += 1;
            continue;
        }
        let Ok((_, watching)) = programs(&format!("{PRELUDE}{text}")) else { continue };
        if watched(&watching, 60_000) != Some(Found::None) {
            others += 1;
            continue;
        }
        let program = build(&folder, &format!("p{seed}"), &format!("{HEADERS}{text}")).expect("it compiles");
        std::thread::scope(|scope| {
            for worker in 0..AT_ONCE.min(runs) {
                let (program, text) = (&program, &text);
                scope.spawn(move || {
                    for _ in (worker..runs).step_by(AT_ONCE) {
                        let output = run(program);
                        let words = String::from_utf8_lossy(&output.stderr);
                        assert!(
                            !words.contains("ThreadSanitizer: data race"),
                            "seed {seed}: {words}\n{text}"
                        );
                    }
                });
            }
        });
        compared += 1;
        fs::remove_file(program).expect("it was there");
    }
    println!(
        "{compared} programs without races run {runs} times each; {others} race, are too large, or have atomic sections"
    );
    assert!(compared > 0);
}
