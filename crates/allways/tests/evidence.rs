//! Evidence that `check` writes is accepted by `certify`, and nothing else is.

mod common;

use allways_evidence::text::VERSION;
use common::{allways, corpus, file, folder};
use std::fs;

#[test]
fn what_check_writes_is_accepted() {
    let folder = folder("accepted");
    for (name, code, kind) in
        [("lock-recursive", 0, "invariant"), ("lock-racy", 10, "trace"), ("cuba-figure-1", 10, "trace")]
    {
        for engine in ["auto", "druba", "ai"] {
            let evidence = folder.join(format!("{name}-{engine}"));
            let evidence = evidence.display();
            let run = allways(&format!("check {name}.pds --engine {engine} --evidence {evidence}"));
            assert_eq!(run.code, code, "{run:?}");
            let text = fs::read_to_string(evidence.to_string()).expect("written");
            assert!(text.starts_with(&format!("allways {kind} {VERSION}\n")), "{text}");
            let run = allways(&format!("certify {name}.pds {evidence}"));
            assert_eq!(run.code, 0, "{run:?}");
            assert!(run.out.starts_with("accepted: "), "{run:?}");
            let object = allways(&format!("certify {name}.pds {evidence} --json")).json();
            assert_eq!((&object["verdict"], &object["kind"]), (&"accepted".into(), &kind.into()));
        }
    }
    let reached = folder.join("reached");
    assert_eq!(allways(&format!("reach druba-example-8.pds --evidence {}", reached.display())).code, 0);
    let run = allways(&format!("certify druba-example-8.pds {}", reached.display()));
    assert_eq!((run.code, run.verdict().ends_with("never leaves 3 visible states")), (0, true), "{run:?}");
    let unknown = folder.join("unknown");
    let run =
        allways(&format!("check lock-recursive.pds --rounds 1 --delays 0 --evidence {}", unknown.display()));
    assert!(run.code == 5 && !unknown.exists() && run.err.contains("no evidence"), "{run:?}");
}

#[test]
fn deadlocks_are_certified_as_such() {
    let folder = folder("deadlocks");
    for (name, claim) in
        [("locks-crossed", "reaches the deadlock 3|1,1"), ("locks-in-order", "never reaches a deadlock")]
    {
        let evidence = folder.join(name).display().to_string();
        allways(&format!("check {name}.pds --deadlock --target 2|-,- --evidence {evidence}"));
        let run = allways(&format!("certify {name}.pds {evidence} --deadlock --target 2|-,-"));
        let claim = claim.replace("reaches a ", "reaches 2|-,- or a ");
        assert!(run.code == 0 && run.verdict().ends_with(&claim), "{run:?}");
    }
    let trace = folder.join("locks-crossed").display().to_string();
    let run = allways(&format!("replay locks-crossed.pds {trace} --deadlock"));
    assert_eq!(
        run.out.lines().next(),
        Some("accepted: locks-crossed.pds reaches the deadlock 3|1,1 in 2 steps")
    );
    assert_eq!(
        allways(&format!("certify locks-crossed.pds {trace}")).code,
        20,
        "no state to avoid is reached"
    );
    assert_eq!(allways(&format!("certify locks-crossed.pds {trace} --no-target --deadlock")).code, 2);
}

#[test]
fn corrupted_evidence_is_rejected() {
    let folder = folder("corrupted");
    let write = |name: &str| {
        let path = folder.join(name);
        allways(&format!("check {name}.pds --evidence {}", path.display()));
        fs::read_to_string(path).expect("written")
    };
    let trace = write("lock-racy");
    let invariant = write("lock-recursive");
    let drop_line = |text: &str, start: &str| -> String {
        let dropped = text.lines().position(|line| line.starts_with(start)).expect("such a line");
        text.lines()
            .enumerate()
            .filter(|(index, _)| *index != dropped)
            .map(|(_, line)| format!("{line}\n"))
            .collect()
    };
    let states = |text: &str| text.lines().filter(|line| line.starts_with("state ")).count();
    let all = states(&invariant);
    let recount =
        |text: String, count: usize| text.replace(&format!("end {all}\n"), &format!("end {count}\n"));
    let cases = [
        ("lock-racy", drop_line(&trace, "step "), "line "),
        ("lock-racy", trace.replace("state 0|0,0", "state 0|1,0"), "step 0"),
        ("lock-racy", drop_line(&trace, "step ").replace("end 4", "end 3"), "step 1"),
        ("lock-racy", trace.replace(" 1|2,2\n", " 1|2,1\n"), "step 4"),
        ("lock-racy", drop_line(&trace, "end "), "line "),
        ("lock-recursive", drop_line(&invariant, "state "), "line "),
        ("lock-recursive", recount(drop_line(&invariant, "state "), all - 1), "missing"),
        ("lock-recursive", recount(invariant.replace("end ", "state 1|2,2\nend "), all + 1), "violates"),
        ("lock-recursive", drop_line(&invariant, "below "), "lacks"),
        ("lock-recursive", invariant.replace("window 1", "window 0"), "line "),
    ];
    for (index, (system, text, failing)) in cases.into_iter().enumerate() {
        let path = file(&folder, &format!("case-{index}"), &text);
        let run = allways(&format!("certify {system}.pds {path}"));
        assert_eq!(run.code, 20, "case {index}: {text}\n{run:?}");
        assert!(run.out.starts_with("rejected: ") && run.out.contains(failing), "case {index}: {run:?}");
        if system == "lock-racy" {
            assert_eq!(allways(&format!("replay {system}.pds {path}")).code, 20, "case {index}");
        }
    }
}

#[test]
fn evidence_for_something_else() {
    let folder = folder("else");
    let proof = folder.join("proof");
    let proof = proof.display();
    assert_eq!(allways(&format!("check lock-recursive.pds --evidence {proof}")).code, 0);
    assert_eq!(
        allways(&format!("certify lock-recursive.pds {proof} --target 1|4,0")).code,
        20,
        "another property"
    );
    assert_eq!(allways(&format!("certify lock-racy.pds {proof}")).code, 20, "another system");
    assert_eq!(
        allways(&format!("certify lock-recursive.pds {proof} --init 1|0,0")).code,
        20,
        "another start"
    );
    let garbage = file(&folder, "garbage", "hello\n");
    for arguments in ["nowhere", ".", &garbage] {
        assert_eq!(allways(&format!("certify lock-recursive.pds {arguments}")).code, 2, "{arguments}");
        assert_eq!(allways(&format!("replay lock-recursive.pds {arguments}")).code, 2, "{arguments}");
    }
    let run = allways(&format!("replay lock-recursive.pds {proof}"));
    assert!(run.code == 2 && run.err.contains("allways certify"), "{run:?}");
}

#[test]
fn replay_prints_every_step() {
    let folder = folder("replay");
    let trace = folder.join("trace");
    let trace = trace.display();
    assert_eq!(allways(&format!("check lock-racy.pds --evidence {trace}")).code, 10);
    let run = allways(&format!("replay lock-racy.pds {trace}"));
    assert_eq!((run.code, run.verdict()), (0, "accepted: lock-racy.pds reaches 1|2,2 in 4 steps"));
    let checked = allways("check lock-racy.pds").out;
    let rows = |text: &str| text.lines().skip(1).map(str::to_string).collect::<Vec<_>>();
    assert_eq!(rows(&run.out), rows(&checked));

    let other = folder.join("other.pds");
    fs::copy(corpus().join("lock-racy.pds"), &other).expect("a copy");
    let run = allways(&format!("replay {} {trace} --init 0|0,0", other.display()));
    assert_eq!(run.code, 0, "without a property, only the steps are checked: {run:?}");
    let run = allways(&format!("certify {} {trace} --init 0|0,0", other.display()));
    assert!(run.code == 2 && run.err.contains("--target"), "{run:?}");
}
