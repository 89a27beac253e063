//! Annotations of GitHub Actions: lines of output that become remarks in a pull request.
//! <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>

use super::Finding;

/// The lines that say what was found; none if it is safe.
pub fn annotations(found: &Finding) -> Vec<String> {
    let line = |level: &str, title: &str, place: Option<(u32, u32)>, message: &str| {
        let place = place.map(|(line, column)| format!(",line={line},col={column}")).unwrap_or_default();
        let (file, title) = (property(&found.file), property(title));
        format!("::{level} file={file}{place},title={title}::{}", data(message))
    };
    match found.verdict {
        "unsafe" => {
            let mut message = found.sentence.clone();
            for row in &found.lines {
                message = message + "\n" + row;
            }
            vec![line("error", &format!("unsafe: {}", found.rule), found.place, &message)]
        }
        "unknown" => vec![line("warning", "unknown", None, &found.sentence)],
        "error" => {
            let each = found.complaints.iter();
            each.map(|complaint| line("error", "not checked", complaint.place, &complaint.message)).collect()
        }
        _ => Vec::new(),
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_make_a_command_of_its_own() {
        let found = Finding {
            file: "a,b:c\n::error::x%0A".to_string(),
            verdict: "unsafe",
            rule: "never",
            sentence: "line 3: violated\n::warning::".to_string(),
            place: Some((3, 1)),
            ..Finding::default()
        };
        assert_eq!(
            annotations(&found),
            ["::error file=a%2Cb%3Ac%0A%3A%3Aerror%3A%3Ax%250A,line=3,col=1,title=unsafe%3A never::\
              line 3: violated%0A::warning::"]
        );
    }
}
