//! Graphs of states and of control flow.

mod browser;
mod common;

use browser::{Looked, browser};
use common::{Run, allways, command, file, folder};
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
fn a_graph_has_a_limit() {
    let folder = folder("graph-limit");
    // 10,000 shared states, and as many locations, one after the other.
    let many = file(
        &folder,
        "many.aw",
        "shared 0..9999 x;\nthread p { loop { x = (x + 1) % 10000; } }\nnever x == 9000;\n",
    );
    for options in ["--max-states 50", "--max-states 50 --of abstract"] {
        let run = allways(&format!("graph {options} {many}"));
        // The path to the bad state is drawn whole, the rest is one box: there is none beyond the bad state.
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.out.contains("there are more"), "5,000 states are looked at: {:.300}", run.out);
        assert!(nodes(&run.out) <= 51, "{}", nodes(&run.out));
    }
    let long =
        file(&folder, "long.aw", format!("shared bool x;\nthread p {{\n{}}}\n", "  x = !x;\n".repeat(1000)));
    let control = allways(&format!("graph --of control {long} --max-states 50"));
    assert!(nodes(&control.out) <= 51 && control.out.contains("more"), "{:.300}", control.out);
}

/// Of a recursive program, or of rules, the states are infinite, and the abstract ones finite.
#[test]
fn abstract_states_are_the_tops_of_stacks() {
    for entry in fs::read_dir(common::corpus()).expect("the corpus") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|ending| ending != "pds") {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
        let visible =
            text.lines().find_map(|line| line.strip_prefix("#! visible ")?.trim().parse::<usize>().ok());
        let Some(visible) = visible.filter(|visible| *visible <= 500) else { continue };
        let run =
            Run::of(command("graph --of abstract --max-states 5000").arg(&path).output().expect("it starts"));
        assert_eq!(run.code, 0, "{run:?}");
        // Every visible state is there.
        assert!(
            nodes(&run.out) >= visible && !run.out.contains("there are more"),
            "{}: {:.300}",
            path.display(),
            run.out
        );
        assert!(run.out.contains("abstract state"), "{:.300}", run.out);
    }
    let deep = allways("graph --of abstract ../aw/lock-recursive.aw");
    assert!(deep.code == 0 && !deep.out.contains("there are more") && nodes(&deep.out) > 3, "{deep:?}");
    // Without stacks, nothing is lost.
    for name in ["peterson.aw", "peterson-wrong.aw", "philosophers.aw"] {
        let [states, tops] =
            ["states", "abstract"].map(|of| allways(&format!("graph --of {of} ../aw/{name}")));
        assert_eq!(nodes(&states.out), nodes(&tops.out), "{name}");
    }
}

/// In a real browser, with the fonts that are there: no text overlaps another one, or a box that is not its own, and none sticks out.
#[test]
fn nothing_overlaps_in_a_picture() {
    let Some(browser) = browser("graph") else { return };
    let folder = folder("graph-overlaps");
    for (index, arguments) in [
        "graph ../aw/peterson.aw",
        "graph ../aw/peterson-wrong.aw",
        "graph --deadlock ../aw/philosophers.aw",
        "graph --of abstract ../aw/lock-recursive.aw",
        "graph --of control ../aw/lock-recursive.aw",
        "graph --max-states 5 ../aw/peterson.aw",
        "graph --of control ../aw/two-phase-commit.aw",
        "graph lock-racy.pds",
        "graph --of abstract lock-recursive.pds",
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.join(format!("{index}.svg"));
        let run = Run::of(command(arguments).arg("-o").arg(&path).output().expect("it starts"));
        assert_eq!(run.code, 0, "{arguments}: {run:?}");
        let page = Looked::at(&browser, &format!("file://{}", path.display()));
        let overlaps = page.value(include_str!("browser/overlaps.js"));
        assert_eq!(overlaps, serde_json::json!([]), "{arguments}");
    }
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
