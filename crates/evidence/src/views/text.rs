//! Views as [text](crate::text): what follows the first line.

use super::names::Names;
use super::{MOST, Views, weighed};
use crate::text::BadEvidence;
use crate::text::lines::{Line, Lines};
use allways_model::program::{LocationId, Program};
use allways_smt::{Term, read_term};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Write};

/// The most sums of weights in a text.
const MOST_WEIGHTS: usize = 64;

/// Writes views.
pub(crate) fn write_views(program: &Program, views: &Views, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "threads")?;
    for (template, count) in program.templates.iter().zip(&views.counts) {
        match count {
            Some(count) => write!(out, " {}={count}", template.name)?,
            None => write!(out, " {}=*", template.name)?,
        }
    }
    writeln!(out, "\nsize {}", views.size)?;
    if views.anchored {
        writeln!(out, "anchored")?;
    }
    for weights in &views.weights {
        write!(out, "weights")?;
        weights.iter().try_for_each(|(location, weight)| write!(out, " {location}={weight}"))?;
        writeln!(out)?;
    }
    let named: BTreeSet<LocationId> = views.rows.keys().flatten().copied().collect();
    for location in named {
        writeln!(out, "# location {location}: line {}", program.locations[location].span.line)?;
    }
    for (locations, formula) in &views.rows {
        let locations = locations.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        writeln!(out, "row {locations}: {formula}")?;
    }
    writeln!(out, "end {}", views.rows.len())
}

/// The names that formulas may speak of.
struct Known {
    shared: HashSet<String>,
    /// For each template.
    locals: Vec<HashSet<String>>,
}

impl Known {
    fn new(names: &Names) -> Known {
        let locals = names.locals.iter().zip(&names.hidden).map(|(locals, hidden)| {
            let locals = locals.iter().map(|(name, ..)| name.clone());
            locals.chain(hidden.iter().map(ToString::to_string)).collect()
        });
        Known {
            shared: names.shared.iter().map(|(name, ..)| name.clone()).collect(),
            locals: locals.collect(),
        }
    }

    /// Whether the formula of a row may speak of this variable.
    fn speaks_of(&self, name: &str, names: &Names, views: &Views, locations: &[LocationId]) -> bool {
        if self.shared.contains(name) || (0..views.weights.len()).any(|index| weighed(index) == name) {
            return true;
        }
        let Some((local, position)) = name.rsplit_once('@') else { return false };
        let here = (0..locations.len()).find(|place| place.to_string() == position);
        let template =
            here.and_then(|place| names.templates.get(locations[place].index()).copied().flatten());
        template.is_some_and(|template| self.locals[template.index()].contains(local))
    }
}

/// Reads views of a program.
pub(crate) fn read_views(program: &Program, lines: &mut Lines<'_>) -> Result<Views, BadEvidence> {
    let names = Names::new(program);
    let mut reader = Reader { program, known: Known::new(&names), names: &names, views: Views::default() };
    loop {
        let mut line = lines.next("`end`")?;
        match line.word("a keyword")? {
            "threads" if reader.views.counts.is_empty() => reader.threads(&mut line)?,
            "size" if reader.views.size == 0 => reader.size(&mut line)?,
            "anchored" if reader.views.rows.is_empty() => {
                reader.views.anchored = true;
                line.end()?;
            }
            "weights" if reader.views.rows.is_empty() && reader.views.weights.len() < MOST_WEIGHTS => {
                reader.weights(&mut line)?
            }
            "row" if reader.views.size > 0 => reader.row(&mut line)?,
            "end" => {
                line.count("rows", reader.views.rows.len())?;
                return Ok(reader.views);
            }
            _ => {
                return Err(
                    line.expected("`threads`, `size`, `anchored`, `weights`, `row` or `end`, in this order")
                );
            }
        }
    }
}

struct Reader<'p> {
    program: &'p Program,
    names: &'p Names,
    known: Known,
    views: Views,
}

impl Reader<'_> {
    fn threads(&mut self, line: &mut Line<'_>) -> Result<(), BadEvidence> {
        for template in &self.program.templates {
            let expected = format!("`{}=` and a number of threads or `*`", template.name);
            let word = line.word(&expected)?;
            let count = word.strip_prefix(template.name.as_str()).and_then(|rest| rest.strip_prefix('='));
            let count = match count {
                Some("*") => None,
                Some(count) => Some(count.parse().map_err(|_| line.expected(&expected))?),
                None => return Err(line.expected(&expected)),
            };
            self.views.counts.push(count);
        }
        line.end()
    }

    fn size(&mut self, line: &mut Line<'_>) -> Result<(), BadEvidence> {
        let expected = format!("a number from 1 to {MOST}");
        self.views.size = line.number(&expected)?;
        if self.views.size == 0 || self.views.size > MOST {
            return Err(line.expected(&expected));
        }
        line.end()
    }

    fn weights(&mut self, line: &mut Line<'_>) -> Result<(), BadEvidence> {
        let mut weights = BTreeMap::new();
        while !line.rest().is_empty() {
            let word = line.word("a weight")?;
            let weight = word.split_once('=').and_then(|(location, weight)| {
                let location = location.parse().ok().filter(|&location| self.known(location))?;
                Some((location, weight.parse::<i32>().ok()?))
            });
            let (location, weight) = weight.ok_or_else(|| line.expected("LOCATION=WEIGHT"))?;
            weights.insert(location, i64::from(weight));
        }
        self.views.weights.push(weights);
        Ok(())
    }

    fn known(&self, location: LocationId) -> bool {
        self.names.templates.get(location.index()).is_some_and(Option::is_some)
    }

    fn row(&mut self, line: &mut Line<'_>) -> Result<(), BadEvidence> {
        let mut locations: Vec<LocationId> = Vec::new();
        for position in 0..self.views.size {
            let last = position + 1 == self.views.size;
            let expected =
                "the number of a location where threads can be, in order, and a colon after the last";
            let location = if last { line.number_before_colon(expected)? } else { line.number(expected)? };
            if !self.known(location) || locations.last().is_some_and(|&before| before > location) {
                return Err(line.expected(expected));
            }
            locations.push(location);
        }
        let known = |name: &str| self.known.speaks_of(name, self.names, &self.views, &locations);
        let read = read_term(line.rest(), &|name| known(name).then(|| Term::variable(name)));
        let formula = read.map_err(|bad| line.bad_after(bad.at, bad.what))?;
        if !formula.is_boolean() {
            return Err(line.bad_after(0, "expected a formula, found a number".to_string()));
        }
        match self.views.rows.insert(locations, formula) {
            None => Ok(()),
            Some(_) => Err(line.expected("locations that have no row yet")),
        }
    }
}

/// Whether each row speaks of what it may.
pub(super) fn well_formed(names: &Names, views: &Views) -> bool {
    let known = Known::new(names);
    let template = |location: LocationId| names.templates.get(location.index()).copied().flatten();
    views.rows.iter().all(|(locations, formula)| {
        let mut found = BTreeSet::new();
        formula.variables(&mut found);
        let sorted = locations.windows(2).all(|pair| pair[0] <= pair[1]);
        let placed = locations.len() == views.size && locations.iter().all(|&at| template(at).is_some());
        let speaks_of = |name: &str| known.speaks_of(name, names, views, locations);
        sorted && placed && formula.is_boolean() && found.iter().all(|name| speaks_of(name))
    })
}
