//! Graphs of states and of control flow.

mod common;

use common::{Run, allways, command, folder};
use std::fs;

fn nodes(dot: &str) -> usize {
    dot.lines()
        .filter(|line| line.trim_start().starts_with('n') && line.contains("[label=") && !line.contains("->"))
        .count()
}

#[test]
fn every_state_is_a_node() {
    for entry in fs::read_dir(common::corpus()).expect("the corpus") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|ending| ending != "pds") {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
        let states =
            text.lines().find_map(|line| line.strip_prefix("#! concrete ")?.trim().parse::<usize>().ok());
        let Some(states) = states.filter(|states| *states <= 500) else { continue };
        let run = Run::of(command("graph --max-states 500").arg(&path).output().expect("it starts"));
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(nodes(&run.out), states, "{}", path.display());
    }
}

#[test]
fn the_shortest_path_to_a_bad_state_is_marked() {
    let bad = allways("graph ../aw/peterson-wrong.aw");
    assert!(bad.out.contains("color=red, peripheries=2"), "{bad:?}");
    let marked = bad.out.lines().filter(|line| line.contains("->") && line.contains("color=red")).count();
    let steps = allways("check --json ../aw/peterson-wrong.aw").json()["steps"].as_u64().expect("a number");
    assert!(marked > 0 && marked as u64 <= steps, "{marked} of {steps}");
    let good = allways("graph ../aw/peterson.aw");
    assert!(good.code == 0 && !good.out.contains("red"), "{good:?}");
    let stuck = allways("graph --deadlock ../aw/philosophers.aw");
    assert!(stuck.out.contains("peripheries=2"), "{stuck:?}");
}

#[test]
fn many_states_are_drawn_together() {
    let run = allways("graph --max-states 5 ../aw/peterson.aw");
    // The two flags and the turn have at most eight values together.
    assert!((2..=8).contains(&nodes(&run.out)), "{run:?}");
    assert!(run.out.contains("those with the same shared state together"), "{run:?}");
    let deep = allways("graph --max-states 2 --timeout 5s lock-recursive.pds");
    assert!(deep.code == 0 && deep.out.contains("there are more"), "{deep:?}");
}

#[test]
fn control_flow_and_pictures() {
    let control = allways("graph --of control ../aw/lock-recursive.aw");
    assert!(control.out.contains("work: line"), "{control:?}");
    let path = folder("graph").join("states.svg");
    let run = Run::of(command("graph ../aw/peterson-wrong.aw -o").arg(&path).output().expect("it starts"));
    assert_eq!(run.code, 0, "{run:?}");
    let svg = fs::read_to_string(&path).expect("a picture");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg:.200}");
    assert!(svg.contains("class=\"node marked bad\""), "{svg}");
    for arguments in
        ["graph ../counters/msi.spec", "graph --of control lock-racy.pds", "graph no-such-file.aw"]
    {
        assert_eq!(allways(arguments).code, 2, "{arguments}");
    }
}
