//! Programs that are written and read again: they must still go wrong, or not, and get stuck, or not.

mod random;
mod refusals;
mod verdicts;

use super::*;
use allways_model::program::{Count, Program};
use insta::assert_snapshot;
use std::path::Path;
use verdicts::same;

/// Reads a text without errors.
#[track_caller]
fn read_bp(text: &str) -> Program {
    let parsed = crate::bp::parse(text.as_bytes());
    let said: Vec<_> = parsed.diagnostics.iter().collect();
    parsed.program.unwrap_or_else(|| panic!("{said:#?}\n{text}"))
}

/// Reads a text without errors.
#[track_caller]
fn read_aw(text: &str) -> Program {
    let parsed = crate::aw::parse(text.as_bytes());
    let said: Vec<_> = parsed.diagnostics.iter().collect();
    parsed.program.unwrap_or_else(|| panic!("{said:#?}\n{text}"))
}

/// A Boolean program, written as one again.
#[track_caller]
fn bp_to_bp(text: &str) -> String {
    let program = read_bp(text);
    let written = bp(&program).unwrap();
    same(&program, &read_bp(&written), text, &written);
    written
}

/// A Boolean program, written in `.aw`.
#[track_caller]
fn bp_to_aw(text: &str) -> String {
    let program = read_bp(text);
    let written = aw(&program).unwrap();
    same(&program, &read_aw(&written), text, &written);
    written
}

/// A program in `.aw`, written as a Boolean program.
#[track_caller]
fn aw_to_bp(text: &str) -> String {
    let program = read_aw(text);
    let written = bp(&program).unwrap();
    same(&program, &read_bp(&written), text, &written);
    written
}

/// A program in `.aw`, written so again.
#[track_caller]
fn aw_to_aw(text: &str) -> String {
    let program = read_aw(text);
    let written = aw(&program).unwrap();
    same(&program, &read_aw(&written), text, &written);
    written
}

#[test]
fn threads_start_with_what_they_need() {
    let text = "decl g := 0; void main() begin decl l := 0, unused;
        1: start_thread goto 4; 2: l := !l; 3: goto 1, 4; 4: g := l; 5: assert(!g | l); end";
    assert_snapshot!(bp_to_aw(text), @"
    shared bool g = false;
    shared bool passing = false;
    shared bool passed_l;

    thread main_ {
      bool l = false;
      bool unused;
      l1: atomic { assume !passing; passing = true; passed_l = l; }
      spawn started_l4;
      l = !l;
      choose { skip; goto l1; }
      or { skip; }
      g = l;
      assert !g || l;
    }

    thread started_l4[0] {
      bool l = false;
      bool unused;
      atomic { l = passed_l; passed_l = false; passing = false; }
      g = l;
      assert !g || l;
    }
    ");
    assert_snapshot!(bp_to_bp(text), @"
    decl g := 0;

    void main() begin
      decl l := 0;
      decl unused;
    l1:
      start_thread goto l4;
    l2:
      l := !l;
    l3:
      goto l1, l4;
    l4:
      g := l;
    l5:
      assert(!g | l);
      end_thread;
    end
    ");
}

#[test]
fn sections_end_in_several_places() {
    let text = "decl g, h; void main() begin
        atomic_begin; if g then goto out; fi; h := 1; atomic_end; assert(!g); end_thread;
        out: atomic_end; assert(h); end";
    assert_snapshot!(bp_to_aw(text), @"
    shared bool g = *;
    shared bool h = *;

    thread main_ {
      0..1 exit;
      atomic {
        if (g) { goto out_inside; }
        h = true;
        exit = 0; goto end_l1;
        out_inside: exit = 1;
        end_l1: skip;
      }
      choose { assume exit == 0; }
      or { assume exit == 1; goto l7; }
      assert !g;
      skip; return;
      l7: assert h;
    }
    ");
    assert_snapshot!(bp_to_bp(text), @"
    decl g;
    decl h;

    void main() begin
      atomic_begin;
      if g then goto out; fi;
      h := 1;
      atomic_end;
      assert(!g);
      end_thread;
    out:
      atomic_end;
      assert(h);
      end_thread;
    end
    ");
}

#[test]
fn constraints_are_assumed() {
    let text = "decl a := 0, b := 0; void main() begin decl l;
        l: a, b := *, !a constrain ('a | b) & !a; assert(b & a); goto l; end";
    assert_snapshot!(bp_to_aw(text), @"
    shared bool a = false;
    shared bool b = false;

    thread main_ {
      bool l;
      bool old_b;
      bool old_a;
      l: atomic {
        old_b, old_a = b, a;
        a, b = *, !a;
        assume (a || old_b) && !old_a;
      }
      assert b && a;
      skip; goto l;
    }
    ");
    assert_snapshot!(bp_to_bp(text), @"
    decl a := 0;
    decl b := 0;

    void main() begin
      decl l;
    l:
      a, b := *, !a constrain (('a | b) & !a);
      assert(b & a);
      goto l;
    end
    ");
}

#[test]
fn functions_and_results() {
    let text = "decl g := 0; void main() begin decl x; x := f(g, *); assert(x | g); h(); end
        bool f(a, b) begin decl c := 1, any; if a & c then return b; fi; g := any; return !a; end
        void h() begin if * then h(); fi; atomic_begin; g := 1; atomic_end; end";
    assert_snapshot!(bp_to_bp(text), @"
    decl g := 0;

    void main() begin
      decl x;
      x := f(g, *);
      assert(x | g);
      h();
      end_thread;
    end

    bool f(a, b) begin
      decl c := 1;
      decl any;
      if (a & c) then goto l5; fi;
      g := any;
      return !a;
    l5:
      return b;
    end

    void h() begin
      if * then goto l10; else goto l11; fi;
    l10:
      h();
    l11:
      atomic_begin;
      g := 1;
      atomic_end;
      return;
    end
    ");
    assert_snapshot!(bp_to_aw(text), @"
    shared bool g = false;

    proc f(bool a, bool b) : bool {
      bool c = true;
      bool any;
      any = *;
      if (a && c) { return b; }
      g = any; return !a;
    }

    proc h() {
      if (*) { } else { goto l11; }
      h();
      l11: atomic { g = true; }
    }

    thread main_ {
      bool x;
      x = f(g, *);
      assert x || g;
      h();
    }
    ");
}

#[test]
fn waiting_threads_miss_nothing() {
    let text = "shared bool ready = false, done = false; event go;
        thread boss { ready = true; broadcast go; assert done || !done; }
        thread worker[2] { wait go; done = ready; loop { wait go; assert !done; } }";
    assert_snapshot!(aw_to_bp(text), @"
    decl ready := 0;
    decl done := 0;

    void main() begin
      start_thread goto l4;
      start_thread goto l4;
      start_thread goto l0;
      end_thread;
    l0:
      ready := 1;
      broadcast;
      assert(done | !done);
      end_thread;
    l4:
      wait;
      done := ready;
      wait;
    l7:
      assert(!done);
      wait;
      goto l7;
    end
    ");
    let text = "decl a := 0; void main() begin start_thread goto w; if a then goto w; else goto b; fi;
        w: wait; assert(a); goto w; b: a := 1; broadcast; if * then goto w; fi; a := 0; goto b; end";
    assert_snapshot!(bp_to_bp(text), @"
    decl a := 0;

    void main() begin
      start_thread goto w;
      if a then goto w; else goto b; fi;
    w:
      wait;
      assert(a);
      goto w;
    b:
      a := 1;
      broadcast;
      if * then goto w; fi;
      a := 0;
      goto b;
    end
    ");
    bp_to_aw(text);
}

#[test]
fn choices_are_made_only_if_possible() {
    let text = "shared bool a = *, b = *;
        thread t { choose { assume a; b = true; } or { await b; a = true; } or { atomic { assume a && b; a = false; } }
          assert a || b; spawn u; }
        thread u[0] { bool x = true, y; y = x; goto here; here: assert y; }
        never both: !a && !b && a;";
    assert_snapshot!(aw_to_bp(text), @"
    decl a;
    decl b;

    void main() begin
      decl x := 1;
      decl y := 0;
      start_thread goto never;
      start_thread goto l0;
      end_thread;
    never:
      goto look, look_away;
    look:
      assert(!(!a & !b & a));
    look_away:
      end_thread;
    l0:
      atomic_begin;
      goto l0_1, l0_2, l0_3;
    l0_1:
      assume(a);
      atomic_end;
      goto l1;
    l0_2:
      assume(b);
      atomic_end;
      goto l2;
    l0_3:
      goto l3;
    l1:
      b := 1;
      goto l6;
    l2:
      a := 1;
      goto l6;
    l3:
      assume(a & b);
      a := 0;
      atomic_end;
    l6:
      assert(a | b);
      start_thread goto start_u;
      end_thread;
    start_u:
      x := 1;
      y := x;
    here:
      assert(y);
      end_thread;
    end
    ");
    aw_to_aw(text);
}

#[test]
fn any_number_of_threads_is_started() {
    let text = "shared bool x; thread t[*] { bool y = *; x = y; assert x == y; }";
    assert_snapshot!(bp(&read_aw(text)).unwrap(), @"
    decl x := 0;

    void main() begin
      decl y := 0;
    any_t:
      goto more_t, enough_t;
    more_t:
      start_thread goto l0;
      goto any_t;
    enough_t:
      end_thread;
    l0:
      y := *;
      x := y;
      assert(x = y);
      end_thread;
    end
    ");
    read_bp(&bp(&read_aw(text)).unwrap());
    assert_eq!(read_aw(&aw(&read_aw(text)).unwrap()).templates[0].count, Count::Any);
}

#[test]
fn tasks_are_threads_with_arguments() {
    let text = "shared bool g; main { post t(true); post t(*); }
        task t(bool x) { bool y = x; g = x; yield; assert g == y; }";
    assert_snapshot!(aw_to_bp(text), @"
    decl g := 0;
    decl _running := 1;

    void main() begin
      decl x := 0;
      decl y := 0;
      decl arg_x;
      arg_x := 1;
      start_thread goto start_t;
      arg_x := *;
      start_thread goto start_t;
      _running := 0;
      end_thread;
    start_t:
      x := arg_x;
      _running := 1 constrain (_running = 0);
      y := x;
      g := x;
      _running := 0;
      _running := 1 constrain (_running = 0);
      assert(g = y);
      _running := 0;
      end_thread;
    end
    ");
}

#[test]
fn numbers_arrays_and_locks() {
    let text = "const N = 3; shared 0..2 turn = *; shared int a[N] = -1; shared bool b[2]; lock m, locks[2];
        proc bump(0..2 by, bool sure) : int { int old = a[by]; if (!sure) { return 0 - 5; }
          a[by] = a[by] + by * 2 - (by - 1); return old; }
        thread p[2] { int got; 0..1 mine; bool flag = true; mine = *; flag = * || b[self];
          acquire(m); acquire(locks[self]); got = bump(self, flag); release(locks[self]); release(m);
          crit: turn, b[1 - self] = flag ? self : 2, turn == self || flag == b[0];
          assert got < 7 && -got != 3 && a[self] / 2 % 3 >= -1; choose { error; } or { assume self >= 2; } }
        thread q { bool x; atomic { x = turn <= 1; if (x) { turn = 2; } else { turn = 0; } } }
        never mutex: at(crit) >= 2 && at(p.crit) != 0;
        never turn > 2;";
    assert_snapshot!(aw_to_aw(text), @"
    shared 0..2 turn = *;
    shared int a[3] = -1;
    shared bool b[2] = false;
    lock m;
    lock locks[2];

    proc bump(0..2 by, bool sure) : int {
      int old = 0;
      old = a[by];
      if (!sure) { return -5; }
      a[by] = a[by] + by * 2 - (by - 1); return old;
    }

    thread p[2] {
      int got = 0;
      0..1 mine = 0;
      bool flag = true;
      mine = *;
      flag = * || b[self];
      acquire(m);
      acquire(locks[self]);
      got = bump(self, flag);
      release(locks[self]);
      release(m);
      crit: turn, b[1 - self] = (flag ? self : 2), turn == self || flag == b[0];
      assert got < 7 && -got != 3 && a[self] / 2 % 3 >= -1;
      choose { error; }
      or { assume self >= 2; }
    }

    thread q {
      bool x = false;
      atomic {
        x = turn <= 1;
        if (x) { } else { goto l20_inside; }
        turn = 2; goto l21_inside;
        l20_inside: turn = 0;
        l21_inside: skip;
      }
    }

    never mutex: at(crit) >= 2 && at(crit) != 0;

    never turn > 2;
    ");
}

/// A procedure returns at a place where a property counts threads: it stays a place of its own.
#[test]
fn a_return_that_is_counted_keeps_its_label() {
    let written = aw_to_aw(
        "shared 0..1 g;
        proc next() : 0..1 {
          while (g == 0) { here: return 1; }
          return 0;
        }
        thread t[2] { g = next(); }
        never at(next.here) >= 2;
        ",
    );
    assert!(written.contains("here: return 1;") && written.contains("at(here) >= 2"), "{written}");
}

#[test]
fn results_that_are_missing_are_missed() {
    aw_to_aw("shared bool x = *; proc f() : bool { if (x) { return true; } } thread t { bool y; y = f(); }");
    aw_to_aw(
        "shared bool x = *; proc f() : bool { choose { return true; } or { } } thread t { bool y; y = f(); }",
    );
    aw_to_bp("shared bool x = *; proc f() : bool { if (x) { return true; } } thread t { bool y; y = f(); }");
}

#[test]
fn the_published_benchmarks_can_be_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/bp");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no benchmarks at {}", folder.display());
        return;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "bp") {
            continue;
        }
        let Some(program) = crate::bp::parse(&std::fs::read(&path).unwrap()).program else { continue };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        read_bp(&bp(&program).unwrap_or_else(|refusal| panic!("{name}: {refusal:?}")));
        match name.as_str() {
            // It writes the variables of other threads.
            "test9.bp" => assert!(aw(&program).is_err()),
            _ => drop(read_aw(&aw(&program).unwrap_or_else(|refusal| panic!("{name}: {refusal:?}")))),
        }
    }
}

#[test]
fn the_corpus_can_be_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aw");
    let entries = std::fs::read_dir(&folder).into_iter().flatten();
    for path in entries.map(|entry| entry.unwrap().path()) {
        let Some(program) = crate::aw::parse(&std::fs::read(&path).unwrap()).program else { continue };
        if program.templates.iter().any(|template| template.vanishes) {
            continue;
        }
        let written = aw(&program).unwrap_or_else(|refusal| panic!("{}: {refusal:?}", path.display()));
        same(&program, &read_aw(&written), &path.display().to_string(), &written);
    }
}

#[test]
fn keywords_are_those_of_the_language() {
    let free = |word: &str| {
        crate::aw::parse(format!("shared bool {word}; thread t {{ }}").as_bytes()).program.is_some()
    };
    for word in crate::aw::KEYWORDS {
        assert!(!free(word), "{word}");
    }
    assert!(free("mains"));
}
