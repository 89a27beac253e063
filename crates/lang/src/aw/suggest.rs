//! Did you mean …?

/// How a name is shown.
pub(super) fn quote(name: &str) -> String {
    const SHOWN: usize = 60;
    match name.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("`{}…`", &name[..cut]),
        None => format!("`{name}`"),
    }
}

/// The name that is nearest to a word, if one is near enough to have been meant.
pub(super) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer words are compared by nobody.
    const LONGEST: usize = 40;
    let near = |name: &str| {
        let allowed = word.len().max(name.len()).div_ceil(4).min(3);
        let length = word.len().abs_diff(name.len());
        if name == word || length > allowed || word.len().max(name.len()) > LONGEST {
            return None;
        }
        let distance = match name.eq_ignore_ascii_case(word) {
            true => 0,
            false => distance(word.as_bytes(), name.as_bytes()),
        };
        (distance <= allowed && distance < word.len()).then_some(distance)
    };
    let best = names.into_iter().filter_map(|name| Some((near(name)?, name))).min();
    best.map(|(_, name)| name)
}

/// "did you mean `name`?"
pub(super) fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, names).map(|name| format!("did you mean {}?", quote(name)))
}

/// How many letters must be put in, left out, replaced or swapped with their neighbour.
fn distance(one: &[u8], two: &[u8]) -> usize {
    let mut before_last = vec![0; two.len() + 1];
    let mut last: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in two.iter().enumerate() {
            let mut cost = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == two[j - 1] && one[i - 1] == *b {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_near() {
        let names = ["crit", "turn", "want", "x", "y", "false"];
        assert_eq!(nearest("crti", names), Some("crit"));
        assert_eq!(nearest("trun", names), Some("turn"));
        assert_eq!(nearest("False", names), Some("false"));
        assert_eq!(nearest("wants", names), Some("want"));
        assert_eq!(nearest("z", names), None, "one letter is not like another");
        assert_eq!(nearest("X", names), Some("x"), "but for its case");
        assert_eq!(nearest("critical", names), None);
        assert_eq!(nearest("", names), None);
    }

    #[test]
    fn distances() {
        for (one, two, expected) in [("", "", 0), ("ab", "ba", 1), ("abc", "", 3), ("kitten", "sitting", 3)] {
            assert_eq!(distance(one.as_bytes(), two.as_bytes()), expected);
            assert_eq!(distance(two.as_bytes(), one.as_bytes()), expected);
        }
    }
}
