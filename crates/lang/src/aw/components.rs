//! Strongly connected components, by Tarjan's algorithm ("Depth-first search and linear graph algorithms", 1972),
//! without recursion.

/// The number of the component of each node. A component has a greater number than all those to which it leads.
pub(super) fn components(graph: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut component = vec![NONE; graph.len()];
    let mut count = 0;
    // When a node was first seen; the earliest of those still open to which it leads.
    let mut seen = vec![NONE; graph.len()];
    let mut low = vec![NONE; graph.len()];
    let mut clock = 0;
    let mut open = Vec::new();
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..graph.len() {
        if seen[root] != NONE {
            continue;
        }
        path.push((root, 0));
        while let Some((node, next)) = path.pop() {
            if next == 0 {
                seen[node] = clock;
                low[node] = clock;
                clock += 1;
                open.push(node);
            } else {
                low[node] = low[node].min(low[graph[node][next - 1]]);
            }
            // Neighbours that are done, or open and above, need no visit.
            let mut next = next;
            while let Some(&to) = graph[node].get(next) {
                if seen[to] == NONE {
                    break;
                }
                if component[to] == NONE {
                    low[node] = low[node].min(seen[to]);
                }
                next += 1;
            }
            if let Some(&to) = graph[node].get(next) {
                path.push((node, next + 1));
                path.push((to, 0));
                continue;
            }
            if low[node] == seen[node] {
                while let Some(member) = open.pop() {
                    component[member] = count;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found_and_come_after_what_they_lead_to() {
        let graph = vec![vec![1], vec![2, 3], vec![0], vec![4], vec![3, 5], vec![], vec![6, 0]];
        let component = components(&graph);
        assert_eq!(component[0], component[1]);
        assert_eq!(component[1], component[2]);
        assert_eq!(component[3], component[4]);
        for (node, leads) in graph.iter().enumerate() {
            assert!(leads.iter().all(|&to| component[to] <= component[node]));
        }
        assert_eq!(component.iter().max(), Some(&3));
        assert_eq!(components(&[]), []);
    }

    #[test]
    fn long_chains_take_no_stack() {
        let length = 1_000_000;
        let graph: Vec<_> = (0..length).map(|node| vec![(node + 1) % length]).collect();
        assert!(components(&graph).iter().all(|&component| component == 0));
    }
}
