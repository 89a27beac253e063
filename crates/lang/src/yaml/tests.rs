use super::*;

/// A value on one line, to compare with.
fn show(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_string(),
        Value::Scalar { text, plain: true } => text.clone(),
        Value::Scalar { text, .. } => format!("{text:?}"),
        Value::List(nodes) => format!("[{}]", nodes.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, node)| format!("{key}: {}", show(node)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

fn read(text: &str) -> String {
    parse(text.as_bytes()).map_or_else(|error| format!("error: {}", error.message), |node| show(&node))
}

#[test]
fn task_definitions_are_read() {
    let text = "# a comment\nformat_version: '2.0'\n\ninput_files: 'a.i'   # the program\nproperties:\n  - property_file: \
                ../p/unreach-call.prp\n    expected_verdict: false\n  - property_file: b.prp\noptions:\n  language: C\n  \
                data_model: ILP32\n";
    assert_eq!(
        read(text),
        "{format_version: \"2.0\", input_files: \"a.i\", properties: [{property_file: ../p/unreach-call.prp, \
         expected_verdict: false}, {property_file: b.prp}], options: {language: C, data_model: ILP32}}"
    );
}

#[test]
fn sequences_may_start_below_their_keys_or_in_lines() {
    assert_eq!(read("a:\n- 1\n- 2\nb: 3\n"), "{a: [1, 2], b: 3}");
    assert_eq!(read("- - 1\n  - 2\n- b:\n    c: d\n  e: f\n"), "[[1, 2], {b: {c: d}, e: f}]");
    assert_eq!(
        read("- segment:\n  - waypoint:\n      type: target\n"),
        "[{segment: [{waypoint: {type: target}}]}]"
    );
    assert_eq!(read("a: [1, \"x, y\", {b: c}]\nd: []\ne: {}"), "{a: [1, \"x, y\", {b: c}], d: [], e: {}}");
    assert_eq!(read("---\na:\nb: ~\n...\n"), "{a: null, b: null}");
}

#[test]
fn strings_are_what_they_stand_for() {
    assert_eq!(read(r#"a: "x\n\"\u00e4\\""#), r#"{a: "x\n\"ä\\"}"#);
    assert_eq!(read("a: 'it''s # not a comment'"), "{a: \"it's # not a comment\"}");
    assert_eq!(read("a: \"x &&\n    y\"\nb: 1"), "{a: \"x && y\", b: 1}");
    assert_eq!(
        read("a: CHECK( init(main()), LTL(G ! call(f())) )"),
        "{a: CHECK( init(main()), LTL(G ! call(f())) )}"
    );
    assert_eq!(read("a: one\n  two\nb: 1"), "{a: one two, b: 1}");
    assert_eq!(
        read("a: |\n  one\n  two\nb: >-\n  three\n  four\n"),
        "{a: \"one\\ntwo\\n\", b: \"three four\"}"
    );
    assert_eq!(read("\"a b\": c"), "{a b: c}");
    assert_eq!(parse(b"2020").map(|node| node.number()), Ok(Some(2020)));
    assert_eq!(parse(b"'true'").map(|node| node.truth()), Ok(None));
}

#[test]
fn what_is_not_understood_is_refused() {
    for text in [
        "a: &x 1",
        "a: *x",
        "a: !!int 1",
        "a: 1\na: 2",
        "a: [1",
        "a: \"x",
        "a: 1\n  b: 2",
        "a: b\n\tc: d",
        "- a\n b: c",
    ] {
        assert!(read(text).starts_with("error: "), "{text:?} is {}", read(text));
    }
    assert!(parse(&[0xff]).is_err());
    assert!(read(&"[".repeat(100_000)).starts_with("error: "));
    assert!(read(&"- ".repeat(100_000)).starts_with("error: "));
    let many: String = (0..5000).map(|key| format!("k{key}: 1\n")).collect();
    assert!(read(&many).starts_with("error: "));
}
