//! JUnit's XML: what test reports of most CI systems are made of. A file is a test case: safe passes, unsafe fails, and where there is
//! no answer that is an error, so that nobody takes it for a proof.

use super::Finding;
use crate::page::escaped;
use std::fmt::Write;

/// The report of some findings.
pub fn report(findings: &[Finding]) -> String {
    let count = |verdicts: &[&str]| findings.iter().filter(|found| verdicts.contains(&found.verdict)).count();
    let (failures, errors) = (count(&["unsafe"]), count(&["unknown", "error"]));
    let time: f64 = findings.iter().map(|found| found.seconds).sum();
    let figures = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{time:.3}\"",
        findings.len()
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // To write to a string does not fail.
    let _ = writeln!(xml, "<testsuites {figures}>\n  <testsuite name=\"allways\" skipped=\"0\" {figures}>");
    for found in findings {
        let property = found.property.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        let name = attribute(&format!("{}{property}", found.file));
        let _ = write!(
            xml,
            "    <testcase classname=\"allways.check\" name=\"{name}\" time=\"{:.3}\"",
            found.seconds
        );
        let inside = match found.verdict {
            "safe" => None,
            "unsafe" => Some(("failure", found.rule, found.sentence.clone(), found.lines.join("\n"))),
            "unknown" => Some(("error", "unknown", found.sentence.clone(), String::new())),
            _ => {
                let lines = found.complaints.iter().map(|complaint| match complaint.place {
                    Some((line, column)) => format!("{line}:{column}: {}", complaint.message),
                    None => complaint.message.clone(),
                });
                let lines: Vec<String> = lines.collect();
                Some(("error", "input", lines.first().cloned().unwrap_or_default(), lines.join("\n")))
            }
        };
        let _ = match inside {
            None => writeln!(xml, "/>"),
            Some((tag, kind, message, text)) => writeln!(
                xml,
                ">\n      <{tag} type=\"{kind}\" message=\"{}\">{}</{tag}>\n    </testcase>",
                attribute(&message),
                content(&text)
            ),
        };
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

/// XML has no such characters at all.
fn content(text: &str) -> String {
    escaped(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// The same in an attribute, where an end of line would become a space.
fn attribute(text: &str) -> String {
    content(text).replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_a_test_case() {
        let found = |verdict, file: &str| Finding {
            verdict,
            file: file.to_string(),
            sentence: "a < b & \"c\"\u{1b}".to_string(),
            rule: "never",
            lines: vec!["  1 <x>".to_string(), "  2 ]]>".to_string()],
            seconds: 0.5,
            ..Finding::default()
        };
        let xml =
            report(&[found("safe", "one.aw"), found("unsafe", "two\n.aw"), found("unknown", "three.aw")]);
        let figures = "tests=\"3\" failures=\"1\" errors=\"1\" time=\"1.500\"";
        let expected = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites {figures}>\n  <testsuite name=\"allways\" skipped=\"0\" {figures}>\n    \
             <testcase classname=\"allways.check\" name=\"one.aw\" time=\"0.500\"/>\n    \
             <testcase classname=\"allways.check\" name=\"two&#10;.aw\" time=\"0.500\">\n      \
             <failure type=\"never\" message=\"a &lt; b &amp; &quot;c&quot;\u{fffd}\">  1 &lt;x&gt;\n  2 ]]&gt;</failure>\n    \
             </testcase>\n    \
             <testcase classname=\"allways.check\" name=\"three.aw\" time=\"0.500\">\n      \
             <error type=\"unknown\" message=\"a &lt; b &amp; &quot;c&quot;\u{fffd}\"></error>\n    \
             </testcase>\n  </testsuite>\n</testsuites>\n"
        );
        assert_eq!(xml, expected);
    }
}
