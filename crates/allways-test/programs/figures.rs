//! The tables of docs/testing-rust.md, so that tests can compare.

/// The rows of the table that starts with these columns, each as its cells.
pub fn rows(columns: &str) -> Vec<Vec<String>> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/testing-rust.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let table = page.lines().skip_while(|line| !line.starts_with(columns)).skip(2);
    table
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect())
        .collect()
}
