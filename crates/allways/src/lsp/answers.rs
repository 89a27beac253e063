//! What is said about a text: remarks with fixes, and answers about its names.

use super::text::Text;
use allways_lang::aw::outline::{Outline, Symbol, SymbolKind, is_name, outline};
use allways_lang::aw::{format, parse};
use allways_lang::diagnostic::{Diagnostic as Remark, Severity};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeLens, CodeLensParams, Command,
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DocumentFormattingParams, DocumentSymbol,
    DocumentSymbolParams, GotoDefinitionParams, Hover, HoverContents, HoverParams, Location, MarkupContent,
    MarkupKind, Position, PrepareRenameResponse, ReferenceParams, RenameParams, SymbolKind as Kind,
    TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::Value;
use std::collections::HashMap;

/// How many steps of a trace are shown beside a remark.
const STEPS: usize = 100;

/// A question about a document.
pub trait About {
    /// Which one.
    fn uri(&self) -> &Uri;
}

macro_rules! about {
    ($($params:ty: $($field:ident).+;)*) => {
        $(impl About for $params {
            fn uri(&self) -> &Uri {
                &self.$($field).+.uri
            }
        })*
    };
}

about! {
    HoverParams: text_document_position_params.text_document;
    GotoDefinitionParams: text_document_position_params.text_document;
    ReferenceParams: text_document_position.text_document;
    DocumentSymbolParams: text_document;
    DocumentFormattingParams: text_document;
    TextDocumentPositionParams: text_document;
    RenameParams: text_document_position.text_document;
    CodeActionParams: text_document;
    CodeLensParams: text_document;
}

fn remarks(text: &Text) -> Vec<Remark> {
    parse(text.as_str().as_bytes()).diagnostics.iter().cloned().collect()
}

/// A remark, as editors show it.
pub fn diagnostic(text: &Text, remark: &Remark) -> Diagnostic {
    let severity = match remark.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
    };
    let help = remark.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
    Diagnostic {
        range: text.range(remark.span.clone()),
        severity: Some(severity),
        source: Some("allways".to_string()),
        message: format!("{}{help}", remark.message),
        ..Diagnostic::default()
    }
}

/// What is wrong with a text.
pub fn diagnostics(text: &Text) -> Vec<Diagnostic> {
    remarks(text).iter().map(|remark| diagnostic(text, remark)).collect()
}

/// What a check has found, as remarks: at the line that is violated, with the steps of the trace beside it.
pub fn found(text: &Text, uri: &Uri, answer: &Value) -> Vec<Diagnostic> {
    let run = &answer["run"];
    if answer["verdict"] != "unsafe" {
        return Vec::new();
    }
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let steps = run["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let related = steps.iter().take(STEPS).enumerate().map(|(index, step)| {
        let thread = step["thread"].as_u64().and_then(|thread| run["threads"][thread as usize].as_str());
        let changed = step["changed"].as_array().map(Vec::as_slice).unwrap_or_default();
        let changed: Vec<&str> = changed.iter().filter_map(Value::as_str).collect();
        let changed = if changed.is_empty() { String::new() } else { format!(" [{}]", changed.join(", ")) };
        let said = step["text"].as_str().unwrap_or_default();
        DiagnosticRelatedInformation {
            location: Location::new(uri.clone(), text.line(number(&step["line"]).unwrap_or(1))),
            message: format!("step {}, {}: {said}{changed}", index + 1, thread.unwrap_or_default()),
        }
    });
    let line = number(&run["line"]).or_else(|| number(&steps.last()?["line"])).unwrap_or(1);
    let end = run["end"].as_str().or(answer["sentence"].as_str()).unwrap_or("unsafe");
    vec![Diagnostic {
        range: text.line(line),
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some("allways check".to_string()),
        message: end.to_string(),
        related_information: Some(related.collect()),
        ..Diagnostic::default()
    }]
}

/// The names of a text, and those at a place.
fn named(text: &Text, position: Position) -> (Outline, Option<(lsp_types::Range, Vec<usize>)>) {
    let outline = outline(text.as_str().as_bytes());
    let here =
        outline.at(text.offset(position)).map(|(span, symbols)| (text.range_of(*span), symbols.clone()));
    (outline, here)
}

pub fn hover(text: &Text, params: &HoverParams) -> Result<Option<Hover>, String> {
    let (outline, here) = named(text, params.text_document_position_params.position);
    Ok(here.map(|(range, symbols)| {
        let details = symbols.iter().map(|&symbol| outline.symbols[symbol].detail.as_str());
        let value = format!("```aw\n{}\n```", details.collect::<Vec<&str>>().join("\n").replace('`', "'"));
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Hover { contents, range: Some(range) }
    }))
}

pub fn definition(text: &Text, params: &GotoDefinitionParams) -> Result<Vec<Location>, String> {
    let (outline, here) = named(text, params.text_document_position_params.position);
    let symbols = here.map(|(_, symbols)| symbols).unwrap_or_default();
    let place = |symbol: usize| text.range_of(outline.symbols[symbol].span);
    Ok(symbols.into_iter().map(|symbol| Location::new(params.uri().clone(), place(symbol))).collect())
}

pub fn references(text: &Text, params: &ReferenceParams) -> Result<Vec<Location>, String> {
    let (outline, here) = named(text, params.text_document_position.position);
    let symbols = here.map(|(_, symbols)| symbols).unwrap_or_default();
    let spans = outline.same(&symbols).into_iter();
    Ok(spans.map(|span| Location::new(params.uri().clone(), text.range_of(span))).collect())
}

pub fn symbols(text: &Text, _: &DocumentSymbolParams) -> Result<Vec<DocumentSymbol>, String> {
    let outline = outline(text.as_str().as_bytes());
    let told = |symbol: &Symbol, children: Vec<DocumentSymbol>| {
        let kind = match symbol.kind {
            SymbolKind::Shared | SymbolKind::Local | SymbolKind::Parameter => Kind::VARIABLE,
            SymbolKind::Constant => Kind::CONSTANT,
            SymbolKind::Enumeration => Kind::ENUM,
            SymbolKind::Member => Kind::ENUM_MEMBER,
            SymbolKind::Field => Kind::FIELD,
            SymbolKind::Lock => Kind::OBJECT,
            SymbolKind::Event => Kind::EVENT,
            SymbolKind::Channel => Kind::INTERFACE,
            SymbolKind::Procedure | SymbolKind::Task => Kind::FUNCTION,
            SymbolKind::Thread => Kind::CLASS,
            SymbolKind::Label => Kind::KEY,
            SymbolKind::Property => Kind::PROPERTY,
        };
        #[allow(deprecated)] // The field has no default.
        DocumentSymbol {
            name: symbol.name.clone(),
            detail: Some(symbol.detail.clone()),
            kind,
            tags: None,
            deprecated: None,
            range: text.range_of(symbol.whole),
            selection_range: text.range_of(symbol.span),
            children: (!children.is_empty()).then_some(children),
        }
    };
    let outer = outline.symbols.iter().enumerate().filter(|(_, symbol)| symbol.within.is_none());
    let all = outer.map(|(number, symbol)| {
        let inner = outline.symbols.iter().filter(|inner| inner.within == Some(number));
        told(symbol, inner.map(|inner| told(inner, Vec::new())).collect())
    });
    Ok(all.collect())
}

pub fn formatting(text: &Text, _: &DocumentFormattingParams) -> Result<Vec<TextEdit>, String> {
    match format(text.as_str().as_bytes()) {
        Ok(formatted) if formatted == text.as_str() => Ok(Vec::new()),
        Ok(formatted) => Ok(vec![TextEdit::new(text.whole(), formatted)]),
        Err(_) => Err("the program has syntax errors".to_string()),
    }
}

pub fn prepare_rename(
    text: &Text,
    params: &TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>, String> {
    let (outline, here) = named(text, params.position);
    let renamed =
        here.filter(|(_, symbols)| symbols.iter().all(|&symbol| is_name(&outline.symbols[symbol].name)));
    Ok(renamed.map(|(range, _)| PrepareRenameResponse::Range(range)))
}

/// Renames a name, if every name of the new text stands for what it stood for.
pub fn rename(text: &Text, params: &RenameParams) -> Result<WorkspaceEdit, String> {
    let at = text.offset(params.text_document_position.position);
    Ok(edited(params.uri(), renamed(text, at, &params.new_name)?))
}

/// What has to be changed to rename the name at a byte.
fn renamed(text: &Text, at: usize, new: &str) -> Result<Vec<TextEdit>, String> {
    if !is_name(new) {
        return Err(format!("{new} cannot be a name"));
    }
    let before = outline(text.as_str().as_bytes());
    let symbols = before.at(at).map(|(_, symbols)| symbols.clone()).ok_or("there is no name here")?;
    if symbols.iter().any(|&symbol| !is_name(&before.symbols[symbol].name)) {
        return Err("this is a word of the language".to_string());
    }
    let places = before.same(&symbols);
    let mut changed = text.as_str().to_string();
    for span in places.iter().rev() {
        changed.replace_range(span.start as usize..span.end as usize, new);
    }
    let after = outline(changed.as_bytes());
    let meant =
        |outline: &Outline| outline.uses.iter().map(|(_, symbols)| symbols.clone()).collect::<Vec<_>>();
    let errors = |text: &str| {
        let remarks = parse(text.as_bytes()).diagnostics;
        remarks.iter().filter(|remark| remark.severity == Severity::Error).count()
    };
    if meant(&before) != meant(&after) || errors(text.as_str()) < errors(&changed) {
        return Err(format!("{new} is the name of something else"));
    }
    Ok(places.into_iter().map(|span| TextEdit::new(text.range_of(span), new.to_string())).collect())
}

// Addresses are compared by their texts, which do not change.
#[allow(clippy::mutable_key_type)]
fn edited(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit { changes: Some(HashMap::from([(uri.clone(), edits)])), ..WorkspaceEdit::default() }
}

/// What can be done about the remarks of a range, where that is plain.
pub fn fixes(text: &Text, params: &CodeActionParams) -> Result<Vec<CodeActionOrCommand>, String> {
    let touches =
        |range: lsp_types::Range| range.start <= params.range.end && params.range.start <= range.end;
    let mut fixes = Vec::new();
    for remark in remarks(text) {
        let about = diagnostic(text, &remark);
        if !touches(about.range) {
            continue;
        }
        let Some((title, edits)) = fix(text, &remark) else { continue };
        fixes.push(CodeActionOrCommand::CodeAction(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![about]),
            edit: Some(edited(params.uri(), edits)),
            is_preferred: Some(true),
            ..CodeAction::default()
        }));
    }
    Ok(fixes)
}

fn fix(text: &Text, remark: &Remark) -> Option<(String, Vec<TextEdit>)> {
    let here = text.as_str().get(remark.span.clone())?;
    let meant =
        remark.help.as_deref().and_then(|help| help.strip_prefix("did you mean `")?.strip_suffix("`?"));
    if let Some(meant) =
        meant.filter(|meant| meant.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    {
        let edit = TextEdit::new(text.range(remark.span.clone()), meant.to_string());
        return Some((format!("Change to `{meant}`"), vec![edit]));
    }
    if remark.message.ends_with("is never read") && is_name(here) {
        // Everywhere, as it may be written; unless the new name is taken.
        let new = format!("_{here}");
        return Some((format!("Rename to `{new}`"), renamed(text, remark.span.start, &new).ok()?));
    }
    if remark.message.starts_with("expected `;`") {
        let end = text.as_str()[..remark.span.start].trim_end().len();
        return Some(("Insert `;`".to_string(), vec![TextEdit::new(text.range(end..end), ";".to_string())]));
    }
    None
}

/// "check", above threads and properties.
pub fn lenses(text: &Text, params: &CodeLensParams, command: &str) -> Result<Vec<CodeLens>, String> {
    let outline = outline(text.as_str().as_bytes());
    let threads = outline.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Thread);
    let spans = threads.map(|symbol| symbol.span).chain(outline.properties.iter().copied());
    let lens = |span| CodeLens {
        range: text.range_of(span),
        command: Some(Command {
            title: "check".to_string(),
            command: command.to_string(),
            arguments: Some(vec![Value::String(params.uri().as_str().to_string())]),
        }),
        data: None,
    };
    Ok(spans.map(lens).collect())
}

/// "check", above all of a document whose parts are not known.
pub fn lens_of_all(uri: &Uri, command: &str) -> Vec<CodeLens> {
    let command = Command {
        title: "check".to_string(),
        command: command.to_string(),
        arguments: Some(vec![Value::String(uri.as_str().to_string())]),
    };
    vec![CodeLens { range: lsp_types::Range::default(), command: Some(command), data: None }]
}
