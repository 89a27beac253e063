//! Finite context reachability (CUBA, section 5): does a thread, running alone, reach finitely many configurations?
//!
//! If the configurations reachable from all stacks of at most one symbol are finitely many, then so are those reachable
//! from any one stack (Lemma 16); and if that holds for every thread, then every R_k is finite (Theorem 17). It is a
//! sufficient condition: a thread that fails it may still be unable to use its loop within a whole system.
//!
//! As in the paper, the test is whether the automaton that post* makes of those configurations has a cycle. Every node of
//! it can be reached from a control node and leads to the final one, so each cycle pumps stacks. A cycle passes only
//! through nodes made by push rules, since nothing enters a control node and the nodes of the starting set have no cycle.
//! What lies below ρ right after a rule pushed it and entered q can, by construction, be read after ρ at q: a node gives
//! away how to reach it, in one symbol.

use super::Poll;
use super::automaton::{Automaton, Node, NodeId};
use super::saturation::PostStar;
use allways_evidence::StopReason;
use allways_model::pushdown::{EMPTY, Pushdown, Shared, Stack, Symbol, ThreadRules};

/// Whether a thread reaches finitely many configurations within one context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fcr {
    /// From every finite set of configurations the thread alone reaches finitely many.
    Finite,
    /// It reaches infinitely many, for instance these.
    Infinite(Pump),
}

/// Infinitely many configurations that are reachable: `shared` with the stack prefix·cycleⁱ·suffix, for every i ≥ 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pump {
    /// The shared state.
    pub shared: Shared,
    /// The upper end of the stack, top first; one symbol.
    pub prefix: Vec<Symbol>,
    /// What can be repeated, top first; at least one symbol.
    pub cycle: Vec<Symbol>,
    /// The lower end of the stack, top first.
    pub suffix: Vec<Symbol>,
}

impl Pump {
    /// The stack in which the cycle is repeated so many times.
    pub fn stack(&self, times: usize) -> Stack {
        let parts = [&self.prefix[..], &self.cycle.repeat(times), &self.suffix];
        Stack::from_top(parts.concat())
    }
}

/// The heads of a thread's rules: the shared states and tops from which it can move at all. Enough to start from, since
/// every other configuration with at most one symbol reaches itself alone.
pub fn heads(rules: &ThreadRules) -> impl Iterator<Item = (Shared, Symbol)> {
    rules.iter().map(|&(shared, top, _)| (shared, top))
}

/// Whether a thread alone reaches finitely many configurations from these, each given by a shared state and the only
/// symbol of its stack ([`EMPTY`] for none).
///
/// For CUBA's condition, give all of them, or [`heads`]. To give only those heads that the whole system can reach, or
/// any superset of these, is sound as well, and sharper: the proof of Lemma 16 needs no others.
pub fn fcr(
    system: &dyn Pushdown,
    thread: usize,
    starts: impl IntoIterator<Item = (Shared, Symbol)>,
    poll: Poll,
) -> Result<Fcr, StopReason> {
    let mut automaton = Automaton::default();
    let bottom = automaton.node();
    automaton.end(bottom);
    for (shared, top) in starts {
        let control = automaton.control(shared);
        match top {
            EMPTY => automaton.end(control),
            symbol => automaton.read(control, symbol, bottom),
        }
    }
    PostStar::new(system, thread).run(&mut automaton, poll)?;
    Ok(on_a_cycle(&automaton).map_or(Fcr::Finite, |node| Fcr::Infinite(pump(&automaton, node))))
}

/// A node on a cycle, if there is one.
fn on_a_cycle(automaton: &Automaton) -> Option<NodeId> {
    let mut leaving = vec![0u32; automaton.nodes().len()];
    let mut entering: Vec<Vec<NodeId>> = vec![Vec::new(); automaton.nodes().len()];
    for edge in automaton.transitions() {
        leaving[edge.from as usize] += 1;
        entering[edge.to as usize].push(edge.from);
    }
    // Remove nodes that no transition leaves, as long as there are any. Of the others each has a successor that stays.
    let mut free: Vec<NodeId> =
        (0..).zip(&leaving).filter(|(_, left)| **left == 0).map(|(node, _)| node).collect();
    while let Some(node) = free.pop() {
        for &from in &entering[node as usize] {
            leaving[from as usize] -= 1;
            if leaving[from as usize] == 0 {
                free.push(from);
            }
        }
    }
    let mut node = (0..).zip(&leaving).find(|(_, left)| **left > 0)?.0;
    let mut seen = vec![false; leaving.len()];
    while !std::mem::replace(&mut seen[node as usize], true) {
        let stays = |to: &NodeId| leaving[*to as usize] > 0;
        node = automaton.leaving(node).map(|edge| edge.to).find(stays)?;
    }
    Some(node)
}

/// What can be pumped at a node on a cycle.
fn pump(automaton: &Automaton, node: NodeId) -> Pump {
    let Node::Below(shared, pushed) = automaton.nodes()[node as usize] else {
        unreachable!("cycles pass through nodes made by push rules only")
    };
    let mut suffix = shortest(automaton, node, Automaton::FINAL);
    suffix.pop_if(|symbol| *symbol == EMPTY);
    Pump { shared, prefix: vec![pushed], cycle: shortest(automaton, node, node), suffix }
}

/// The symbols read on a shortest path of at least one transition, which must exist.
fn shortest(automaton: &Automaton, from: NodeId, to: NodeId) -> Vec<Symbol> {
    let mut read_from: Vec<Option<(NodeId, Symbol)>> = vec![None; automaton.nodes().len()];
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(node) = queue.pop_front().filter(|_| read_from[to as usize].is_none()) {
        for edge in automaton.leaving(node) {
            if read_from[edge.to as usize].is_none() {
                read_from[edge.to as usize] = Some((node, edge.symbol));
                queue.push_back(edge.to);
            }
        }
    }
    let mut symbols = Vec::new();
    let mut at = to;
    while let Some((node, symbol)) = read_from[at as usize] {
        symbols.push(symbol);
        at = node;
        if at == from {
            break;
        }
    }
    symbols.reverse();
    symbols
}
