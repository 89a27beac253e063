//! Circuits as asynchronous programs (DBS, Theorem 1): the program goes wrong if and only if the circuit is satisfiable.
//!
//! A wire is set by a task of its own, into one of two registers. A gate is a task that runs only when its two input wires
//! are in the registers; so the schedule evaluates the circuit gate by gate. In the paper, an input chooses a value for each
//! of its two wires anew; here it chooses one for both, since otherwise more than the satisfiable circuits would be found.

use fastrand::Rng;
use std::fmt::Write;

/// A circuit. Source i, an input or a gate, has the wires 2i and 2i + 1; the inputs come first.
#[derive(Clone, Debug)]
pub struct Circuit {
    inputs: usize,
    /// The wires that each gate reads, no wire twice, and its function: bit 2a + b is the result for a and b.
    gates: Vec<(usize, usize, u8)>,
}

impl Circuit {
    /// The circuit of this number.
    pub fn random(seed: u64, inputs: usize, gates: usize) -> Circuit {
        let mut rng = Rng::with_seed(seed);
        let mut free: Vec<usize> = (0..2 * inputs).collect();
        let mut circuit = Circuit { inputs, gates: Vec::new() };
        for gate in 0..gates {
            let (left, right) = (take(&mut free, &mut rng), take(&mut free, &mut rng));
            circuit.gates.push((left, right, rng.u8(0..16)));
            free.extend([2 * (inputs + gate), 2 * (inputs + gate) + 1]);
        }
        circuit
    }

    /// Whether some inputs make the last gate true.
    pub fn satisfiable(&self) -> bool {
        (0..1_u32 << self.inputs).any(|values| {
            let mut sources: Vec<bool> = (0..self.inputs).map(|input| values >> input & 1 == 1).collect();
            for &(left, right, function) in &self.gates {
                let index = 2 * u8::from(sources[left / 2]) + u8::from(sources[right / 2]);
                sources.push(function >> index & 1 == 1);
            }
            sources.last() == Some(&true)
        })
    }

    /// The program.
    pub fn text(&self) -> String {
        let last = self.inputs + self.gates.len() - 1;
        let mut text = format!("const WIRES = {};\n", 2 * last + 1);
        text += "shared 0..WIRES one_wire, two_wire;\nshared bool one, one_is, two, two_is;\nmain {\n";
        (0..self.inputs).for_each(|input| line(&mut text, format_args!("  post input{input}();")));
        (0..self.gates.len()).for_each(|gate| line(&mut text, format_args!("  post gate{gate}();")));
        text += "}\ntask set(0..WIRES wire, bool value) {\n  choose { one_wire, one, one_is = wire, true, value; }\n";
        text += "  or { two_wire, two, two_is = wire, true, value; }\n}\n";
        for input in 0..self.inputs {
            line(&mut text, format_args!("task input{input}() {{\n  bool value = *;"));
            posts(&mut text, input);
        }
        for (gate, &(left, right, function)) in self.gates.iter().enumerate() {
            line(&mut text, format_args!("task gate{gate}() {{\n  bool value;"));
            let here = format!("one && one_wire == {left} && two && two_wire == {right}");
            let case = |index: u8| if function >> index & 1 == 1 { "true" } else { "false" };
            let result = format!(
                "one_is ? (two_is ? {} : {}) : (two_is ? {} : {})",
                case(3),
                case(2),
                case(1),
                case(0)
            );
            line(&mut text, format_args!("  assume {here};\n  value, one, two = {result}, false, false;"));
            posts(&mut text, self.inputs + gate);
        }
        line(&mut text, format_args!("never one && one_wire == {} && one_is;", 2 * last));
        text
    }
}

fn take(free: &mut Vec<usize>, rng: &mut Rng) -> usize {
    let at = rng.usize(0..free.len());
    free.swap_remove(at)
}

/// Sets both wires of a source, and ends the task.
fn posts(text: &mut String, source: usize) {
    let (first, second) = (2 * source, 2 * source + 1);
    line(text, format_args!("  post set({first}, value);\n  post set({second}, value);\n}}"));
}

fn line(text: &mut String, written: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{written}");
}
