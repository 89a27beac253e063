//! How many executions it takes to find a bug, by what is bounded: a table like section 4 of DBS.
//!
//! `cargo run --release -p allways-testkit --example delays`

use allways_engines::Budget;
use allways_engines::below::schedules::{
    Asynchronous, Bounding, Contexts, Delays, Depth, DepthFirst, Preemptions, RoundRobin, executions, explore,
};
use allways_lang::aw;

/// The most executions of one search.
const MOST: usize = 200_000;

/// The longest execution.
const STEPS: usize = 400;

fn main() {
    println!("executions (bound), then configurations, to the first bug\n");
    let boundings = ["round robin", "depth first", "preemptions", "contexts", "dispatches"];
    println!("{:26}{}", "", boundings.map(|name| format!("{name:>14}")).concat());
    for (name, text) in programs() {
        let parsed = aw::parse(text.as_bytes());
        let Some(program) = parsed.program else { panic!("{name}\n{text}\n{:?}", parsed.diagnostics) };
        let Some(program) = Asynchronous::new(&program) else { panic!("{name} has no tasks") };
        let columns = [
            column(&program, &Delays(RoundRobin)),
            column(&program, &Delays(DepthFirst)),
            column(&program, &Preemptions),
            column(&program, &Contexts),
            column(&program, &Depth),
        ];
        for (row, name) in [(0, name.as_str()), (1, "")] {
            let mut line = format!("{name:26}");
            columns.iter().for_each(|column| line += &format!("{:>14}", column[row]));
            println!("{}", line.trim_end());
        }
    }
}

fn column<B: Bounding>(program: &Asynchronous<'_>, bounding: &B) -> [String; 2] {
    let run = executions(program, bounding, STEPS, MOST);
    let explored = explore(program, bounding, None, &Budget::unlimited());
    let configurations = explored.levels.last().copied().unwrap_or_default();
    let executions = match run.wrong {
        true => format!("{} ({})", run.count, run.bound),
        false => format!(">{} ({})", run.count, run.bound),
    };
    [executions, configurations.to_string()]
}

/// Programs with a bug, and with more and more tasks that have nothing to do with it.
fn programs() -> Vec<(String, String)> {
    let mut programs = Vec::new();
    for bystanders in [0, 2, 4, 6] {
        programs.push((format!("lost update, {bystanders} beside"), lost_update(bystanders)));
    }
    for bystanders in [0, 2, 4] {
        programs.push((format!("late start, {bystanders} beside"), late_start(bystanders)));
    }
    for depth in [2, 4, 6] {
        programs.push((format!("chain of {depth} posts"), chain(depth)));
    }
    for waiting in [2, 3, 4] {
        programs.push((format!("shutdown, {waiting} requests"), shutdown(waiting)));
    }
    programs
}

fn beside(count: usize) -> String {
    "  post beside();\n".repeat(count)
}

const BESIDE: &str = "task beside() {\n  done = (done + 1) % 8;\n  yield;\n  done = (done + 1) % 8;\n}\n";

/// Two tasks add to a counter, each in two steps.
fn lost_update(bystanders: usize) -> String {
    format!(
        "shared int x;\nshared 0..7 done;\nshared 0..2 over;\n\
         main {{\n{}  post add();\n  post add();\n}}\n\
         task add() {{\n  int old = x;\n  yield;\n  x = old + 1;\n  yield;\n  over = over + 1;\n  assert over < 2 || x == 2;\n}}\n{BESIDE}",
        beside(bystanders)
    )
}

/// A task relies on another one, posted later, not to have run.
fn late_start(bystanders: usize) -> String {
    format!(
        "shared bool ready, used;\nshared 0..7 done;\n\
         main {{\n  post start();\n{}  post user();\n}}\n\
         task start() {{\n  yield;\n  assert !used;\n  ready = true;\n}}\n\
         task user() {{\n  used = true;\n}}\n{BESIDE}",
        beside(bystanders)
    )
}

/// The race is between the last of a chain of tasks and the first.
fn chain(depth: usize) -> String {
    format!(
        "shared int x;\n\
         main {{\n  post link({depth});\n  post first();\n}}\n\
         task link(int left) {{\n  if (left > 0) {{ post link(left - 1); }} else {{ x = 1; }}\n}}\n\
         task first() {{\n  int old = x;\n  yield;\n  assert x == old;\n}}\n"
    )
}

/// Requests are served in two steps; a shutdown in between leaves one half done.
fn shutdown(requests: usize) -> String {
    format!(
        "shared bool open = true;\nshared int served;\n\
         main {{\n{}  post close();\n}}\n\
         task request() {{\n  if (open) {{\n    yield;\n    assert open;\n    served = served + 1;\n  }}\n}}\n\
         task close() {{\n  await served > 0;\n  open = false;\n}}\n",
        "  post request();\n".repeat(requests)
    )
}
