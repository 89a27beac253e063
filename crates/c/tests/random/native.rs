//! What programs do natively: many of them in one run of the compiler.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether there is a compiler; says so if not.
pub fn compiler() -> bool {
    let found = Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("SKIPPED: there is no `cc`, so nothing is compared");
    }
    found
}

/// Whether there is a second compiler.
pub fn clang() -> bool {
    Command::new("clang").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A folder of its own, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("allways-c-random-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The lines that a program prints, compiled so and run with these arguments.
pub fn output(text: &str, compiler: &str, flags: &[&str], arguments: &[String]) -> Vec<String> {
    let folder = Folder::new();
    let (source, binary) = (folder.0.join("program.c"), folder.0.join("program"));
    std::fs::write(&source, text).expect("the program is written");
    let compiled = Command::new(compiler)
        .args(["-std=gnu11", "-O0", "-fwrapv", "-w", "-o"])
        .arg(&binary)
        .arg(&source)
        .args(flags)
        .output()
        .expect("the compiler ran before");
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{errors}\n{text}");
    let run = Command::new(&binary).args(arguments).output().expect("the program runs");
    let words = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{:?}\n{words}\n{text}", run.status);
    words.lines().map(str::to_string).collect()
}

/// What programs of one thread leave in `result`. In each, `@` stands for what makes its names its own.
pub fn results(programs: &[String], compiler: &str) -> Vec<i64> {
    let mut text = String::new();
    let mut calls = String::new();
    for (number, program) in programs.iter().enumerate() {
        let own = format!("_{number}");
        text.push_str(&program.replace('@', &own));
        calls.push_str(&format!("  main{own}(); __builtin_printf(\"%u\\n\", result{own});\n"));
    }
    text.push_str(&format!("int main(void) {{\n{calls}  return 0;\n}}\n"));
    let lines = output(&text, compiler, &[], &[]);
    lines.iter().map(|line| line.parse().expect("a number")).collect()
}

/// What a single program leaves in `result`.
pub fn result(program: &str) -> i64 {
    let print = "__attribute__((destructor)) static void print_result(void) { __builtin_printf(\"%u\\n\", result); }\n";
    let text = program.replace("int main(void) {", "int program(void) {");
    let call = "int main(void) { program(); return 0; }\n";
    let lines = output(&format!("{text}{print}{call}"), "cc", &["-pthread"], &[]);
    lines[0].parse().expect("a number")
}
