//! What is said about texts that are wrong, or that may mean something else.

use super::remarks;
use insta::assert_snapshot;

#[test]
fn several_mistakes_are_reported() {
    let text = "decl x\ndecl , y;
void main() begin
  x = 1;
  if x & then y := 0; fi;
  x := (y;
  goto;
  frobnicate;
  x, y := 1;
  z := x(1) + 2;
  7 skip;
  goto 8; fi; end_thread
  while y skip;
end extra
void g( begin end
bool<9999> h() begin end
bool<2> i() begin return 1; end";
    assert_snapshot!(remarks(text), @"
    1:7: warning: expected `;` after the declaration, found `decl` (read as if it were there)
    2:6: error: expected the name of a variable, found `,`
    4:5: error: expected `:=` or `(`, found `=` (`=` compares; `:=` assigns)
    5:10: error: expected an expression, found `then`
    5:15: error: `y` is not declared
    6:10: error: expected `)`, found `;`
    7:7: error: expected a label, found `;`
    8:13: error: expected `:=` or `(`, found `;`
    9:3: error: expected a value for each of 2 variables, found 1
    9:6: error: `y` is not declared
    10:13: error: expected `;` after the statement, found `+`
    11:5: error: expected `:` after the label, found `skip`
    12:8: error: `8` is no label of this function
    12:11: error: expected a statement or `end`, found `fi`
    12:25: warning: expected `;` after the statement, found `while` (read as if it were there)
    13:9: error: `y` is not declared
    14:5: error: expected a declaration such as `decl x;` or a function such as `void main()`, found `extra`
    15:9: error: expected a parameter, found `begin` (`begin` is a keyword)
    16:6: error: expected at most 1024 results, found `9999`
    17:19: error: expected 2 results, found 1
    ");
}

#[test]
fn a_missing_end_is_noticed_where_the_next_function_starts() {
    let text = "void main() begin skip;\nvoid f() begin if * then skip; end\nbool g() begin return 1;";
    assert_snapshot!(remarks(text), @"
    2:1: error: expected a statement or `end`, found `void`
    2:32: error: expected a statement, `elsif`, `else` or `fi`, found `end`
    3:25: error: expected a statement or `end`, found the end of the file
    ");
}

#[test]
fn names_must_mean_something() {
    let text = "decl x, x; decl if; decl T;
void f(a) begin decl a; y := x; x := 'x; goto nowhere; l: skip; l: goto l; end
void f() begin end
void main() begin f(); x := f(1); g(); x, x := 0, 1; return 1; dead f; create_thread(&f); create_thread(&h); end";
    assert_snapshot!(remarks(text), @"
    1:9: error: `x` is declared before
    1:17: error: expected the name of a variable, found `if` (`if` is a keyword)
    1:26: error: expected the name of a variable, found `T` (`T` is a keyword)
    2:22: error: `a` is declared before
    2:25: error: `y` is not declared
    2:39: error: `x` has a value afterwards only after `constrain`
    2:47: error: `nowhere` is no label of this function
    2:73: error: `l` stands at several statements
    3:6: error: `f` is defined before
    4:19: error: expected 1 argument, found 0
    4:24: error: expected 0 variables for 0 results, found 1
    4:35: error: `g` is no function
    4:43: error: `x` is assigned twice
    4:54: error: expected 0 results, found 1
    4:69: error: `f` is not declared
    4:87: error: `f` has parameters, so that no thread can start with it
    4:106: error: `h` is no function
    ");
}

#[test]
fn a_program_starts_in_main() {
    assert_snapshot!(remarks(""), @"1:1: error: expected a function `main`, found the end of the file");
    assert_snapshot!(remarks("void f() begin skip; end"), @"1:25: error: expected a function `main`, found the end of the file");
    assert_snapshot!(remarks("// nothing\n/* at all"), @"2:1: error: expected `*/` after this `/*`, found the end of the file");
}

#[test]
fn passive_copies_are_of_threads_that_run_the_function() {
    let text = "decl s; void main() begin decl x; f(); s$ := 0; x  := x$; x$ := f(); dead x$; x$ := 1; end
bool f() begin decl l; l$ := 0; start_thread goto e; e: skip; end";
    assert_snapshot!(remarks(text), @"
    1:40: error: `s$` is no variable (`x$` stands for the local variable `x` of the other threads; this one is shared)
    1:55: error: `x$` can be assigned, not read (it stands for the variables of all other threads, which may differ; what is assigned to `x$` may read it, and so may `constrain`)
    1:59: error: `x$` can only be assigned an expression
    1:75: error: `x$` can only be assigned an expression
    2:24: error: `l$` is of a function that threads call (threads have the variables of a function in common only if they start with it)
    2:33: error: a thread is started outside of the function that it should run (its variables could not be written by other threads with `$`)
    ");
    let text = "void main() begin f(); start_thread f(); end void f() begin decl l, m; l := 0 constrain 'm$ | l$; end";
    assert_snapshot!(remarks(text), @"
    1:90: error: `m$` is of a function that threads call (threads have the variables of a function in common only if they start with it)
    1:95: error: `l$` is of a function that threads call (threads have the variables of a function in common only if they start with it)
    ");
    let text = "void main() begin decl x; atomic_begin; sync e; atomic_end; x := 0; end";
    assert_snapshot!(remarks(text), @"1:41: error: expected the end of the atomic section before `sync` (`atomic_begin` leads here without an `atomic_end` in between)");
    let text = "void main() begin decl x; f(); x$ := 0; end void f() begin start_thread goto e; e: skip; end";
    assert_snapshot!(remarks(text), @"1:60: error: a thread is started outside of the function that it should run (its variables could not be written by other threads with `$`)");
}

#[test]
fn variables_of_each_thread_need_a_program_without_calls() {
    let text = "decl thread_local t; void main() begin f(); end void f() begin t := 1; end";
    assert_snapshot!(remarks(text), @"1:19: error: `t` belongs to each thread, which only a program without calls can express (pass it as a parameter, or declare it in each function that needs it)");
}

#[test]
fn atomic_sections_are_sequential_and_finite() {
    let text = "void main() begin
atomic_begin; wait; atomic_end;
wait;
atomic_begin; f(); atomic_end;
atomic_begin; if * then goto out; fi; atomic_end;
goto in; out: broadcast; in: start_thread goto in;
end
void f() begin atomic_end; g(); end
void g() begin create_thread(&h); if * then g(); fi; end
void h() begin skip; end";
    assert_snapshot!(remarks(text), @"
    2:15: error: expected the end of the atomic section before `wait` (`atomic_begin` leads here without an `atomic_end` in between)
    4:15: error: expected the end of the atomic section before a recursive call (`atomic_begin` leads here without an `atomic_end` in between)
    6:15: error: expected the end of the atomic section before `broadcast` (`atomic_begin` leads here without an `atomic_end` in between)
    6:30: error: expected the end of the atomic section before the start of a thread (`atomic_begin` leads here without an `atomic_end` in between)
    8:28: error: expected the end of the atomic section before a recursive call (`atomic_begin` leads here without an `atomic_end` in between)
    9:16: error: expected the end of the atomic section before the start of a thread (`atomic_begin` leads here without an `atomic_end` in between)
    9:45: error: expected the end of the atomic section before a recursive call (`atomic_begin` leads here without an `atomic_end` in between)
    ");
}

#[test]
fn operators_that_bind_differently_are_warned_of() {
    assert_snapshot!(remarks("decl a, b; void main() begin 0: a := a = b & a; end"), @"1:40: warning: expected brackets, found operators that bind differently in the two dialects (read as in IJIT, since the labels are integers; in SATABS it means something else)");
    assert_snapshot!(remarks("decl a, b; void main() begin l: a := (a ^ b | a) & b; end"), @"1:41: warning: expected brackets, found operators that bind differently in the two dialects (read as in SATABS, since the labels are not integers; in IJIT it means something else)");
    assert_snapshot!(remarks("decl a, b; void main() begin a := a & b | (a = b) & a => b; end"), @"");
}

#[test]
fn a_statement_that_ends_its_line_ends() {
    let text = "decl x\nvoid main() begin\n x := 1\n x := 0 skip\n end";
    assert_snapshot!(remarks(text), @"
    3:8: warning: expected `;` after the statement, found `x` (read as if it were there)
    4:9: error: expected `;` after the statement, found `skip`
    ");
}
