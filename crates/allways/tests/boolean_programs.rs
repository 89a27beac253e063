//! Boolean programs as other tools write and ask about them: labels, results that nobody wants, numbers of threads.

mod common;

use common::{allways, file, folder};

/// Name, text, options, verdict. The expected verdicts follow from the few runs that each program has.
#[test]
fn labels_and_results() {
    let turns = "decl t := 0; void main() begin start_thread goto B; A: assume(!t); t := 1; end_thread;
                 B: assume(t); IN: t := 0; assume(0); OUT: skip; end";
    let results = |use_of: &str| {
        format!(
            "decl g := 0; bool<2> f(x) begin return x, !x; end
             void main() begin decl a, b; {use_of} end"
        )
    };
    let enforced = |first: &str| format!("decl g := 0; void main() begin enforce !g; {first} L: skip; end");
    let getafix = |last: &str| {
        format!(
            "decl a, b; void init() begin a, b := 0, 0; end
             void thread1() begin a := 1; b := 1; end
             void thread2() begin decl x, y; x := b; y := a; {last} end"
        )
    };
    let cases = [
        ("in.bp", turns.to_string(), "--label IN", "unsafe"),
        ("out.bp", turns.to_string(), "--label OUT", "safe"),
        ("both.bp", turns.to_string(), "--label OUT --label IN", "unsafe"),
        (
            "branch.bp",
            "void main() begin if 0 then L: goto M; fi; M: skip; end".to_string(),
            "--label L",
            "safe",
        ),
        ("end.bp", "void main() begin skip; L: end".to_string(), "--label L", "unsafe"),
        // The first of several places, and one inside an atomic section.
        ("places.bp", "void main() begin assume(0); L: skip; L: skip; end".to_string(), "--label L", "safe"),
        (
            "section.bp",
            "decl x := 0; void main() begin atomic_begin; x := 1; L: x := 0; atomic_end; end".to_string(),
            "--label L",
            "unsafe",
        ),
        // Where a function may not be, it does not come to a label.
        ("enforced.bp", enforced("skip;"), "--label L", "unsafe"),
        ("forbidden.bp", enforced("g := 1;"), "--label L", "safe"),
        ("first.bp", results("a, _ := f(1); assert(a);"), "", "safe"),
        ("second.bp", results("_, b := f(1); assert(b);"), "", "unsafe"),
        ("none.bp", results("_, _ := f(*); a := 1; _ := *; dead _, b; assert(a);"), "", "safe"),
        ("twice.bp", results("_, a := f(0); _, b := f(a); assert(a & !b);"), "", "safe"),
        ("named.bp", "decl _ := 0; void main() begin _ := 1; assert(!_); end".to_string(), "", "unsafe"),
        ("print.bp", results("a := 0; print(a, b); assert(!a);"), "", "safe"),
        ("question.bp", results("a := ?; assert(a);"), "", "unsafe"),
        // What is written first is seen first.
        ("getafix.bp", getafix("assert(!x | y);"), "", "safe"),
        ("other.bp", getafix("assert(x | !y);"), "", "unsafe"),
        ("label.bp", getafix("if x & !y then SLIC_ERROR: skip; fi;"), "--label SLIC_ERROR", "safe"),
        (
            "only.bp",
            "decl x := 0; void thread1() begin x := 1; end void thread2() begin assert(!x); end".to_string(),
            "",
            "unsafe",
        ),
    ];
    let folder = folder("boolean-programs");
    for (name, text, options, verdict) in cases {
        let file = file(&folder, name, text);
        for more in ["", " --unreduced"] {
            let run = allways(&format!("check --json --quiet {file} {options}{more}"));
            assert_eq!(run.json()["verdict"], verdict, "{name}{more}: {run:?}");
        }
    }
}

/// What other threads are given may depend on what each of them has, and is chosen for each of them.
#[test]
fn variables_of_other_threads() {
    // Two threads come to B, with x = 1 and x = 0; the first does something and then looks, or the others look.
    let program = |deed: &str, look: &str| {
        format!(
            "decl a := 0, b := 0, go := 0; void main() begin decl x := 0, y := 0;
             x := 1; start_thread goto A; x := 0; start_thread goto B;
             {deed} go := 1; end_thread;
             A: assume(go); a := x; {look} end_thread;
             B: assume(go); b := x; {look} end"
        )
    };
    let cases = [
        // Each keeps, or turns over, what it has.
        ("keep.bp", program("x$ := x$;", "assert(!b);"), "safe"),
        ("keep-a.bp", program("x$ := x$;", "assert(!a);"), "unsafe"),
        ("turn.bp", program("x$ := !x$;", "assert(!a);"), "safe"),
        ("turn-b.bp", program("x$ := !x$;", "assert(!b);"), "unsafe"),
        // Values before, in parallel, and the shared variables and the writer's own beside.
        ("swap.bp", program("x, x$ := 1, x$ & x;", "assert(!a & !b);"), "safe"),
        ("pair.bp", program("y$ := x$; x$ := 0; x$, y$ := y$, x$;", "assert(!b);"), "safe"),
        ("pair-a.bp", program("y$ := x$; x$ := 0; x$, y$ := y$, x$;", "assert(!a);"), "unsafe"),
        ("guarded.bp", program("x$ := (x$ & b) | (!x$ & *);", "assert(!a);"), "safe"),
        // Each chooses for itself.
        ("each.bp", program("x$ := *;", "assert(!(a & !b));"), "unsafe"),
        ("section.bp", program("atomic_begin; x$ := !x$; x$ := !x$; atomic_end;", "assert(!b);"), "safe"),
    ];
    let folder = folder("boolean-others");
    for (name, text, verdict) in cases {
        let file = file(&folder, name, text);
        for more in ["", " --unreduced"] {
            let run = allways(&format!("check --json --quiet {file} --threads main=3{more}"));
            // No more than three are ever started.
            assert_eq!(run.json()["verdict"], verdict, "{name}{more}: {run:?}");
        }
    }
}

/// Constraints that speak of other threads, and what is given to any number of them.
#[test]
fn constraints_on_other_threads() {
    // The first gives something to any number of others, which then look.
    let program = |deed: &str, look: &str| {
        format!(
            "decl gone := 0; void main() begin decl x := 0, y := 0;
             1: start_thread goto 4; if * then goto 1; fi;
             2: {deed} 3: gone := 1; end_thread;
             4: assume(gone); {look} end"
        )
    };
    let cases = [
        ("given.bp", program("x$ := 1;", "assert(x);"), "safe"),
        ("given-own.bp", program("x, x$ := 0, 1;", "assert(!x);"), "unsafe"),
        ("turned.bp", program("x$ := !x$; x$ := !x$;", "assert(!x);"), "safe"),
        ("turned-once.bp", program("x$ := !x$;", "assert(!x);"), "unsafe"),
        ("pair.bp", program("x$ := *; y$ := x$;", "assert(x = y);"), "safe"),
        ("pair-apart.bp", program("x$ := *; y$ := *;", "assert(x = y);"), "unsafe"),
        // Before and after, of each of the others, and of the one that assigns.
        ("after.bp", program("x$ := * constrain 'x$;", "assert(x);"), "safe"),
        ("before.bp", program("y$ := 1; x$ := * constrain 'x$ = y$;", "assert(x);"), "safe"),
        ("own.bp", program("x, x$ := *, * constrain 'x$ = 'x & 'x;", "assert(x);"), "safe"),
        ("own-before.bp", program("x := 1; x, x$ := 0, * constrain 'x$ = x;", "assert(x);"), "safe"),
        ("either.bp", program("x$, y$ := *, * constrain 'x$ | 'y$;", "assert(x | y);"), "safe"),
        ("either-one.bp", program("x$, y$ := *, * constrain 'x$ | 'y$;", "assert(x);"), "unsafe"),
        // What nobody can satisfy is not done where there is somebody; at 2 there always is.
        ("never.bp", program("x$ := * constrain 'x$ & !'x$;", "assert(0);"), "safe"),
        ("looked-at.bp", program("x := * constrain 'x = y$;", "assert(0);"), "unsafe"),
        ("looked-at-never.bp", program("x := 1 constrain 'x = y$;", "assert(0);"), "safe"),
    ];
    let folder = folder("boolean-constraints");
    for (name, text, verdict) in cases {
        let file = file(&folder, name, text);
        for more in ["", " --unreduced"] {
            let run = allways(&format!("check --json --quiet {file}{more}"));
            assert_eq!(run.json()["verdict"], verdict, "{name}{more}: {run:?}");
        }
    }
}

/// Two threads that meet go on together, and nobody else.
#[test]
fn threads_that_meet() {
    let program = |rest: &str| format!("decl a := 0, b := 0; void main() begin {rest} end");
    let cases = [
        // Nobody goes past a meeting alone.
        ("alone.bp", program("sync e; assert(0);"), "safe"),
        ("pair.bp", program("start_thread goto L; L: sync e; assert(0);"), "unsafe"),
        (
            "names.bp",
            program("start_thread goto L; sync e; assert(0); end_thread; L: sync f; assert(0);"),
            "safe",
        ),
        // What comes before the meeting of one comes before what the other does afterwards.
        (
            "order.bp",
            program("start_thread goto L; a := 1; sync e; end_thread; L: sync e; assert(a);"),
            "safe",
        ),
        (
            "race.bp",
            program("start_thread goto L; sync e; a := 1; end_thread; L: sync e; assert(a);"),
            "unsafe",
        ),
        // Of three, one is left behind.
        (
            "three.bp",
            program(
                "start_thread goto L; start_thread goto L; L: sync e;
                 atomic_begin; assert(!(a & b)); b := a; a := 1; atomic_end;",
            ),
            "safe",
        ),
        (
            "four.bp",
            program(
                "start_thread goto L; start_thread goto L; start_thread goto L; L: sync e;
                 atomic_begin; assert(!(a & b)); b := a; a := 1; atomic_end;",
            ),
            "unsafe",
        ),
    ];
    let folder = folder("boolean-meetings");
    for (name, text, verdict) in cases {
        let file = file(&folder, name, text);
        let run = allways(&format!("check --json --quiet {file}"));
        assert_eq!(run.json()["verdict"], verdict, "{name}: {run:?}");
    }
}

/// Initial values that nobody has listed: they are chosen when they are read, and never where they are written first.
#[test]
fn many_variables_without_initial_values() {
    let names: Vec<String> = (0..26).map(|number| format!("v{number}")).collect();
    let program = |body: &str| format!("decl {}; void main() begin {body} end", names.join(", "));
    let zeros = vec!["0"; names.len()].join(", ");
    let all = format!("{} := {zeros};", names.join(", "));
    let mixed: String = (0..25).map(|number| format!("v{number} := v{number} ^ v{}; ", number + 1)).collect();
    let race = "start_thread goto L; v3 := 1; end_thread; L: assert(!v3 | !v4);";
    let cases = [
        ("first.bp", program(&format!("{all} {race}")), "safe"),
        ("never.bp", program(race), "unsafe"),
        ("twice.bp", program("v1 := v2; v3 := v2; assert(v1 = v3);"), "safe"),
        ("others.bp", program("v1 := v2; v3 := v4; assert(v1 = v3);"), "unsafe"),
        // All are read, and only sets of values are small.
        (
            "all.bp",
            program(&format!("start_thread goto L; {mixed} end_thread; L: assert({});", names.join(" | "))),
            "unsafe",
        ),
    ];
    let folder = folder("boolean-values");
    for (name, text, verdict) in cases {
        let run = allways(&format!("check --json --quiet {}", file(&folder, name, text)));
        assert_eq!(run.json()["verdict"], verdict, "{name}: {run:?}");
    }
}

/// A number bounds the threads that are started, and is no reason to run `main` more than once.
#[test]
fn numbers_of_threads() {
    let folder = folder("boolean-numbers");
    let once = file(
        &folder,
        "once.bp",
        "decl a := 0; void f() begin skip; end
         void main() begin create_thread(&f); assert(!a); a := 1; end",
    );
    // The third thread sees both flags.
    let third = file(
        &folder,
        "third.bp",
        "decl a := 0, b := 0; void main() begin 1: start_thread goto 2; goto 1; 2: atomic_begin; assert(!(a & b));
         b := a; a := 1; atomic_end; end",
    );
    let cases = [
        (&once, "", "safe"),
        (&once, "--threads main=3", "safe"),
        (&once, "--threads f=*", "safe"),
        (&third, "--threads main=*", "unsafe"),
        (&third, "--threads *", "unsafe"),
        (&third, "--threads main=4", "unsafe"),
        // With three nothing goes wrong, and there could be more.
        (&third, "--threads main=3", "unknown"),
    ];
    for (file, options, verdict) in cases {
        let run = allways(&format!("check --json --quiet {file} {options}"));
        assert_eq!(run.json()["verdict"], verdict, "{file} {options}: {run:?}");
    }
    let run = allways(&format!("check {once} --threads nobody=*"));
    assert!(run.err.contains("the program has no thread `nobody`"), "{run:?}");
    let fixed = file(&folder, "fixed.aw", "shared bool x; thread w[2] { assert !x; }");
    let run = allways(&format!("check {fixed} --threads w=*"));
    assert!(run.err.contains("a fixed number of threads of w: 2"), "{run:?}");
}

#[test]
fn slips_are_said() {
    let folder = folder("boolean-slips");
    let nothing = file(&folder, "nothing.bp", "decl x; void main() begin L: x := 1; end");
    let warned =
        |options: &str| allways(&format!("check {nothing} {options}")).err.contains("nothing was asked");
    assert!(warned(""));
    assert!(!warned("--label L"));
    assert!(!warned("--deadlock"));
    let run = allways(&format!("check {nothing} --label M"));
    assert!(run.err.contains("the program has no label `M`"), "{run:?}");
    let program = file(&folder, "program.aw", "thread t { l: skip; }");
    let run = allways(&format!("check {program} --label l"));
    assert!(run.err.contains("--label is for .bp files"), "{run:?}");
}
