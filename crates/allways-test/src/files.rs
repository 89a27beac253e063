//! Names of files, as short as they can be told apart: `lib.rs`, or `queue/src/lib.rs` if another crate has a `src/lib.rs` as well.

use std::collections::{BTreeMap, BTreeSet};

/// For each file its short name.
#[derive(Debug, Default)]
pub(crate) struct Files(BTreeMap<String, String>);

fn parts(file: &str) -> Vec<&str> {
    file.split(['/', '\\']).collect()
}

impl Files {
    pub fn new<'a>(files: impl Iterator<Item = &'a str>) -> Files {
        let files: BTreeSet<&str> = files.collect();
        let short = |file: &str| {
            let mine = parts(file);
            let length = (1..mine.len()).find(|&length| {
                let end = &mine[mine.len() - length..];
                files.iter().all(|&other| other == file || !parts(other).ends_with(end))
            });
            mine[mine.len() - length.unwrap_or(mine.len())..].join("/")
        };
        Files(files.iter().map(|&file| (file.to_string(), short(file))).collect())
    }

    /// The file, if there is only one.
    pub fn only(&self) -> Option<&str> {
        let mut files = self.0.keys();
        files.next().filter(|_| files.next().is_none()).map(String::as_str)
    }

    /// What stands in front of the number of a line: nothing if there is only one file.
    pub fn before_line(&self, file: &str) -> String {
        match self.0.get(file) {
            _ if self.0.len() < 2 => String::new(),
            Some(short) => format!("{short}:"),
            None => format!("{file}:"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_short_as_they_can_be_told_apart() {
        let list = ["/a/queue/src/lib.rs", "/a/stack/src/lib.rs", "/a/stack/src/node.rs", "tests/it.rs"];
        let files = Files::new(list.into_iter().chain(list));
        let short = list.map(|file| files.before_line(file));
        assert_eq!(short, ["queue/src/lib.rs:", "stack/src/lib.rs:", "node.rs:", "it.rs:"]);
        assert_eq!(files.only(), None);
    }

    #[test]
    fn one_is_the_end_of_another() {
        let files = Files::new(["src/lib.rs", "/a/src/lib.rs"].into_iter());
        assert_eq!(files.before_line("src/lib.rs"), "src/lib.rs:");
        assert_eq!(files.before_line("/a/src/lib.rs"), "a/src/lib.rs:");
    }

    #[test]
    fn a_single_file_needs_no_name() {
        let files = Files::new(["src/lib.rs", "src/lib.rs"].into_iter());
        assert_eq!((files.only(), files.before_line("src/lib.rs")), (Some("src/lib.rs"), String::new()));
    }
}
