//! Places in a text: bytes, as everything here counts them, and lines with columns in UTF-16, as editors do.

use allways_model::program::Span;
use lsp_types::{Position, Range};

/// A text, with the starts of its lines.
#[derive(Debug)]
pub struct Text {
    text: String,
    lines: Vec<usize>,
}

impl Text {
    pub fn new(text: String) -> Text {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Text { text, lines }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The place of a byte; past the end is the end.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        let column: usize = self.text[self.lines[line]..offset].chars().map(char::len_utf16).sum();
        Position::new(line as u32, column as u32)
    }

    /// The byte at a place; past the end of a line is its end.
    pub fn offset(&self, position: Position) -> usize {
        let Some(&start) = self.lines.get(position.line as usize) else { return self.text.len() };
        let line = self.text[start..].split(['\n', '\r']).next().unwrap_or_default();
        let mut left = position.character as usize;
        let mut offset = start;
        for character in line.chars() {
            if left < character.len_utf16() {
                break;
            }
            left -= character.len_utf16();
            offset += character.len_utf8();
        }
        offset
    }

    pub fn range(&self, bytes: std::ops::Range<usize>) -> Range {
        Range::new(self.position(bytes.start), self.position(bytes.end))
    }

    pub fn range_of(&self, span: Span) -> Range {
        self.range(span.start as usize..span.end as usize)
    }

    /// All of it.
    pub fn whole(&self) -> Range {
        self.range(0..self.text.len())
    }

    /// A line, counted from 1, without what surrounds it.
    pub fn line(&self, line: u32) -> Range {
        let Some(&start) = (line as usize).checked_sub(1).and_then(|line| self.lines.get(line)) else {
            return Range::default();
        };
        let text = self.text[start..].split(['\n', '\r']).next().unwrap_or_default();
        let from = start + text.len() - text.trim_start().len();
        self.range(from..(start + text.trim_end().len()).max(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_as_editors_do() {
        let text = Text::new("a\r\n😀é x\n  end  ".to_string());
        assert_eq!(text.position(3), Position::new(1, 0));
        assert_eq!(text.position(7), Position::new(1, 2), "after the face");
        assert_eq!(text.offset(Position::new(1, 2)), 7);
        assert_eq!(text.offset(Position::new(1, 1)), 3, "inside of the face");
        assert_eq!(text.offset(Position::new(0, 9)), 1, "past the end of the line");
        assert_eq!(text.offset(Position::new(9, 0)), text.as_str().len());
        assert_eq!(text.line(3), Range::new(Position::new(2, 2), Position::new(2, 5)));
        for offset in 0..=text.as_str().len() {
            if text.as_str().is_char_boundary(offset) && text.as_str().as_bytes().get(offset) != Some(&b'\n')
            {
                assert_eq!(text.offset(text.position(offset)), offset);
            }
        }
        assert_eq!(text.line(99), Range::default());
    }
}
