//! Every program with a bug: found, explained with the fewest delays, reproduced.

#[path = "../programs/portable/mod.rs"]
mod portable;
use shuttle as rt;
#[path = "../programs/shuttle_only/mod.rs"]
mod shuttle_only;

#[test]
fn all() {
    for (name, test) in portable::PROGRAMS.into_iter().chain(shuttle_only::PROGRAMS) {
        let r = allways_test::Check::new().explore(test);
        println!("== {name}: {r}");
    }
}
