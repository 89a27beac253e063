//! C programs, as users check them: every file of `corpus/c` has the verdict that it states, and fails where it says so.

mod common;

use common::{allways, file, folder};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether there is a preprocessor; if not, that the test is left out is said.
fn preprocessor() -> bool {
    let there = Command::new("cc").arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: there is no C compiler `cc` to preprocess programs with");
    }
    there
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c");
    let entries = fs::read_dir(folder).expect("the corpus").map(|entry| entry.expect("an entry").path());
    let mut programs: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "c")).collect();
    programs.sort();
    programs
}

#[test]
fn the_corpus_has_the_verdicts_that_it_states() {
    if !preprocessor() {
        return;
    }
    for path in programs() {
        let text = fs::read_to_string(&path).expect("a program");
        let expected = text.lines().find_map(|line| line.strip_prefix("//! verdict: ")).expect("a verdict");
        let options = text.lines().find_map(|line| line.strip_prefix("//! options: ")).unwrap_or_default();
        let run = allways(&format!("check {} --timeout 120s --json {options}", path.display()));
        let json = run.json();
        assert_eq!(json["verdict"], expected, "{}: {run:?}", path.display());
        assert_eq!(json["certified"], true, "{}", path.display());
        if let Some(line) = text.lines().position(|line| line.contains("/* fails here */")) {
            let end = json["end"].to_string();
            assert!(end.contains(&format!("line {}:", line + 1)), "{}: {end}", path.display());
        }
    }
}

#[test]
fn evidence_about_a_c_program_is_accepted_again() {
    if !preprocessor() {
        return;
    }
    let folder = folder("c-evidence");
    let chosen = |path: &PathBuf| {
        ["peterson", "shadow", "many-inserters."].iter().any(|name| path.to_string_lossy().contains(name))
    };
    for path in programs().into_iter().filter(chosen) {
        let evidence = folder.join("evidence");
        allways(&format!("check {} --evidence {}", path.display(), evidence.display()));
        let run = allways(&format!("certify {} {}", path.display(), evidence.display()));
        assert_eq!(run.code, 0, "{run:?}");
        let wrong = path.to_string_lossy().contains("wrong");
        let claim = if wrong { "goes wrong (" } else { "never goes wrong (" };
        assert!(run.out.contains(claim), "{run:?}");
    }
}

/// What locks prove is a certificate about the abstract program, and says nothing about a program with a race.
#[test]
fn proofs_by_locks_are_accepted_again_and_of_no_other_program() {
    if !preprocessor() {
        return;
    }
    let evidence = folder("c-locks").join("evidence");
    let path = |name: &str| programs().into_iter().find(|path| path.ends_with(name)).expect("it is there");
    let (right, wrong) = (path("settings-escape.c"), path("settings-escape-wrong.c"));
    let options = format!("--property no-data-race --evidence {}", evidence.display());
    let run = allways(&format!("check {} {options} --json", right.display()));
    assert_eq!((run.code, &run.json()["certified_against"]), (0, &"abstract program".into()), "{run:?}");
    let again = |program: &Path| {
        allways(&format!("certify {} {} --property no-data-race", program.display(), evidence.display()))
    };
    assert_eq!(again(&right).code, 0, "{:?}", again(&right));
    assert_ne!(again(&wrong).code, 0, "{:?}", again(&wrong));
}

/// Bugs behind inputs of 32 bits: what is found has the inputs in its evidence, which is accepted, and without which it is not.
#[test]
fn evidence_with_inputs_is_accepted_with_these_alone() {
    if !preprocessor() || Command::new("z3").arg("--version").output().is_err() {
        return;
    }
    let folder = folder("c-inputs");
    let path = programs().into_iter().find(|path| path.ends_with("input-magic-product-wrong.c"));
    let path = path.expect("it is there").display().to_string();
    let evidence = folder.join("evidence");
    let run = allways(&format!("check {path} --engine symbolic --evidence {}", evidence.display()));
    assert_eq!(run.code, 10, "{run:?}");
    assert_eq!(allways(&format!("certify {path} {}", evidence.display())).code, 0);
    let text = fs::read_to_string(&evidence).expect("the evidence");
    let given = text.lines().find(|line| line.starts_with("choice ")).expect("an input").to_string();
    for changed in [text.replace(&given, "choice 0 7"), text.replace(&format!("{given}\n"), "")] {
        fs::write(&evidence, changed).expect("it is written");
        assert_eq!(allways(&format!("certify {path} {}", evidence.display())).code, 20);
    }
    fs::write(&evidence, text.replace(&given, "choice 0 -")).expect("it is written");
    assert_ne!(allways(&format!("certify {path} {}", evidence.display())).code, 0);
}

/// A program that is preprocessed already, so that no compiler is needed.
fn check(name: &str, text: &str, options: &str) -> common::Run {
    let folder = folder(&format!("c-{name}"));
    file(&folder, &format!("{name}.i"), text);
    allways(&format!("check {} {options}", folder.join(format!("{name}.i")).display()))
}

const THREADS: &str = "typedef unsigned long pthread_t;\n\
    extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\n\
    extern int pthread_join(pthread_t, void **);\n\
    extern void reach_error(void);\n\
    extern void __VERIFIER_assume(int);\n\
    extern unsigned __VERIFIER_nondet_uint(void);\n";

#[test]
fn what_is_not_followed_is_never_called_safe() {
    // The error needs a value that is not among those tried.
    let text = format!(
        "{THREADS}unsigned n; int main() {{ n = __VERIFIER_nondet_uint(); n = n * 3; if (n == 3000000) reach_error(); return 0; }}"
    );
    assert_eq!(check("wide", &text, "--solver /there/is/none").code, 5);
    // A function without a body that returns a pointer.
    let text = format!(
        "{THREADS}extern int *unknown(void); int main() {{ int *p = unknown(); if (*p == 5) reach_error(); return 0; }}"
    );
    let run = check("unknown", &text, "");
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.err.contains("not followed beyond line"), "{run:?}");
}

/// Where memory is not asked about, what lies outside of an array or behind a division by zero is not followed, and nothing is
/// proved if a run comes there.
#[test]
fn what_is_outside_of_memory_is_proved_not_to_be_reached() {
    let text = |index: &str| {
        format!(
            "{THREADS}int a[4], k = 2; void *f(void *p) {{ int i = k; a[i] = 1; k = {index}; return 0; }}\n\
             int main() {{ pthread_t t; while (1) pthread_create(&t, 0, f, 0); if (k == 9) reach_error(); return 0; }}"
        )
    };
    assert_eq!(check("inside", &text("3 - i"), "--property unreach-call").code, 0);
    assert_eq!(check("outside", &text("i + 1"), "--property unreach-call --timeout 10s").code, 5);
    assert_eq!(check("outside", &text("i + 1"), "").code, 10);
    let text = |by: &str| {
        format!("{THREADS}int k = 2; int main() {{ k = 6 / {by}; if (k == 9) reach_error(); return 0; }}")
    };
    assert_eq!(check("divides", &text("k"), "--property unreach-call").code, 0);
    assert_eq!(check("divides", &text("(k - 2)"), "--property unreach-call").code, 5);
}

#[test]
fn a_thread_that_waits_for_ever_has_done_what_came_before() {
    // The join never ends, since the thread never does; but the thread sees what came before the join.
    let text = format!(
        "{THREADS}int x; void *f(void *a) {{ if (x) reach_error(); for (;;) ; return 0; }}\
         int main() {{ pthread_t t; x = 1; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }}"
    );
    assert_eq!(check("join", &text, "").code, 10);
    // Likewise before an assumption that does not hold.
    let text = format!(
        "{THREADS}int x; void *f(void *a) {{ if (x) reach_error(); return 0; }}\
         int main() {{ int y = 0; pthread_t t; pthread_create(&t, 0, f, 0); x = 1; __VERIFIER_assume(y); return 0; }}"
    );
    assert_eq!(check("assume", &text, "").code, 10);
}

#[test]
fn unsigned_numbers_go_round_and_sizes_follow_the_data_model() {
    let text =
        format!("{THREADS}unsigned char c = 255; int main() {{ c++; if (c == 0) reach_error(); return 0; }}");
    assert_eq!(check("round", &text, "").code, 10);
    let text = format!("{THREADS}int main() {{ if (sizeof(long) == 8) reach_error(); return 0; }}");
    assert_eq!(check("sizes", &text, "").code, 10);
    assert_eq!(check("sizes", &text, "--data-model ilp32").code, 0);
}

#[test]
fn functions_without_a_body_are_named_and_refused_on_request() {
    let text = format!("{THREADS}extern int elsewhere(int); int main() {{ elsewhere(1); return 0; }}");
    let run = check("elsewhere", &text, "");
    assert_eq!(run.code, 0);
    assert!(run.err.contains("`elsewhere`"), "{run:?}");
    assert_eq!(check("elsewhere", &text, "--strict").code, 2);
}

#[test]
fn mistakes_have_a_place() {
    let run = check("mistake", "int main() { return undeclared; }", "");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("undeclared") && run.err.contains(":1:21"), "{run:?}");
    let run = check("comment", "int main() { int x = 0; //@ assert x == \\old(x);\n return 0; }", "");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("in a comment") && run.err.contains(":1:25"), "{run:?}");
}

#[test]
fn assertions_in_comments_are_checked() {
    assert_eq!(check("acsl", "int main() { int x = 0; //@ assert x == 1;\n return 0; }", "").code, 10);
    assert_eq!(check("acsl", "int main() { int x = 0; //@ assert x == 0;\n return 0; }", "").code, 0);
    if preprocessor() {
        let folder = folder("c-acsl");
        file(&folder, "acsl.c", "int main(void) {\n  int x = 0;\n  //@ assert x == 1;\n  return 0;\n}\n");
        let run = allways(&format!("check {}", folder.join("acsl.c").display()));
        assert_eq!(run.code, 10, "{run:?}");
        assert!(run.out.contains("line 3"), "{run:?}");
    }
}

#[test]
fn weak_memory_orders_are_safe_on_request_only() {
    // Under C11, both may read 0; in an interleaving, one reads 1.
    let text = |order: u32| {
        format!(
            "{THREADS}int x, y, a, b;\n\
             void *f(void *p) {{ __atomic_store_n(&x, 1, {order}); a = __atomic_load_n(&y, {order}); return 0; }}\n\
             int main() {{ pthread_t t; pthread_create(&t, 0, f, 0); __atomic_store_n(&y, 1, {order}); \
             b = __atomic_load_n(&x, {order}); pthread_join(t, 0); if (!a && !b) reach_error(); return 0; }}"
        )
    };
    assert_eq!(check("strong", &text(5), "").code, 0);
    let run = check("weak", &text(0), "");
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.out.contains("line 9 uses memory_order_relaxed"), "{run:?}");
    assert_eq!(check("weak", &text(0), "--memory-model sc").code, 0);
    let wrong = text(0).replace("!a && !b", "!a");
    assert_eq!(check("weak-wrong", &wrong, "").code, 10);
    // Before there are other threads, and after they have ended, all orders are the same.
    let alone = text(5)
        .replace("pthread_t t;", "pthread_t t; __atomic_store_n(&x, 0, 0);")
        .replace("if (", "if (!__atomic_load_n(&x, 0) || ");
    assert_eq!(check("weak-alone", &alone, "").code, 0);
    assert_eq!(check("weak-alone", &alone, "--property no-data-race").code, 0);
}

#[test]
fn a_counterexample_does_not_go_through_a_join_that_does_not_wait() {
    let text = |after: &str| {
        format!(
            "{THREADS}int x; pthread_t t; void *f(void *p) {{ x = 1; return 0; }}\n\
             int main() {{ for (int i = 0; i < x + 2; i++) pthread_create(&t, 0, f, 0); {after} return 0; }}"
        )
    };
    // The join waits, so that x is 1: no counterexample, but no proof either.
    assert_eq!(check("joined", &text("pthread_join(t, 0); if (x == 0) reach_error();"), "").code, 5);
    let wrong = text("if (x == 0) reach_error(); pthread_join(t, 0);");
    assert_eq!(check("not-joined", &wrong, "").code, 10);
    // Nor is evidence about it looked for there.
    let folder = folder("c-not-joined-evidence");
    file(&folder, "program.i", &wrong);
    let (program, evidence) = (folder.join("program.i"), folder.join("evidence"));
    let run = allways(&format!("check {} --json --evidence {}", program.display(), evidence.display()));
    let taken = run.json()["taken"].as_str().unwrap_or_default().to_string();
    let run = allways(&format!("certify {} {} {taken}", program.display(), evidence.display()));
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn as_many_threads_as_an_input_says() {
    let text = |bound: &str, between: &str, after: &str| {
        format!(
            "{THREADS}int __VERIFIER_nondet_int(void); void *malloc(unsigned long); void free(void *); int x;\n\
             void *f(void *p) {{ __sync_fetch_and_add(&x, 1); return 0; }}\n\
             int main() {{ int n = __VERIFIER_nondet_int(); if (n < 0) return 0;\n\
             pthread_t *t = malloc({bound}); {between}\n\
             for (int i = 0; i < n; i++) pthread_create(&t[i], 0, f, 0);\n\
             for (int i = 0; i < n; i++) pthread_join(t[i], 0);\n{after} free(t); return 0; }}"
        )
    };
    let race = "--property no-data-race --timeout 20s";
    let whole = "n * sizeof(pthread_t)";
    assert_eq!(check("thread-array", &text(whole, "", ""), race).code, 0);
    // Who reads after all have ended does not race; but the joins do not wait in what is proved.
    assert_ne!(check("thread-array-after", &text(whole, "", "int y = x;"), race).code, 10);
    let before = text(whole, "", "").replace(
        "for (int i = 0; i < n; i++) pthread_join",
        "int y = x; for (int i = 0; i < n; i++) pthread_join",
    );
    assert_eq!(check("thread-array-before", &before, race).code, 10);
    // After the loops, the index is the length.
    let index = text(whole, "int i;", "if (i == 2 && x == 2) reach_error();").replace("for (int i", "for (i");
    assert_eq!(check("thread-array-index", &index, "--property unreach-call").code, 10);
    // Memory that is too small, or a length that changes, is none of this.
    let unreached = "--property unreach-call --timeout 3s";
    assert_eq!(
        check("thread-array-small", &text("(unsigned char) (n * sizeof(pthread_t))", "", ""), unreached).code,
        5
    );
    assert_eq!(check("thread-array-longer", &text(whole, "n = n + 1;", ""), unreached).code, 5);
}

#[test]
fn pointers_are_not_moved_through_members_of_other_types() {
    let text = |members: &str, place: &str, claim: &str| {
        format!(
            "void reach_error(void); struct s {{ {members} }} x; int *start(void *v) {{ return v; }}\n\
             int main() {{ x.a = 1; x.b = 2; int *p = start({place}); if (!({claim})) reach_error(); return 0; }}"
        )
    };
    let run = |name: &str, text: String| check(name, &text, "--property unreach-call --timeout 5s").code;
    // In memory, `a` is two integers behind the start.
    assert_eq!(run("moved-in", text("long l; int a, b;", "&x", "p[2] == 1")), 5);
    assert_eq!(run("moved-over", text("int a; long l; int b;", "&x.a", "p[2] != 2")), 5);
    assert_eq!(run("moved-within", text("long l; int a, b;", "&x.a", "p[1] == 2 && p + 2 - p == 2")), 0);
    assert_eq!(run("moved-within-wrong", text("long l; int a, b;", "&x.a", "p[1] == 1")), 10);
}

#[test]
fn functions_of_the_library_return_what_they_must() {
    let text = |claim: &str| {
        format!(
            "void reach_error(void); int memcmp(const void *, const void *, unsigned long); int toupper(int);\n\
             void *memmove(void *, const void *, unsigned long); int printf(const char *, ...); int atoi(const char *);\n\
             char a[3] = {{1, 2, 3}}, b[3] = {{1, 2, 4}}; int v[4] = {{1, 2, 3, 4}};\n\
             int main() {{ memmove(v + 1, v, 3 * sizeof(int)); if (!({claim})) reach_error(); return 0; }}"
        )
    };
    let run =
        |name: &str, claim: &str| check(name, &text(claim), "--property unreach-call --timeout 5s").code;
    assert_eq!(run("memmove", "v[0] == 1 && v[1] == 1 && v[2] == 2 && v[3] == 3"), 0);
    assert_eq!(run("memcmp", "memcmp(a, b, 2) == 0 && memcmp(a, b, 3) < 0 && toupper('q') == 'Q'"), 0);
    assert_eq!(run("printed", "printf(\"abc\") == 0"), 10);
    assert_eq!(run("atoi", "atoi(\"12\") == 12"), 5);
}

/// Its places are its own lines, whatever its line markers say: they may be of a file that is not there any more.
#[test]
fn the_output_of_a_preprocessor_is_read_as_it_is_under_any_name() {
    let text = "# 1 \"gone.c\"\n# 1 \"/usr/include/assert.h\" 1 3 4\nextern void __assert_fail(void);\n\
                # 2 \"gone.c\" 2\nint x;\nint main(void) {\n  x = 1;\n  if (x == 1) __assert_fail();\n}\n";
    let path = file(&folder("preprocessed"), "program.c", text);
    let run = allways(&format!("check {path} --cpp /bin/false"));
    assert!(run.code == 10 && run.verdict().contains("line 8"), "{run:?}");
}

/// A driver whose interrupt is asked for before the device is set up, with functions that have nothing to do with that and make
/// it too large to be read as a whole.
fn large_driver(set_up: &str) -> String {
    let mut text = "typedef unsigned long pthread_t;
        int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
        void reach_error(void); int __VERIFIER_nondet_int(void); void *malloc(unsigned long); void *get_control(void);
        struct device { int words[64]; void *reset; int state; }; struct device *all[4];\n"
        .to_string();
    for number in 0..100 {
        text += &format!("void transfer{number}(struct device *d, int n) {{ int i; for (i = 0; i < n; i++) ");
        text += &format!(
            "d->words[i % 64] = d->words[(i + {number}) % 64] * 3 + __VERIFIER_nondet_int(); d->state = n; }}\n"
        );
    }
    text += "void check(int holds) { if (!holds) reach_error(); }
        void *interrupt(void *data) { struct device *d = data; void *reset = d->reset;
          if (__VERIFIER_nondet_int() > 100) check(reset == d->reset); else {";
    (0..100).for_each(|number| text += &format!(" transfer{number}(d, {number});"));
    text += "} return 0; }
        int probe(struct device *d) { pthread_t t; d->reset = 0; if (__VERIFIER_nondet_int() < 0) return -1;
          pthread_create(&t, 0, interrupt, d);";
    text += set_up;
    (0..100).for_each(|number| text += &format!(" transfer{number}(d, {number});"));
    text + " pthread_join(t, 0); return 0; }
        int main(void) { all[0] = malloc(sizeof(struct device)); probe(all[0]); return 0; }\n"
}

#[test]
fn a_bug_is_found_in_a_program_that_is_too_large() {
    let folder = folder("c-large");
    let path = folder.join("driver.i");
    fs::write(&path, large_driver("d->reset = get_control(); if (!d->reset) return -1;")).expect("a file");
    let options = "--property unreach-call --data-model ilp32 --timeout 120s";
    let evidence = folder.join("evidence");
    let run =
        allways(&format!("check {} {options} --json --evidence {}", path.display(), evidence.display()));
    let json = run.json();
    assert_eq!((&json["verdict"], &json["certified"]), (&"unsafe".into(), &true.into()), "{run:?}");
    let about = "--property unreach-call --data-model ilp32";
    let run = allways(&format!("certify {} {} {about}", path.display(), evidence.display()));
    assert_eq!(run.code, 0, "{run:?}");
    fs::write(&path, large_driver("")).expect("a file");
    let run = allways(&format!("check {} {options}", path.display()));
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.err.contains("only what leads to an assertion is followed"), "{run:?}");
}

/// Who waits for whom is said: which lock, who has it since which line, and the cycle.
#[test]
fn deadlocks_name_the_cycle_of_locks() {
    if !preprocessor() {
        return;
    }
    let path =
        programs().into_iter().find(|path| path.ends_with("bank-deadlock-wrong.c")).expect("it is there");
    let run = allways(&format!("check {} --deadlock", path.display()));
    assert_eq!(run.code, 10, "{run:?}");
    let cycle = run.out.lines().find(|line| line.contains("cycle of locks")).expect("a cycle");
    assert_eq!(cycle.matches("waits for `accounts[").count(), 3, "{cycle}");
    assert_eq!(run.out.matches("since line 22").count(), 3, "{run:?}");
    let folder = folder("c-self-deadlock");
    let text = "#include <pthread.h>\npthread_mutex_t m;\nint main(void) {\n  pthread_mutex_lock(&m);\n  \
                pthread_mutex_lock(&m);\n}\n";
    let path = file(&folder, "self.c", text);
    let run = allways(&format!("check {path} --property no-deadlock"));
    assert!(run.out.contains("cycle of locks: main waits for `m` of main"), "{run:?}");
}

#[test]
fn what_is_passed_to_pthread_exit_is_evaluated() {
    let text = "#include <pthread.h>\nvoid reach_error(void);\nvoid *g(void) { reach_error(); return 0; }\n\
                int main(void) { pthread_exit(g()); }\n";
    let path = file(&folder("exit-argument"), "exit.c", text);
    assert_eq!(allways(&format!("check {path} --property unreach-call")).code, 10);
}

#[test]
fn a_division_by_zero_is_not_followed_and_nothing_is_proved() {
    let text = "extern int __VERIFIER_nondet_int(void);\nint g;\nvoid reach_error(void);\n\
                int main(void) { int y = __VERIFIER_nondet_int(); if (y != 0) return 0; g = 5 / y; if (y) reach_error(); }\n";
    let path = file(&folder("division"), "division.c", text);
    assert_eq!(allways(&format!("check {path} --property unreach-call --timeout 20s")).code, 5);
}

#[test]
fn overflow_is_looked_for_and_never_proved_absent() {
    let text = "int main(void) { long x = 1; x = x + 1; return 0; }\n";
    let path = file(&folder("overflow"), "overflow.c", text);
    assert_eq!(allways(&format!("check {path} --property no-overflow")).code, 5);
}

#[test]
fn every_argument_of_a_library_call_is_evaluated_once() {
    let head = "#include <assert.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <time.h>\n#include <err.h>\n\
                void reach_error(void);\nint calls;\nstruct timespec when;\nsem_t s;\npthread_mutex_t m[2];\npthread_cond_t c;\n\
                pthread_t t[2];\npthread_rwlock_t r;\nint x;\n\
                struct timespec *deadline(void) { reach_error(); return &when; }\nint number(void) { reach_error(); return 0; }\n\
                void *nothing(void) { reach_error(); return 0; }\nint next(void) { return calls++; }\n\
                void *f(void *unused) { return 0; }\n";
    let reached = [
        "pthread_mutex_timedlock(&m[0], deadline());",
        "pthread_mutex_lock(&m[0]); pthread_cond_timedwait(&c, &m[0], deadline());",
        "sem_init(&s, 0, 1); sem_timedwait(&s, deadline());",
        "sem_init(&s, number(), 1);",
        "if (__builtin_expect(1, number())) x = 1;",
        "__atomic_load_n(&x, number());",
        "__atomic_store_n(&x, 1, number());",
        "__atomic_compare_exchange_n(&x, &calls, 1, number(), 5, 5);",
        "pthread_create(&t[0], nothing(), f, 0);",
        "pthread_mutex_init(&m[0], nothing());",
        "pthread_rwlock_init(&r, nothing());",
        "pthread_create(&t[0], 0, f, 0); pthread_join(t[0], nothing());",
        "pthread_create(&t[0], 0, (reach_error(), f), 0);",
        "pthread_mutex_lock(&m[next()]); assert(calls != 1);",
        "pthread_mutex_lock(&m[0]); pthread_cond_wait(&c, &m[next()]); assert(calls != 1);",
        "pthread_create(&t[next()], 0, f, 0); assert(calls != 1);",
    ];
    let folder = folder("arguments");
    for (number, body) in reached.into_iter().enumerate() {
        let text = format!("{head}int main(void) {{ {body} return 0; }}\n");
        let path = file(&folder, &format!("reached{number}.c"), &text);
        let run = allways(&format!("check {path} --property unreach-call --timeout 20s"));
        assert_eq!(run.code, 10, "{body} {run:?}");
    }
    // What ends the process, and what calls back.
    let text = format!(
        "{head}extern int __VERIFIER_nondet_int(void);\nint main(void) {{ x = __VERIFIER_nondet_int(); \
         if (x) errx(1, \"ends\"); if (x) reach_error(); }}\n"
    );
    assert_eq!(allways(&format!("check {} --property unreach-call", file(&folder, "err.c", &text))).code, 0);
    let text = format!(
        "{head}int at_quick_exit(void (*)(void)); int main(void) {{ at_quick_exit(reach_error); }}\n"
    );
    assert_ne!(
        allways(&format!("check {} --property unreach-call", file(&folder, "quick.c", &text))).code,
        0
    );
}

/// Twelve threads use a mutex that `main` destroys when it has joined them all; in the others, when it has not, or it uses one itself.
/// What happens to a mutex that was destroyed is not followed, so only the first is safe.
#[test]
fn mutexes_are_destroyed_when_all_threads_are_joined() {
    let head = format!(
        "{THREADS}typedef struct {{ int x; }} pthread_mutex_t; int pthread_mutex_lock(pthread_mutex_t *);\n\
         int pthread_mutex_unlock(pthread_mutex_t *); int pthread_mutex_destroy(pthread_mutex_t *);\n\
         pthread_t t[12], one; pthread_mutex_t m, other; int table[64];\n\
         void *f(void *unused) {{ int at = 0; for (int k = 0; k < 9; k++) {{ at = (at * 3 + k) % 64; if (at < 0) reach_error();\n\
         pthread_mutex_lock(&m); table[at]++; pthread_mutex_unlock(&m); }} return 0; }}\n"
    );
    let create = "for (i = 0; i < 12; i++) pthread_create(&t[i], 0, f, 0);";
    let join = "for (i = 0; i < 12; i++) pthread_join(t[i], 0);";
    let run = |name: &str, body: &str, limit: usize| {
        let text = format!("{head}int main() {{ int i; {body} return 0; }}");
        let options = format!("--timeout {limit}s --property unreach-call");
        check(&format!("destroyed-{name}"), &text, &options)
    };
    let destroy = "pthread_mutex_destroy(&m);";
    let safe = run("all", &format!("{create} {join} {destroy}"), 60);
    assert_eq!(safe.code, 0, "{safe:?}");
    let others = [
        ("early", format!("{create} {destroy} {join}")),
        ("some", format!("{create} for (i = 1; i < 12; i++) pthread_join(t[i], 0); {destroy}")),
        ("elsewhere", format!("pthread_create(&one, 0, f, 0); {create} {join} {destroy}")),
        ("later", format!("{create} {join} {destroy} pthread_create(&one, 0, f, 0);")),
        ("twice", format!("{create} {join} {destroy} {create}")),
        ("over", format!("{create} {create} {join} {destroy}")),
        ("again", format!("{create} {join} {destroy} {create} {join}")),
        ("own", format!("{create} {join} {destroy} pthread_mutex_lock(&m);")),
        (
            "detached",
            format!("{create} {join} {destroy} extern int pthread_detach(pthread_t); pthread_detach(one);"),
        ),
        ("perhaps", format!("{create} if (__VERIFIER_nondet_uint()) {join} {destroy}")),
    ];
    for (name, body) in others {
        let run = run(name, &body, 4);
        assert_ne!(run.code, 0, "{name}: {run:?}");
    }
}

/// Threads that a loop with a counter creates are counted; without the loop's condition there may be too many.
#[test]
fn threads_are_counted_where_a_loop_counts_them() {
    if Command::new("z3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no z3");
        return;
    }
    let head = format!(
        "{THREADS}extern void __VERIFIER_atomic_begin(void); extern void __VERIFIER_atomic_end(void);\n\
         int begun, done; unsigned wanted;\n\
         void *f(void *unused) {{ __VERIFIER_atomic_begin(); begun++; __VERIFIER_atomic_end();\n\
         if (done >= begun) reach_error(); __VERIFIER_atomic_begin(); done++; __VERIFIER_atomic_end(); return 0; }}\n"
    );
    let bounded = "int main() { pthread_t t; int n = __VERIFIER_nondet_uint(); done = 0; \
                   for (int i = 0; i < n; i++) pthread_create(&t, 0, f, 0); return 0; }";
    let options = "--engine views --timeout 60s";
    let safe = check("counted-bounded", &format!("{head}{bounded}"), options);
    assert_eq!(safe.code, 0, "{safe:?}");
    // 2^31 threads take `begun` beyond what an `int` holds.
    let endless = bounded.replace("i < n", "1");
    let open = check("counted-endless", &format!("{head}{endless}"), options);
    assert_eq!(open.code, 5, "{open:?}");
}
