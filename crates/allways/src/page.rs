//! A [`Story`] as one HTML page that needs nothing else: no network, no other file.
//!
//! The page is `page/report.html` with the styles, the script and the story put in. A story is full of texts from programs,
//! which may be hostile: in the page it is JSON in which no `<` is left, the script sets texts as texts and never as markup, and the
//! policy of the page allows no script but this one, and no requests.

use crate::columns::{TraceTable, WIDTH};
use crate::story::Story;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const TEMPLATE: &str = include_str!("page/report.html");

/// The styles of pages.
pub const STYLE: &str = include_str!("page/report.css");

/// The script that draws a story.
pub const SCRIPT: &str = include_str!("page/report.js");

/// The page of a story; `table` is shown where scripts are off.
pub fn page(story: &Story, table: Option<&TraceTable>) -> String {
    let mut text = format!("{}: {} ({})\n", story.verdict, story.sentence, story.details.join(", "));
    for line in table.into_iter().flat_map(|table| table.lines(WIDTH)) {
        text += &line;
        text.push('\n');
    }
    let hash = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    let title = format!("{}: {}", story.verdict, story.file);
    let parts = [
        ("hash", hash),
        ("title", escaped(&title)),
        ("style", STYLE.to_string()),
        ("text", escaped(&text)),
        ("story", embedded(story)),
        ("script", SCRIPT.to_string()),
    ];
    filled(TEMPLATE, &parts)
}

/// A template with its parts put in, each where its name stands in double braces; what is put in is not looked at again.
fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page += before;
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        page += parts.iter().find(|(part, _)| *part == name).map_or("", |(_, text)| text);
        rest = after;
    }
    page + rest
}

/// A text between tags or in an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            '\n' | '\t' => safe.push(character),
            // Neither HTML nor XML has these.
            _ if character.is_control() => safe.push('\u{fffd}'),
            _ => safe.push(character),
        }
    }
    safe
}

/// JSON inside a script element: strings are all that can contain a `<`, and there it can be written otherwise.
fn embedded(story: &Story) -> String {
    serde_json::to_string(story).unwrap_or_default().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hostile() -> Story {
        Story {
            file: "</title><script>alert(1)</script>{{story}}".to_string(),
            source: "</script><!--<script>\u{2028}".to_string(),
            ..Story::default()
        }
    }

    #[test]
    fn texts_cannot_leave_their_place() {
        let page = page(&hostile(), None);
        assert_eq!(page.matches("<script").count(), 2, "the story, and the script");
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<!--"));
        assert!(page.contains("&lt;/title&gt;"));
        assert!(page.contains("{{story}}"), "what is put in is not a template");
    }

    #[test]
    fn a_story_survives() {
        let story = hostile();
        let read: serde_json::Value = serde_json::from_str(&embedded(&story)).unwrap();
        assert_eq!(read["file"], story.file.as_str());
        assert_eq!(read["source"], story.source.as_str());
    }
}
