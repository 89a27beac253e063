//! `replay --native`: C programs that go wrong, checked, compiled, and run in the order of the trace.

use allways::native::schedule::{Kind, Schedule};
use allways::native::{Ended, Native, replay_native};
use allways::recheck::read_claim;
use allways::{Budget, Options, Question, Request, check, load};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A folder of a test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("native").join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Whether there is a compiler that can do what is needed; says so if there is none.
fn can_compile() -> bool {
    let folder = folder("probe");
    std::fs::write(folder.join("probe.c"), "int x; int main(void) { x = 1; return 0; }\n").unwrap();
    let run = Command::new("gcc")
        .args(["-fsanitize=thread", "-c", "probe.c", "-o", "probe.o"])
        .current_dir(&folder)
        .output();
    let can =
        run.is_ok_and(|output| output.status.success()) && Command::new("objdump").arg("-v").output().is_ok();
    if !can {
        println!("skipped: no gcc with -fsanitize=thread");
    }
    can
}

/// Checks a program, which must be unsafe, and runs it as the trace says.
fn replayed(name: &str, text: &str) -> Option<Native> {
    if !can_compile() {
        return None;
    }
    let path = folder(name).join("program.c");
    std::fs::write(&path, text).unwrap();
    let schedule = schedule(&path, &Options::default());
    Some(replay_native(&path, &schedule, Duration::from_secs(2), None).unwrap())
}

fn schedule(path: &Path, options: &Options) -> Schedule {
    let budget = Budget::unlimited();
    let loaded = load(path, options, &budget).unwrap();
    let checked = check(&loaded.task, &Request::default(), &budget).unwrap();
    assert_eq!(checked.report.verdict, "unsafe");
    let mut evidence = Vec::new();
    assert!(checked.write_evidence(&mut evidence).unwrap());
    let Ok(claim) = read_claim(&loaded.task, &Question::default(), false, &evidence) else {
        panic!("the evidence is not read");
    };
    let schedule = claim.schedule().unwrap().unwrap();
    assert!(schedule.events.iter().any(|event| event.kind == Kind::Create), "{schedule:?}");
    schedule
}

fn reaches(name: &str, text: &str) {
    let Some(native) = replayed(name, text) else { return };
    assert!(native.by_trace(), "{native:?}");
}

const COUNTER: &str = "#include <assert.h>
#include <pthread.h>
int counter;
void *add(void *unused) {
    counter++;
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
    return 0;
}
";

#[test]
fn a_lost_update_is_seen() {
    let Some(native) = replayed("counter", COUNTER) else { return };
    assert!(native.by_trace(), "{native:?}");
    assert_eq!(native.followed.missed, 0, "every event takes place: {native:?}");
    assert!(native.commands.iter().any(|command| command.contains("-fsanitize=thread")), "{native:?}");
}

#[test]
fn the_wrong_lock_protects_nothing() {
    reaches(
        "lock",
        "#include <assert.h>
#include <pthread.h>
pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
int balance = 10;
void *take(void *unused) {
    pthread_mutex_lock(&left);
    int found = balance;
    balance = found - 4;
    pthread_mutex_unlock(&left);
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, take, 0);
    pthread_mutex_lock(&right);
    int found = balance;
    balance = found - 3;
    pthread_mutex_unlock(&right);
    pthread_join(thread, 0);
    assert(balance == 3);
    return 0;
}
",
    );
}

#[test]
fn waiting_without_a_loop_is_not_enough() {
    reaches(
        "condition",
        "#include <assert.h>
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
int items;
void *consume(void *unused) {
    pthread_mutex_lock(&lock);
    if (items == 0)
        pthread_cond_wait(&filled, &lock);
    items--;
    assert(items >= 0);
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, consume, 0);
    pthread_create(&b, 0, consume, 0);
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&lock);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
",
    );
}

#[test]
fn atomic_operations_are_points_of_their_own() {
    reaches(
        "atomic",
        "#include <assert.h>
#include <pthread.h>
_Atomic int tickets;
int served;
void *draw(void *unused) {
    if (__sync_fetch_and_add(&served, 0) == tickets)
        tickets++;
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, draw, 0);
    pthread_create(&b, 0, draw, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(tickets != 2);
    return 0;
}
",
    );
}

#[test]
fn memory_that_is_none_is_seen() {
    reaches(
        "heap",
        "#include <pthread.h>
#include <stdlib.h>
struct cell { int value; struct cell *next; };
struct cell *top;
void *pop(void *unused) {
    if (top != 0)
        top = top->next;
    return 0;
}
int main(void) {
    pthread_t a, b;
    top = (struct cell *)malloc(sizeof(struct cell));
    top->next = 0;
    pthread_create(&a, 0, pop, 0);
    pthread_create(&b, 0, pop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
",
    );
}

#[test]
fn values_and_sections_follow_the_trace() {
    reaches(
        "values",
        "#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void abort(void);
void reach_error(void) { abort(); }
int limit, sum;
void *add(void *unused) {
    int amount = __VERIFIER_nondet_int();
    __VERIFIER_atomic_begin();
    if (amount > 0 && amount <= limit)
        sum = sum + amount;
    __VERIFIER_atomic_end();
    return 0;
}
int main(void) {
    pthread_t a, b;
    limit = 5;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (sum == 7)
        reach_error();
    return 0;
}
",
    );
}

#[test]
fn a_deadlock_is_seen() {
    if !can_compile() {
        return;
    }
    let path = folder("deadlock").join("program.c");
    let text = "#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
void *other(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_join(thread, 0);
    return 0;
}
";
    std::fs::write(&path, text).unwrap();
    let schedule = schedule(&path, &Options { deadlock: true, ..Options::default() });
    let native = replay_native(&path, &schedule, Duration::from_secs(2), None).unwrap();
    assert!(native.by_trace(), "{native:?}");
}

#[test]
fn a_data_race_is_seen_before_it_happens() {
    if !can_compile() {
        return;
    }
    let path = folder("race").join("program.c");
    std::fs::write(&path, COUNTER).unwrap();
    let property = allways_c::property::Property::named("no-data-race");
    let schedule = schedule(&path, &Options { property, ..Options::default() });
    let native = replay_native(&path, &schedule, Duration::from_secs(2), None).unwrap();
    let Ended::Reached { line: Some(5), thread, other: Some((other, Some(5))) } = native.followed.ended
    else {
        panic!("{native:?}");
    };
    assert!(thread != 0 && other != 0 && thread != other, "{native:?}");
    // What is locked does not race, whatever the schedule.
    let locked =
        COUNTER.replace("counter++;", "pthread_mutex_lock(&m); counter++; pthread_mutex_unlock(&m);");
    let locked = locked.replace("int counter;", "int counter; pthread_mutex_t m;");
    std::fs::write(&path, locked).unwrap();
    let native = replay_native(&path, &schedule, Duration::from_secs(1), None).unwrap();
    assert!(!native.reached() && native.searched.is_some_and(|(tried, _)| tried > 3));
}

#[test]
fn memory_that_is_freed_twice_is_seen() {
    reaches(
        "free",
        "#include <pthread.h>
#include <stdlib.h>
int *shared;
void *drop(void *unused) {
    if (shared) {
        free(shared);
        shared = 0;
    }
    return 0;
}
int main(void) {
    pthread_t a, b;
    shared = malloc(sizeof *shared);
    pthread_create(&a, 0, drop, 0);
    pthread_create(&b, 0, drop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
",
    );
}

#[test]
fn a_thread_ends_after_its_cleanup_handlers_and_destructors() {
    reaches(
        "cleanup",
        "#include <assert.h>
#include <pthread.h>
int done;
pthread_key_t key;
void cleanup(void *unused) { done++; }
void *work(void *unused) {
    pthread_setspecific(key, &done);
    pthread_cleanup_push(cleanup, 0);
    pthread_exit(0);
    pthread_cleanup_pop(0);
}
int main(void) {
    pthread_t a;
    pthread_key_create(&key, cleanup);
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    assert(done != 2);
    return 0;
}
",
    );
}

#[test]
fn headers_of_verifiers_and_assertions_in_comments_are_compiled() {
    reaches(
        "comments",
        "#include <goblint.h>
#include <pthread.h>
int x;
void *work(void *unused) { x = 1; return 0; }
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    __goblint_check(x >= 0);
    //@ assert x == 0;
    return 0;
}
",
    );
}

#[test]
fn thousands_of_threads_that_never_run_do_no_harm() {
    reaches(
        "thousands",
        "#include <assert.h>
#include <pthread.h>
int x;
void *work(void *unused) { x = 1; return 0; }
int main(void) {
    pthread_t all[9000];
    for (int i = 0; i < 9000; i++) pthread_create(&all[i], 0, work, 0);
    assert(x == 0);
    return 0;
}
",
    );
}

#[test]
fn what_is_found_by_search_is_called_so() {
    if !can_compile() {
        return;
    }
    let path = folder("search").join("program.c");
    std::fs::write(&path, COUNTER).unwrap();
    let mut schedule = schedule(&path, &Options::default());
    // Nobody but the last thread has a turn, and it waits for the others.
    schedule.events.clear();
    let native = replay_native(&path, &schedule, Duration::from_secs(20), None).unwrap();
    assert!(!native.by_trace() && native.followed.ended == Ended::Diverged, "{native:?}");
    assert!(native.reached(), "{native:?}");
}

#[test]
fn a_program_says_what_it_does_and_ends_with_0() {
    if !can_compile() {
        return;
    }
    let folder = folder("command");
    std::fs::write(folder.join("counter.c"), COUNTER).unwrap();
    let allways = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_allways")).args(arguments).current_dir(&folder).output().unwrap()
    };
    assert_eq!(allways(&["check", "counter.c", "--evidence", "trace"]).status.code(), Some(10));
    let output = allways(&["replay", "counter.c", "trace", "--native", "--keep", "kept"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.starts_with("reached: counter.c: line 14: main reached the error by the schedule"),
        "{said}"
    );
    assert!(said.contains("gcc ") && said.contains("-std=gnu11"), "{said}");
    // What is kept does it again.
    let run = Command::new(folder.join("kept/program"))
        .env("ALLWAYS_SCHEDULE", folder.join("kept/schedule"))
        .output();
    let told = String::from_utf8_lossy(&run.unwrap().stderr).into_owned();
    assert!(told.starts_with("error 14 0 "), "{told}");
    let output = allways(&["replay", "counter.c", "trace", "--keep", "kept"]);
    assert_eq!(output.status.code(), Some(2), "--keep is for --native");
}

#[test]
fn variables_without_a_value_have_that_of_the_trace() {
    reaches(
        "undefined",
        "#include <assert.h>
#include <pthread.h>
int x;
void *set(void *unused) {
    int before = 0, y, z;
    if (y == 7 + before)
        x = y;
    return 0;
}
int main(int argc, char **argv) {
    pthread_t a;
    pthread_create(&a, 0, set, 0);
    pthread_join(a, 0);
    assert(x == 0);
    return 0;
}
",
    );
}

#[test]
fn mutexes_are_of_the_kind_that_their_initialiser_says() {
    reaches(
        "kinds",
        "#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };
int x;
void *add(void *unused) {
    pthread_mutex_lock(&locks[1]);
    pthread_mutex_lock(&locks[1]);
    x++;
    pthread_mutex_unlock(&locks[1]);
    pthread_mutex_unlock(&locks[1]);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, add, 0);
    pthread_mutex_lock(&locks[1]);
    pthread_mutex_lock(&locks[1]);
    assert(x == 0);
    return 0;
}
",
    );
}

#[test]
fn what_is_read_is_what_the_trace_says() {
    reaches(
        "scan",
        "#include <assert.h>
#include <pthread.h>
#include <stdio.h>
int x;
void *add(void *unused) {
    x++;
    return 0;
}
int main(void) {
    pthread_t a;
    int n, m;
    pthread_create(&a, 0, add, 0);
    if (scanf(\"%d %d\", &n, &m) == 2) {
        pthread_join(a, 0);
        assert(n != 77 || m != 1234 || x == 0);
    }
    return 0;
}
",
    );
}

#[test]
fn what_is_done_once_is_waited_for() {
    reaches(
        "once",
        "#include <assert.h>
#include <pthread.h>
pthread_once_t once = PTHREAD_ONCE_INIT;
int x, y;
void begin(void) {
    x = y;
}
void *run(void *unused) {
    pthread_once(&once, begin);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, run, 0);
    y = 1;
    pthread_once(&once, begin);
    assert(x == 1);
    return 0;
}
",
    );
}

#[test]
fn variables_of_functions_that_have_returned_are_seen_to_be_gone() {
    reaches(
        "returned",
        "#include <pthread.h>
pthread_t helper;
void *help(void *argument) {
    int *job = argument;
    *job = *job + 1;
    return 0;
}
void start(void) {
    int job = 1;
    pthread_create(&helper, 0, help, &job);
}
int main(void) {
    start();
    pthread_join(helper, 0);
    return 0;
}
",
    );
}

#[test]
fn what_assembly_gives_is_what_the_trace_says() {
    reaches(
        "assembly",
        "#include <assert.h>
#include <pthread.h>
int seen;
static int status(unsigned short port) {
    int value;
    __asm__ volatile (\"inl %w1, %0\" : \"=a\" (value) : \"Nd\" (port));
    return value;
}
void *handler(void *unused) {
    seen = status(16) < 0;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, handler, 0);
    assert(!seen);
    return 0;
}
",
    );
}

#[test]
fn values_stay_with_the_calls_that_they_matter_to() {
    reaches(
        "in-place",
        "#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
int started, seen;
static int any(void) { return __VERIFIER_nondet_int(); }
void *worker(void *unused) {
    int ignored = any();
    started = 1;
    seen = any() == 5;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    if (started) assert(!seen);
    return 0;
}
",
    );
}

#[test]
fn threads_are_told_apart_by_the_functions_they_start_with() {
    reaches(
        "two-kinds",
        "#include <assert.h>
#include <pthread.h>
int value;
void *first(void *unused) { assert(value != 1); return 0; }
void *second(void *unused) { value = 1; return 0; }
#define START(t) pthread_t t##_ids[10000]; for (int i = 0; i < 10000; i++) pthread_create(&t##_ids[i], 0, t, 0)
int main(void) {
    START(first); START(second);
    return 0;
}
",
    );
}
