//! Small random programs of one thread with labels everywhere, and a naive reading of what can be seen of them.
//!
//! The reading takes the tree of statements as it stands: control is before a statement, and what the
//! language (`docs/language.md`) says about steps and labels is looked up in the tree each time. It knows
//! nothing of points and locations, which is what the front end makes of the same text.

use fastrand::Rng;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

/// What can be seen of a state: the value of `g`, the labels at which the thread is, and whether it has ended.
pub type Seen = (u8, BTreeSet<String>, bool);

/// A random program of one thread: its text, and all that can be seen of it.
pub fn labels(seed: u64) -> (String, BTreeSet<Seen>) {
    let mut tree =
        Tree { rng: Rng::with_seed(seed), nodes: Vec::new(), labels: 0, left: 14, top: Vec::new() };
    tree.top = tree.block(None, false, 0);
    for node in 0..tree.nodes.len() {
        if let Kind::Goto(_) = tree.nodes[node].kind {
            let target = (tree.labels > 0).then(|| tree.rng.usize(..tree.labels));
            tree.nodes[node].kind = target.map_or(Kind::Skip, Kind::Goto);
        }
    }
    let mut text = "shared 0..2 g;\nthread p {\n".to_string();
    tree.write(&tree.top, 1, &mut text);
    text.push_str("}\n");
    for label in 0..tree.labels {
        writeln!(text, "never at(L{label}) > 1;").expect("a string takes whatever is written");
    }
    (text, tree.seen())
}

type Node = usize;

enum Kind {
    Skip,
    /// `g = n;`
    Set(u8),
    /// `await g == n;`
    Await(u8),
    /// `if (g == n) { … } else { … }`
    If(u8, [Vec<Node>; 2]),
    /// `while (g == n) { … }`
    While(u8, Vec<Node>),
    Loop(Vec<Node>),
    Block(Vec<Node>),
    Choose(Vec<Vec<Node>>),
    /// `atomic { … }` of assignments of these values.
    Atomic(Vec<u8>),
    Break,
    Continue,
    Goto(usize),
    Return,
}

struct Statement {
    labels: Vec<usize>,
    kind: Kind,
    parent: Option<Node>,
}

struct Tree {
    rng: Rng,
    nodes: Vec<Statement>,
    labels: usize,
    left: usize,
    top: Vec<Node>,
}

/// Where control is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Control {
    Before(Node),
    /// At a `choose`, after the step from its label.
    Choosing(Node),
    End,
}

/// What a step does.
enum Action {
    Nothing,
    Set(u8),
    /// If `g` is, or is not, this.
    If(u8, bool),
}

impl Tree {
    fn block(&mut self, parent: Option<Node>, in_loop: bool, depth: usize) -> Vec<Node> {
        let most = if depth == 0 { 5 } else { 3 };
        let count = self.rng.usize(usize::from(depth == 0)..=most);
        (0..count).filter_map(|_| self.statement(parent, in_loop, depth)).collect()
    }

    fn statement(&mut self, parent: Option<Node>, in_loop: bool, depth: usize) -> Option<Node> {
        self.left = self.left.checked_sub(1)?;
        let node = self.nodes.len();
        let labels = if self.rng.u8(..2) == 0 { self.rng.usize(1..=2) } else { 0 };
        let labels = (0..labels).map(|label| self.labels + label).collect::<Vec<_>>();
        self.labels += labels.len();
        self.nodes.push(Statement { labels, kind: Kind::Skip, parent });
        let value = self.rng.u8(..3);
        let deeper = depth < 3;
        self.nodes[node].kind = match self.rng.u8(..18) {
            0 | 1 => Kind::Set(value),
            2 => Kind::Await(value),
            3 | 4 if deeper => {
                let yes = self.block(Some(node), in_loop, depth + 1);
                Kind::If(value, [yes, self.block(Some(node), in_loop, depth + 1)])
            }
            5 if deeper => Kind::While(value, self.block(Some(node), true, depth + 1)),
            6..=8 if deeper => Kind::Loop(self.block(Some(node), true, depth + 1)),
            9 if deeper => Kind::Block(self.block(Some(node), in_loop, depth + 1)),
            10..=12 if deeper => {
                let branches = self.rng.usize(2..=3);
                Kind::Choose((0..branches).map(|_| self.block(Some(node), in_loop, depth + 1)).collect())
            }
            13 => Kind::Atomic((0..self.rng.usize(..3)).map(|_| self.rng.u8(..3)).collect()),
            14 if in_loop => Kind::Break,
            15 if in_loop => Kind::Continue,
            16 => Kind::Goto(0),
            17 if self.rng.bool() => Kind::Return,
            _ => Kind::Skip,
        };
        Some(node)
    }

    fn write(&self, block: &[Node], depth: usize, text: &mut String) {
        for &node in block {
            let Statement { labels, kind, .. } = &self.nodes[node];
            text.push_str(&"  ".repeat(depth));
            labels.iter().for_each(|label| text.push_str(&format!("L{label}: ")));
            let mut inside = |head: &str, block: &[Node]| {
                text.push_str(&format!("{head}{{\n"));
                self.write(block, depth + 1, text);
                text.push_str(&format!("{}}}", "  ".repeat(depth)));
            };
            match kind {
                Kind::Skip => text.push_str("skip;"),
                Kind::Set(value) => text.push_str(&format!("g = {value};")),
                Kind::Await(value) => text.push_str(&format!("await g == {value};")),
                Kind::If(value, [yes, no]) => {
                    inside(&format!("if (g == {value}) "), yes);
                    inside(" else ", no);
                }
                Kind::While(value, body) => inside(&format!("while (g == {value}) "), body),
                Kind::Loop(body) => inside("loop ", body),
                Kind::Block(body) => inside("", body),
                Kind::Choose(branches) => {
                    for (index, branch) in branches.iter().enumerate() {
                        inside(if index == 0 { "choose " } else { " or " }, branch);
                    }
                }
                Kind::Atomic(values) => {
                    text.push_str("atomic { ");
                    values.iter().for_each(|value| text.push_str(&format!("g = {value}; ")));
                    text.push('}');
                }
                Kind::Break => text.push_str("break;"),
                Kind::Continue => text.push_str("continue;"),
                Kind::Goto(label) => text.push_str(&format!("goto L{label};")),
                Kind::Return => text.push_str("return;"),
            }
            text.push('\n');
        }
    }

    /// All that can be seen.
    fn seen(&self) -> BTreeSet<Seen> {
        let start = (0, self.settled(self.enter(&self.top, None)));
        let mut states = HashSet::from([start]);
        let mut todo = vec![start];
        let mut seen = BTreeSet::new();
        while let Some((g, control)) = todo.pop() {
            let labels = self.labels_at(control).into_iter().map(|label| format!("L{label}")).collect();
            seen.insert((g, labels, control == Control::End));
            for (action, to) in self.steps(control) {
                let after = match action {
                    Action::Nothing => g,
                    Action::Set(value) => value,
                    Action::If(value, is) if (g == value) == is => g,
                    Action::If(..) => continue,
                };
                let next = (after, self.settled(to));
                if states.insert(next) {
                    todo.push(next);
                }
            }
        }
        seen
    }

    /// Before the first of some statements inside another one, or after that one.
    fn enter(&self, block: &[Node], parent: Option<Node>) -> Control {
        match (block.first(), parent) {
            (Some(&first), _) => Control::Before(first),
            (None, Some(parent)) => self.leave(parent),
            (None, None) => Control::End,
        }
    }

    /// At the end of a block inside a statement.
    fn leave(&self, parent: Node) -> Control {
        match self.nodes[parent].kind {
            Kind::Loop(_) | Kind::While(..) => Control::Before(parent),
            _ => self.after(parent),
        }
    }

    fn after(&self, node: Node) -> Control {
        let parent = self.nodes[node].parent;
        let next = self.block_of(node).iter().skip_while(|&&other| other != node).nth(1);
        match (next, parent) {
            (Some(&next), _) => Control::Before(next),
            (None, Some(parent)) => self.leave(parent),
            (None, None) => Control::End,
        }
    }

    /// The block in which a statement stands.
    fn block_of(&self, node: Node) -> &[Node] {
        let Some(parent) = self.nodes[node].parent else { return &self.top };
        let blocks: Vec<&Vec<Node>> = match &self.nodes[parent].kind {
            Kind::If(_, branches) => branches.iter().collect(),
            Kind::Choose(branches) => branches.iter().collect(),
            Kind::While(_, body) | Kind::Loop(body) | Kind::Block(body) => vec![body],
            _ => Vec::new(),
        };
        blocks.into_iter().find(|block| block.contains(&node)).map_or(&[], Vec::as_slice)
    }

    /// The first statement of a loop or block: there is no step between.
    fn first(&self, node: Node) -> Option<Node> {
        match &self.nodes[node].kind {
            Kind::Loop(body) | Kind::Block(body) => body.first().copied(),
            _ => None,
        }
    }

    /// The outermost statement that begins where this one does.
    fn outermost(&self, mut node: Node) -> Node {
        while let Some(parent) = self.nodes[node].parent.filter(|&parent| self.first(parent) == Some(node)) {
            node = parent;
        }
        node
    }

    /// The labels of the place before a statement.
    fn labels_at(&self, control: Control) -> BTreeSet<usize> {
        let Control::Before(node) = control else { return BTreeSet::new() };
        let mut labels = BTreeSet::new();
        let mut inner = Some(self.outermost(node));
        while let Some(node) = inner {
            labels.extend(&self.nodes[node].labels);
            inner = self.first(node);
        }
        labels
    }

    /// Where control goes without a step; `None` if it stays.
    fn silent(&self, control: Control) -> Option<Vec<Control>> {
        match control {
            Control::End => None,
            Control::Choosing(node) => self.branches(node),
            Control::Before(_) if !self.labels_at(control).is_empty() => None,
            Control::Before(node) => match self.branches(node) {
                Some(branches) => Some(branches),
                None => self.handed_on(node).map(|to| vec![to]),
            },
        }
    }

    fn branches(&self, node: Node) -> Option<Vec<Control>> {
        let Kind::Choose(branches) = &self.nodes[node].kind else { return None };
        Some(branches.iter().map(|branch| self.enter(branch, Some(node))).collect())
    }

    /// Where a jump, a loop or a block hands control on to.
    fn handed_on(&self, node: Node) -> Option<Control> {
        let around = |mut node: Node| {
            while let Some(parent) = self.nodes[node].parent {
                if let Kind::Loop(_) | Kind::While(..) = self.nodes[parent].kind {
                    return parent;
                }
                node = parent;
            }
            node
        };
        Some(match &self.nodes[node].kind {
            Kind::Break => self.after(around(node)),
            Kind::Continue => Control::Before(around(node)),
            Kind::Goto(label) => {
                let labelled = |statement: &Statement| statement.labels.contains(label);
                Control::Before(self.nodes.iter().position(labelled)?)
            }
            Kind::Return => Control::End,
            Kind::Loop(body) | Kind::Block(body) => self.enter(body, Some(node)),
            _ => return None,
        })
    }

    /// The places where control may stay, and whether it may also go round without a step.
    fn places(&self, control: Control) -> (Vec<Control>, bool) {
        let (mut places, mut circle) = (Vec::new(), false);
        self.follow(control, &mut Vec::new(), &mut places, &mut circle);
        (places, circle)
    }

    fn follow(&self, from: Control, path: &mut Vec<Control>, places: &mut Vec<Control>, circle: &mut bool) {
        if path.contains(&from) {
            *circle = true;
            return;
        }
        path.push(from);
        match self.silent(from) {
            Some(next) => next.into_iter().for_each(|to| self.follow(to, path, places, circle)),
            None => {
                let place = match from {
                    Control::Before(node) if !self.labels_at(from).is_empty() => {
                        Control::Before(self.outermost(node))
                    }
                    other => other,
                };
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        path.pop();
    }

    /// Where control is after a step to here: further on, if there is only one way.
    fn settled(&self, control: Control) -> Control {
        match self.places(control) {
            (places, false) if places.len() == 1 => places[0],
            _ => control,
        }
    }

    fn steps(&self, control: Control) -> Vec<(Action, Control)> {
        let (places, _) = self.places(control);
        if places != [control] {
            let merged = places.into_iter().flat_map(|place| match self.labels_at(place).is_empty() {
                true if place != Control::End => self.steps(place),
                _ => vec![(Action::Nothing, place)],
            });
            return merged.collect();
        }
        let Control::Before(mut node) = control else { return Vec::new() };
        while let Some(first) = self.first(node) {
            node = first;
        }
        let next = self.after(node);
        match &self.nodes[node].kind {
            Kind::Skip => vec![(Action::Nothing, next)],
            Kind::Set(value) => vec![(Action::Set(*value), next)],
            Kind::Await(value) => vec![(Action::If(*value, true), next)],
            Kind::Atomic(values) => vec![(values.last().map_or(Action::Nothing, |&g| Action::Set(g)), next)],
            Kind::If(value, branches) => (branches.iter().zip([true, false]))
                .map(|(branch, is)| (Action::If(*value, is), self.enter(branch, Some(node))))
                .collect(),
            Kind::While(value, body) => {
                let inside = self.enter(body, Some(node));
                vec![(Action::If(*value, true), inside), (Action::If(*value, false), next)]
            }
            Kind::Choose(branches) => match branches.iter().all(|branch| self.begins_with_step(branch)) {
                true => self.steps(Control::Choosing(node)),
                false => vec![(Action::Nothing, Control::Choosing(node))],
            },
            _ => self.handed_on(node).map(|to| (Action::Nothing, to)).into_iter().collect(),
        }
    }

    /// Whether control is in a block until its first step.
    fn begins_with_step(&self, block: &[Node]) -> bool {
        let Some(&node) = block.first() else { return false };
        !self.nodes[node].labels.is_empty()
            || match &self.nodes[node].kind {
                Kind::Break | Kind::Continue | Kind::Goto(_) | Kind::Return => false,
                Kind::Loop(body) | Kind::Block(body) => self.begins_with_step(body),
                Kind::Choose(branches) => branches.iter().all(|branch| self.begins_with_step(branch)),
                _ => true,
            }
    }
}
