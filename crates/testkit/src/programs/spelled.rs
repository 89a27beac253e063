//! Random programs without structures and arrays of two dimensions: what the same program looks like in which each part is a
//! variable, or an element of an array of one dimension. Both have the same states.

/// What stands behind one value for all elements of an array.
const FOR_ALL: &str = " for all}";

/// The program without them. It is one of [`text`](super::text), whose names of structures start with `q` or `r`, and of arrays
/// with two dimensions with `d`.
pub fn spelled(text: &str) -> String {
    let mut types = [String::new(), String::new()];
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some(members) = line.strip_prefix("struct S { ") {
            let mut words = members.split(' ');
            for ty in &mut types {
                *ty = words.next().unwrap_or_default().to_string();
                words.next();
            }
            continue;
        }
        if let Some(declared) = line.strip_prefix("shared S ") {
            let (name, values) = declared.trim_end_matches(';').split_once(" = ").unwrap_or((declared, ""));
            let name = name.trim_end_matches(';');
            // `{{a, b} for all}`: each member has one value for all elements.
            let values = values.trim_end_matches(FOR_ALL);
            let values: Vec<&str> = values.trim_matches(['{', '}']).split(", ").collect();
            let (name, brackets) = name.split_at(name.find('[').unwrap_or(name.len()));
            for (number, member) in ["x", "y"].iter().enumerate() {
                let value = values.get(number).filter(|value| !value.is_empty());
                let value = value.map_or(String::new(), |value| format!(" = {value}"));
                lines.push(format!("shared {} {name}_{member}{brackets}{value};", types[number]));
            }
            continue;
        }
        lines.push(without_parts(&declared(line)));
    }
    lines.join("\n") + "\n"
}

/// A line in which arrays are declared with one dimension, and one value for all of their elements has no braces.
fn declared(line: &str) -> String {
    let mut line = line.to_string();
    while let Some(end) = line.find(FOR_ALL) {
        let start = line[..end].rfind('{').expect("it is in braces");
        line = format!("{}{}{}", &line[..start], &line[start + 1..end], &line[end + FOR_ALL.len()..]);
    }
    let line = line.replace("[2][2] = {", "[4] = {#").replace("[2][2]", "[4]");
    // `{a, {b, c}}` is a row of the same, and one of two.
    let Some((before, values)) = line.split_once("{#") else { return line };
    let (first, second) = values.split_once(", ").unwrap_or((values, ""));
    format!("{before}{{{first}, {first}, {}", second.replacen('{', "", 1).replacen('}', "", 1))
}

/// A text in which no part of a structure is mentioned, and no element of an array with two dimensions.
fn without_parts(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        let (before, word) = rest.split_at(start);
        let end = word.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let (name, after) = word.split_at(end.unwrap_or(word.len()));
        out += before;
        rest = after;
        let numbered = name.len() > 1 && name[1..].bytes().all(|byte| byte.is_ascii_digit());
        match (name.as_bytes()[0], numbered) {
            (b'r', true) if after.starts_with('.') => {
                out += &format!("{name}_{}", &after[1..2]);
                rest = &after[2..];
            }
            (b'q', true) if after.starts_with('[') => {
                let (index, after) = index(after);
                out += &format!("{name}_{}[{}]", &after[1..2], without_parts(index));
                rest = &after[2..];
            }
            (b'd', true) if after.starts_with("[4]") => out += name,
            (b'd', true) if after.starts_with('[') => {
                let (row, after) = index(after);
                let (column, after) = index(after);
                let (row, column) = (without_parts(row), without_parts(column));
                out += &format!("{name}[0 <= ({column}) && ({column}) < 2 ? ({row}) * 2 + ({column}) : -1]");
                rest = after;
            }
            _ => out += name,
        }
    }
    out + rest
}

/// What stands in the brackets at the start of a text, and what comes after them.
fn index(text: &str) -> (&str, &str) {
    let mut open = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => open += 1,
            ']' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return (&text[1..at], &text[at + 1..]);
        }
    }
    (text, "")
}
