//! `allways lsp`: a language server for programs in the `.aw` language; of other notations, it says what is wrong with them, and checks them.
//!
//! It keeps the text of each open document, says what is wrong with it after every change, and answers questions about it from its
//! [outline](allways_lang::aw::outline); all of that takes a fraction of a millisecond, so it is done anew each time. A check takes
//! longer: it runs in a process of its own ([`jobs`](crate::jobs)), and what it finds stays beside the other remarks until the text changes.
//!
//! Read in this order: `stdio`, messages; `text`, places as editors count them; `answers`, what is said about a text; `others`, other
//! notations; then this file, who asks what.

mod answers;
mod others;
mod stdio;
mod text;

use crate::jobs::{Jobs, Limits, Order, Outcome};
use lsp_server::{Connection, ErrorCode, ExtractError, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    Cancel, DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
    Notification as _, PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{
    CodeActionRequest, CodeLensRequest, DocumentSymbolRequest, ExecuteCommand, Formatting, GotoDefinition,
    HoverRequest, PrepareRenameRequest, References, Rename, Request as _,
};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, Diagnostic,
    ExecuteCommandOptions, HoverProviderCapability, MessageType, NumberOrString, OneOf,
    PublishDiagnosticsParams, RenameOptions, ServerCapabilities, ShowMessageParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
    Uri, WorkDoneProgressOptions,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use text::Text;

/// The command of the code lens.
const CHECK: &str = "allways.check";

/// What a check may take.
const LIMITS: Limits = Limits { time: Duration::from_secs(60), memory: 2 << 30 };

/// Serves an editor on standard input and output until it says that it is done, or goes. `program` is run for each check.
pub fn run(program: PathBuf) -> io::Result<()> {
    let (connection, threads) = stdio::connect();
    let jobs = Arc::new(Jobs::new(program, LIMITS));
    let served = introduced(&connection).and_then(|()| {
        let (documents, checks) = (Arc::default(), Arc::default());
        Server { jobs: Arc::clone(&jobs), documents, checks, connection: &connection }.serve()
    });
    jobs.stop();
    drop(connection);
    // What was wrong with the input is why nothing came any more.
    threads.join().and(served)
}

/// Tells an editor what can be asked for.
fn introduced(connection: &Connection) -> io::Result<()> {
    let failed = |error: lsp_server::ProtocolError| match error.channel_is_disconnected() {
        true => io::Error::other("it ended before the editor had said who it is"),
        false => io::Error::other(error.to_string()),
    };
    let (id, _) = connection.initialize_start().map_err(failed)?;
    let about = json!({ "name": "allways", "version": env!("CARGO_PKG_VERSION") });
    let told = json!({ "capabilities": serde_json::to_value(capabilities())?, "serverInfo": about });
    connection.initialize_finish(id, told).map_err(failed)
}

fn capabilities() -> ServerCapabilities {
    let none = WorkDoneProgressOptions::default();
    let fixes = CodeActionOptions {
        code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
        ..CodeActionOptions::default()
    };
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: none,
        })),
        code_action_provider: Some(CodeActionProviderCapability::Options(fixes)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: None }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![CHECK.to_string()],
            work_done_progress_options: none,
        }),
        ..ServerCapabilities::default()
    }
}

/// A document that is open.
struct Document {
    text: Text,
    version: i32,
    /// What is wrong with it; of a file that is read from disk, what was wrong when it was read last.
    remarks: Vec<Diagnostic>,
    /// What a check of this text has found.
    found: Vec<Diagnostic>,
    /// How often it has been read from disk.
    readings: u64,
}

impl Document {
    /// All there is to say.
    fn said(&self) -> Vec<Diagnostic> {
        self.remarks.iter().chain(&self.found).cloned().collect()
    }
}

type Documents = Arc<Mutex<HashMap<Uri, Document>>>;

struct Server<'a> {
    connection: &'a Connection,
    documents: Documents,
    jobs: Arc<Jobs>,
    /// Requests for checks that are waited for.
    checks: Arc<Mutex<HashSet<RequestId>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server<'_> {
    fn serve(&self) -> io::Result<()> {
        for message in &self.connection.receiver {
            match message {
                Message::Request(request) => {
                    let done = self.connection.handle_shutdown(&request);
                    if done.map_err(|error| io::Error::other(error.to_string()))? {
                        return Ok(());
                    }
                    self.request(request);
                }
                Message::Notification(notification) => self.notification(notification),
                Message::Response(_) => {}
            }
        }
        Ok(())
    }

    /// Sends something. That the editor has gone shows when nothing comes from it any more.
    fn send(&self, message: impl Into<Message>) {
        let _ = self.connection.sender.send(message.into());
    }

    fn request(&self, request: Request) {
        let id = request.id.clone();
        let answer = match request.method.as_str() {
            HoverRequest::METHOD => self.about(request, answers::hover),
            GotoDefinition::METHOD => self.about(request, answers::definition),
            References::METHOD => self.about(request, answers::references),
            DocumentSymbolRequest::METHOD => self.about(request, answers::symbols),
            Formatting::METHOD => self.about(request, answers::formatting),
            PrepareRenameRequest::METHOD => self.about(request, answers::prepare_rename),
            Rename::METHOD => self.about(request, answers::rename),
            CodeActionRequest::METHOD => self.about(request, answers::fixes),
            CodeLensRequest::METHOD => {
                self.about(request, |text, params| answers::lenses(text, params, CHECK))
            }
            ExecuteCommand::METHOD => match self.check(request) {
                Ok(()) => return,
                Err(why) => Err((ErrorCode::InvalidParams, why)),
            },
            other => Err((ErrorCode::MethodNotFound, format!("{other} is not known"))),
        };
        self.send(match answer {
            Ok(value) => Response::new_ok(id, value),
            Err((code, why)) => Response::new_err(id, code as i32, why),
        });
    }

    /// Answers a question about a document.
    fn about<P: DeserializeOwned + answers::About, R: Serialize>(
        &self,
        request: Request,
        answer: impl FnOnce(&Text, &P) -> Result<R, String>,
    ) -> Result<Value, (ErrorCode, String)> {
        let params: P = serde_json::from_value(request.params)
            .map_err(|error| (ErrorCode::InvalidParams, error.to_string()))?;
        let documents = lock(&self.documents);
        let Some(document) = documents.get(params.uri()) else {
            return Err((ErrorCode::InvalidParams, "this document is not open".to_string()));
        };
        // Of other notations, the names are not known.
        if others::notation(params.uri()) != "aw" {
            let lenses =
                || serde_json::to_value(answers::lens_of_all(params.uri(), CHECK)).unwrap_or_default();
            return Ok(if request.method == CodeLensRequest::METHOD { lenses() } else { Value::Null });
        }
        let answer = answer(&document.text, &params).map_err(|why| (ErrorCode::RequestFailed, why))?;
        serde_json::to_value(answer).map_err(|error| (ErrorCode::InternalError, error.to_string()))
    }

    fn notification(&self, notification: Notification) {
        let method = notification.method.clone();
        match method.as_str() {
            DidOpenTextDocument::METHOD => {
                if let Ok(opened) = params::<DidOpenTextDocument>(notification) {
                    let document = opened.text_document;
                    self.keep(document.uri.clone(), document.text, document.version);
                    self.read(document.uri);
                }
            }
            DidSaveTextDocument::METHOD => {
                if let Ok(saved) = params::<DidSaveTextDocument>(notification) {
                    self.read(saved.text_document.uri);
                }
            }
            DidChangeTextDocument::METHOD => {
                if let Ok(mut changed) = params::<DidChangeTextDocument>(notification)
                    && let Some(last) = changed.content_changes.pop()
                {
                    self.keep(changed.text_document.uri, last.text, changed.text_document.version);
                }
            }
            DidCloseTextDocument::METHOD => {
                if let Ok(closed) = params::<DidCloseTextDocument>(notification) {
                    let uri = closed.text_document.uri;
                    lock(&self.documents).remove(&uri);
                    self.send(published(uri, Vec::new(), None));
                }
            }
            Cancel::METHOD => {
                if let Ok(cancelled) = params::<Cancel>(notification) {
                    let id = match cancelled.id {
                        NumberOrString::Number(number) => RequestId::from(number),
                        NumberOrString::String(text) => RequestId::from(text),
                    };
                    lock(&self.checks).remove(&id);
                }
            }
            _ => {}
        }
    }

    /// Takes a text for a document, and says what is wrong with it.
    fn keep(&self, uri: Uri, text: String, version: i32) {
        let (text, notation) = (Text::new(text), others::notation(&uri));
        let mut documents = lock(&self.documents);
        let before = documents.remove(&uri);
        let readings = before.as_ref().map_or(0, |before| before.readings);
        let remarks = match notation {
            "aw" => answers::diagnostics(&text),
            _ if others::is_read_from_disk(notation) => {
                before.map(|before| before.remarks).unwrap_or_default()
            }
            _ => others::remarks(&text, notation, others::path(&uri).as_deref()),
        };
        let document = Document { text, version, remarks: remarks.clone(), found: Vec::new(), readings };
        documents.insert(uri.clone(), document);
        drop(documents);
        self.send(published(uri, remarks, Some(version)));
    }

    /// Reads a document from disk, if that is how it is read, and says what is wrong with it.
    fn read(&self, uri: Uri) {
        let Some(path) = others::path(&uri).filter(|_| others::is_read_from_disk(others::notation(&uri)))
        else {
            return;
        };
        let number = {
            let mut documents = lock(&self.documents);
            let Some(document) = documents.get_mut(&uri) else { return };
            document.readings += 1;
            document.readings
        };
        let (sender, documents) = (self.connection.sender.clone(), Arc::clone(&self.documents));
        thread::spawn(move || {
            let remarks = others::read(&path);
            let mut documents = lock(&documents);
            // Who is overtaken by a later reading is silent.
            if let Some(document) = documents.get_mut(&uri).filter(|document| document.readings == number) {
                document.remarks = remarks;
                let _ = sender.send(published(uri, document.said(), None).into());
            }
        });
    }

    /// Starts a check; it is answered when it has ended.
    fn check(&self, request: Request) -> Result<(), String> {
        let id = request.id;
        let asked: lsp_types::ExecuteCommandParams =
            serde_json::from_value(request.params).map_err(|error| error.to_string())?;
        if asked.command != CHECK {
            return Err(format!("{} is not known", asked.command));
        }
        let uri = asked.arguments.into_iter().next().and_then(|uri| serde_json::from_value::<Uri>(uri).ok());
        let uri = uri.ok_or("expected the address of a document")?;
        let (program, version) = {
            let documents = lock(&self.documents);
            let document = documents.get(&uri).ok_or("this document is not open")?;
            (document.text.as_str().as_bytes().to_vec(), document.version)
        };
        let notation = others::notation(&uri);
        let file = others::path(&uri).filter(|_| others::has_others(notation));
        if let Some(file) = &file
            && fs::read(file).ok().as_ref() != Some(&program)
        {
            return Err("save it first: it is checked with other files".to_string());
        }
        let session = uri.as_str().to_string();
        lock(&self.checks).insert(id.clone());
        let (sender, documents) = (self.connection.sender.clone(), Arc::clone(&self.documents));
        let (jobs, checks) = (Arc::clone(&self.jobs), Arc::clone(&self.checks));
        thread::spawn(move || {
            let order = Order { program, notation: Some(notation), file, ..Order::default() };
            // Who cancels it takes it out, perhaps before it runs.
            let outcome = jobs.run(&session, &order, &|| !lock(&checks).contains(&id));
            lock(&checks).remove(&id);
            let answer: Value = match outcome {
                Outcome::Done(json) => serde_json::from_slice(&json).unwrap_or_default(),
                Outcome::Busy => {
                    json!({ "verdict": "unknown", "sentence": "a check of this program is running" })
                }
                Outcome::Cancelled => json!({ "verdict": "unknown", "sentence": "the check was cancelled" }),
                Outcome::Failed(why) => json!({ "verdict": "unknown", "sentence": why }),
            };
            // A text that has changed is another program, and one that was opened again may have the same version.
            let is_checked = |document: &Document| {
                document.version == version && document.text.as_str().as_bytes() == order.program
            };
            if let Some(document) = lock(&documents).get_mut(&uri).filter(|document| is_checked(document)) {
                document.found = answers::found(&document.text, &uri, &answer);
                let _ = sender.send(published(uri, document.said(), Some(version)).into());
            }
            let _ = sender.send(shown(&answer).into());
            let told = json!({ "verdict": answer["verdict"], "sentence": answer["sentence"] });
            let _ = sender.send(Response::new_ok(id, told).into());
        });
        Ok(())
    }
}

fn params<N: lsp_types::notification::Notification>(
    notification: Notification,
) -> Result<N::Params, ExtractError<Notification>> {
    notification.extract(N::METHOD)
}

fn published(uri: Uri, diagnostics: Vec<Diagnostic>, version: Option<i32>) -> Notification {
    let params = PublishDiagnosticsParams { uri, diagnostics, version };
    Notification::new(PublishDiagnostics::METHOD.to_string(), params)
}

/// The verdict, as a message.
fn shown(answer: &Value) -> Notification {
    let verdict = answer["verdict"].as_str().unwrap_or("unknown");
    let typ = match verdict {
        "safe" => MessageType::INFO,
        "unsafe" | "error" => MessageType::ERROR,
        _ => MessageType::WARNING,
    };
    let sentence = answer["sentence"].as_str().unwrap_or("the program has errors");
    let message = format!("{verdict}: {}", sentence.replace("standard input", "this program"));
    Notification::new(ShowMessage::METHOD.to_string(), ShowMessageParams { typ, message })
}
