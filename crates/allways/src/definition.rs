//! Task definitions of SV-COMP: which program, with which sizes of types, which properties, and what is expected of each.
//!
//! The format is that of BenchExec (version 1.0, 2.0 and later ones of these): a mapping with `input_files`, `properties` (each with
//! a `property_file` and perhaps an `expected_verdict`) and `options` with the `data_model`. Whatever else there is, says nothing
//! about the question. Files are named from where the definition lies. Where a property file is not there, its name says
//! what it would state, since collections are often handed on without their folder of properties.

use crate::load::{LoadError, SourceDiagnostics, read};
use allways_c::property::Property;
use allways_c::typed::DataModel;
use allways_engines::Budget;
use allways_lang::diagnostic::{Diagnostic, Diagnostics};
use allways_lang::yaml::{self, Node};
use allways_model::task::Source;
use std::path::{Path, PathBuf};

/// A task definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The program.
    pub input: PathBuf,
    /// The sizes of its types, if they are said.
    pub data_model: Option<DataModel>,
    /// What is asked of it.
    pub asked: Vec<Asked>,
}

/// A property that is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Its name: that of its file, without the ending.
    pub name: String,
    /// The property, or why it is not checked.
    pub property: Result<Property, String>,
    /// Whether it is expected to hold, if that is said.
    pub expected: Option<bool>,
}

/// Whether a file is a task definition, by its name.
pub fn is_definition(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yml" || ending == "yaml")
}

impl Definition {
    /// Reads a definition and the property files that it names.
    pub fn read(path: &Path, budget: &Budget) -> Result<Definition, LoadError> {
        let source = read(path, budget)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let definition = yaml::parse(&source.text).and_then(|node| Definition::of(&node, &folder));
        definition.map_err(|error| faulty(source, error))
    }

    fn of(node: &Node, folder: &Path) -> Result<Definition, Diagnostic> {
        let files =
            node.get("input_files").ok_or_else(|| wrong(node, "a task definition, with `input_files`"))?;
        let one = files.text().or_else(|| match files.list() {
            Some([only]) => only.text(),
            _ => None,
        });
        let input = one.ok_or_else(|| wrong(files, "one input file; several are not linked"))?;
        let language = node.get("options").and_then(|options| options.get("language"));
        if let Some(language) = language.filter(|language| language.text() != Some("C")) {
            return Err(wrong(language, "a program in C"));
        }
        let data_model = node.get("options").and_then(|options| options.get("data_model"));
        let data_model = match data_model.map(|model| (model, model.text())) {
            None => None,
            Some((_, Some("ILP32"))) => Some(DataModel::Ilp32),
            Some((_, Some("LP64"))) => Some(DataModel::Lp64),
            Some((model, _)) => return Err(wrong(model, "ILP32 or LP64")),
        };
        let properties = node.get("properties").map_or(Some(&[][..]), Node::list);
        let properties = properties.ok_or_else(|| wrong(node, "a list of properties"))?;
        let asked = properties.iter().map(|one| Asked::of(one, folder)).collect::<Result<_, _>>()?;
        Ok(Definition { input: folder.join(input), data_model, asked })
    }
}

impl Asked {
    fn of(node: &Node, folder: &Path) -> Result<Asked, Diagnostic> {
        let file = node.get("property_file").and_then(Node::text);
        let file = file.ok_or_else(|| wrong(node, "a property, with `property_file`"))?;
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let expected = node.get("expected_verdict").map(|verdict| (verdict, verdict.truth()));
        let expected = match expected {
            Some((verdict, None)) => return Err(wrong(verdict, "true or false")),
            expected => expected.and_then(|(_, truth)| truth),
        };
        Ok(Asked { property: stated(&folder.join(file), &name), name, expected })
    }
}

/// What a property file states; if it is not there, what its name says.
fn stated(file: &Path, name: &str) -> Result<Property, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Property::of_file(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match Property::named(name) {
            // The file of this name asks for memory to be freed, too.
            Some(property) => Ok(Property { leaks: name == "valid-memsafety", ..property }),
            None => match Property::unchecked(name) {
                Some(why) => Err(why.to_string()),
                None => Err(format!("{} is not there, and its name says nothing", file.display())),
            },
        },
        Err(error) => Err(format!("{} cannot be read: {error}", file.display())),
    }
}

fn wrong(node: &Node, what: &str) -> Diagnostic {
    Diagnostic {
        severity: allways_lang::diagnostic::Severity::Error,
        span: node.span.clone(),
        message: format!("expected {what}"),
        help: None,
    }
}

fn faulty(source: Source, error: Diagnostic) -> LoadError {
    let mut diagnostics = Diagnostics::default();
    diagnostics.add(error.severity, error.span, || (error.message, error.help));
    LoadError::Faulty(Box::new(SourceDiagnostics { source, diagnostics }))
}
