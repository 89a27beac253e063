//! Programs with more and more variables, of which always the same few states are reached.
//!
//! Every thread copies v shared Booleans into v of its own and writes back the opposite, each in one step, so all of them are
//! equal at all times. The property compares each with its neighbour: no variable can be left out, and there are 2^(2v)
//! thread states that could be written down.

/// The text of the `.aw` program with `variables` shared Booleans and as many local ones, for any number of threads, of which
/// two at a time are inside. The wrong one says that only one is.
pub fn variables(variables: usize, wrong: bool) -> String {
    assert!(variables >= 2, "neighbours to compare");
    let list = |item: &dyn Fn(usize) -> String| (0..variables).map(item).collect::<Vec<_>>().join(", ");
    let (shared, local) = (list(&|i| format!("x{i}")), list(&|i| format!("l{i}")));
    let opposite = list(&|i| format!("!l{i}"));
    let cleared = list(&|_| "false".to_string());
    let differ = |name: &str| {
        let pairs = (1..variables).map(|i| format!("{name}{} != {name}{i}", i - 1));
        pairs.collect::<Vec<_>>().join(" || ")
    };
    let too_many = if wrong { 2 } else { 3 };
    format!(
        "shared bool {shared};
shared 0..2 inside;

thread t[*] {{
  bool {local};
  loop {{
    atomic {{ await inside < 2; inside = inside + 1; }}
    {local} = {shared};
    copied: assert !({locals_differ});
    {shared} = {opposite};
    {local} = {cleared};
    inside = inside - 1;
  }}
}}

never at(copied) >= {too_many} || {shared_differ};
",
        locals_differ = differ("l"),
        shared_differ = differ("x"),
    )
}
