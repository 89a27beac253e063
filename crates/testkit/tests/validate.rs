//! What the front ends make of texts is well formed, and programs that were damaged are not.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs of each kind.

use allways_lang::{aw, bp};
use allways_model::program::{EventId, Expr, LocationId, Op, ProcedureId, Program, Target, TemplateId, Type};
use allways_testkit::programs::{Mode, boolean, crowd, labels, posting, starts, terse, text};
use allways_testkit::{corpus, random};

/// A program with all that programs have.
const ALL: &str = "
const N = 2;
shared 0..N x; shared bool b = *; shared int a[3]; lock m[2]; lock n; event e;
proc f(int p, bool q) : 0..2 { if (q) { return x; } return p % 2; }
proc g() { a[x] = a[x + 1 - 1] + 1; }
thread t[2] {
  int i = 3; bool c[2];
  atomic { x = self; b = c[i - 3]; }
  acquire(m[self]); l: x = f(i, b); release(m[self]);
  acquire(n); release(n); g();
  wait e; assert b == (x < 2 ? c[1] : b);
  spawn s;
}
thread s[0] { broadcast e; }
never at(l) > 1 && x == 1 && a[0] != 0;
predicate i == other.i;
";

const BOOLEAN: &str =
    "decl g, h; void main() begin decl l; l, l$ := g, h constrain ('l | !'g); start_thread goto e;
e: wait; broadcast; end";

fn parsed(text: &str) -> Program {
    aw::parse(text.as_bytes())
        .program
        .unwrap_or_else(|| panic!("{:?}", aw::parse(text.as_bytes()).diagnostics))
}

#[track_caller]
fn sound(name: &str, program: Option<Program>) {
    let Some(program) = program else { return };
    assert_eq!(program.validate(), Ok(()), "{name}");
}

#[test]
fn what_the_front_ends_make_of_random_texts_is_well_formed() {
    for seed in random::seeds(300) {
        for text in [
            text(seed, Mode::Threads),
            text(seed, Mode::Boolean),
            text(seed, Mode::Tasks),
            labels(seed).0,
            starts(seed),
            posting(seed),
            terse(seed),
            crowd(seed),
        ] {
            sound(&text, aw::parse(text.as_bytes()).program);
        }
        let text = boolean(seed);
        sound(&text, bp::parse(text.as_bytes()).program);
    }
}

#[test]
fn the_programs_of_the_corpus_are_well_formed() {
    let mut programs = 0;
    for file in std::fs::read_dir(corpus::folder().join("../aw")).expect("a folder") {
        let path = file.expect("a file").path();
        let text = std::fs::read(&path).expect("a text");
        let program = match path.extension().and_then(|end| end.to_str()) {
            Some("aw") => aw::parse(&text).program,
            Some("bp") => bp::parse(&text).program,
            _ => continue,
        };
        programs += usize::from(program.is_some());
        sound(&path.display().to_string(), program);
    }
    assert!(programs > 50, "{programs}");
}

/// Damages a program at the first place where the function finds something to damage, and expects a complaint.
#[track_caller]
fn refused(text: &str, damage: impl Fn(&mut Program) -> bool) {
    let mut program = match text == BOOLEAN {
        true => bp::parse(text.as_bytes()).program.expect("a program"),
        false => parsed(text),
    };
    assert_eq!(program.validate(), Ok(()));
    assert!(damage(&mut program), "there is nothing to damage");
    let found = program.validate();
    assert!(found.is_err(), "not noticed");
    assert!(!found.expect_err("an error").what.is_empty());
}

/// Damages the first step for which the function does.
fn step(damage: impl Fn(&mut Op) -> bool) -> impl Fn(&mut Program) -> bool {
    move |program| {
        let mut steps = program.locations.iter_mut().flat_map(|location| &mut location.edges);
        steps.any(|edge| damage(&mut edge.op))
    }
}

/// Damages the first step of this kind.
macro_rules! damaged {
    ($step:pat => $damage:expr) => {
        step(|op| {
            let $step = op else { return false };
            $damage;
            true
        })
    };
}

#[test]
fn numbers_of_nothing_are_noticed() {
    refused(ALL, |program| {
        program.locations[0].edges[0].to = LocationId(usize::MAX);
        true
    });
    refused(ALL, |program| {
        let last = program.locations.len() - 1;
        program.locations[0].edges[0].to = LocationId(last);
        true
    });
    refused(ALL, |program| {
        program.locations[0].procedure = ProcedureId(program.procedures.len());
        true
    });
    refused(ALL, |program| {
        program.procedures[0].entry = program.procedures[1].entry;
        true
    });
    refused(ALL, |program| {
        program.templates[0].body = ProcedureId(program.procedures.len());
        true
    });
    refused(ALL, |program| {
        program.templates[0].body = program.templates[1].body;
        true
    });
    refused(ALL, |program| {
        program.templates[0].body = ProcedureId(0);
        true
    });
    refused(ALL, |program| {
        program.labels[0].location = LocationId(program.locations.len());
        true
    });
    refused(ALL, |program| {
        program.shared[1].slot += 1;
        true
    });
    refused(ALL, |program| program.events.pop().is_some());
    refused(ALL, |program| {
        program.never[0].expr = Expr::At(vec![LocationId(program.locations.len())]);
        true
    });
    refused(ALL, damaged!(Op::Call(callee, ..) => *callee = ProcedureId(99)));
    refused(ALL, damaged!(Op::Spawn(template, _) => *template = TemplateId(99)));
    refused(ALL, damaged!(Op::Broadcast(event) => *event = EventId(99)));
    refused(ALL, damaged!(Op::Acquire(lock) => lock.slot = 0));
    refused(BOOLEAN, damaged!(Op::Fork(start) => *start = LocationId(99)));
}

#[test]
fn values_and_types_that_do_not_fit_are_noticed() {
    refused(ALL, |program| {
        program.shared[0].initial[0] = Some(7);
        true
    });
    refused(ALL, |program| program.shared[2].initial.pop().is_some());
    refused(ALL, |program| {
        program.shared[2].initial[0] = None;
        true
    });
    refused(ALL, |program| {
        program.shared[3].initial[0] = Some(1);
        true
    });
    refused(ALL, |program| {
        program.shared[0].ty = Type::Range(2, 1);
        true
    });
    refused(ALL, |program| {
        program.shared[0].ty = Type::Bool;
        true
    });
    refused(ALL, |program| {
        program.procedures[0].results.clear();
        true
    });
    refused(ALL, |program| {
        program.procedures[0].parameters = 1;
        true
    });
    refused(ALL, |program| {
        program.templates.iter_mut().for_each(|template| template.uses_self = false);
        true
    });
    refused(ALL, |program| {
        program.templates.iter_mut().for_each(|template| template.spawned = false);
        true
    });
    refused(BOOLEAN, |program| {
        program.procedures[0].locals[0].mixed = false;
        true
    });
    refused(ALL, |program| {
        program.never[0].expr = Expr::Local(0);
        true
    });
    let wrong = [
        Expr::At(vec![LocationId(0)]),
        Expr::OtherLocal(0),
        Expr::NextOtherLocal(0),
        Expr::NextShared(0),
        Expr::NextLocal(0),
        Expr::Shared(99),
        Expr::Local(99),
        Expr::Constant(2),
        Expr::Choose(3, 2),
    ];
    for wrong in wrong {
        refused(ALL, damaged!(Op::Assert(expr) => *expr = wrong.clone()));
    }
    refused(ALL, damaged!(Op::Assign(places, ..) => places.clear()));
    refused(
        ALL,
        step(|op| match op {
            Op::Assign(places, ..) => places.iter_mut().any(|place| match &mut place.target {
                Target::SharedElement(_, length, _) => {
                    *length += 1;
                    true
                }
                _ => false,
            }),
            _ => false,
        }),
    );
}

#[test]
fn what_stands_where_it_should_not_is_noticed() {
    // A wait stands alone, and a return leads nowhere.
    refused(ALL, |program| {
        let waits = program
            .locations
            .iter_mut()
            .find(|location| matches!(location.edges[..], [ref edge] if matches!(edge.op, Op::Wait(_))));
        waits.is_some_and(|location| {
            let twice = location.edges[0].clone();
            location.edges.push(twice);
            true
        })
    });
    refused(ALL, |program| {
        let (first, second) = (program.procedures[0].entry, LocationId(program.locations.len()));
        let mut edges = program.locations.iter_mut().flat_map(|location| &mut location.edges);
        edges.any(|edge| matches!(edge.op, Op::Return(_)) && std::mem::replace(&mut edge.to, first) < second)
    });
    refused(ALL, |program| {
        program.locations[0].span.start = program.locations[0].span.end + 1;
        true
    });
}
