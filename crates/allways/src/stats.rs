//! What a search took: the walk through the grid of bounds (DrUBA, Table 1) and images before and during the last
//! plateau (Table 3).

use crate::words;
use allways_engines::engine::{Cell, Figures};
use allways_engines::journal::EngineRun;
use serde::{Serialize, Serializer};
use std::io::{self, Write};
use std::time::Duration;

/// A grid with more rows or columns than this is not drawn.
const GRID: u32 = 12;

/// What a search took.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    walk: Vec<CellRow>,
    #[serde(skip)]
    pub(crate) images: u64,
    #[serde(skip)]
    pub(crate) stored_states: Option<usize>,
    plateau_images: Option<u64>,
    respectful_actions: Option<usize>,
    disrespectful_actions: Option<usize>,
    found_pairs: Option<usize>,
    store_bytes: usize,
    search_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shortening_seconds: Option<f64>,
    checking_seconds: f64,
    /// How many states the program has as it was written, if it was run to confirm a certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program_states: Option<usize>,
    remarks: Vec<String>,
    /// Which engines ran.
    #[serde(rename = "runs", serialize_with = "runs")]
    pub(crate) journal: Vec<EngineRun>,
    #[serde(skip)]
    cells: Vec<Cell>,
}

#[derive(Clone, Debug, Serialize)]
struct CellRow {
    rounds: u32,
    delays: u32,
    visible: usize,
    r#abstract: usize,
    concrete: usize,
    images: u64,
    closed: Option<bool>,
}

fn runs<S: Serializer>(runs: &[EngineRun], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        engine: &'a str,
        threads: &'a str,
        started: f64,
        seconds: f64,
        outcome: &'a str,
        states: Option<usize>,
    }
    serializer.collect_seq(runs.iter().map(|run| Row {
        engine: run.engine,
        threads: &run.threads,
        started: run.started.as_secs_f64(),
        seconds: run.took.as_secs_f64(),
        outcome: &run.outcome,
        states: run.states,
    }))
}

impl Stats {
    /// Everything known.
    pub fn new(
        figures: &Figures,
        searching: Duration,
        shortening: Option<Duration>,
        checking: Duration,
    ) -> Stats {
        let row = |cell: &Cell| CellRow {
            rounds: cell.rounds,
            delays: cell.delays,
            visible: cell.visible,
            r#abstract: cell.abstract_states,
            concrete: cell.concrete,
            images: cell.images,
            closed: cell.closed,
        };
        Stats {
            walk: figures.walk.iter().map(row).collect(),
            images: figures.images,
            stored_states: figures.concrete_states,
            plateau_images: figures.plateau_images,
            respectful_actions: figures.actions.map(|(respectful, _)| respectful),
            disrespectful_actions: figures.actions.map(|(_, disrespectful)| disrespectful),
            found_pairs: figures.found_pairs,
            store_bytes: figures.store_bytes,
            search_seconds: searching.as_secs_f64(),
            shortening_seconds: shortening.map(|shortening| shortening.as_secs_f64()),
            checking_seconds: checking.as_secs_f64(),
            program_states: None,
            remarks: figures.remarks.clone(),
            journal: Vec::new(),
            cells: figures.walk.clone(),
        }
    }

    /// The walk through the grid of bounds.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Prints everything known.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write_cells(out, &self.cells)?;
        let seconds = |seconds: f64| words::duration(Duration::from_secs_f64(seconds));
        let mut row = |name: &str, value: String| writeln!(out, "  {name:30} {value}");
        if let Some(plateau) = self.plateau_images {
            row("images before the last plateau", (self.images - plateau.min(self.images)).to_string())?;
            row("images during the last plateau", plateau.to_string())?;
        }
        row("images", self.images.to_string())?;
        row("images per second", format!("{:.0}", self.images as f64 / self.search_seconds.max(1e-9)))?;
        if let (Some(respectful), Some(disrespectful)) = (self.respectful_actions, self.disrespectful_actions)
        {
            row("actions", format!("{respectful} respectful, {disrespectful} disrespectful"))?;
        }
        if let Some(states) = self.stored_states {
            row("stored states", states.to_string())?;
        }
        if let Some(pairs) = self.found_pairs {
            row("stored (state, finder) pairs", pairs.to_string())?;
            row("bytes per pair", format!("{:.1}", self.store_bytes as f64 / pairs.max(1) as f64))?;
        }
        row("bytes stored", words::bytes(self.store_bytes))?;
        row("search", seconds(self.search_seconds))?;
        if let Some(shortening) = self.shortening_seconds.filter(|&shortening| shortening > 0.0) {
            row("search for a shorter trace", seconds(shortening))?;
        }
        row("checking the evidence", seconds(self.checking_seconds))?;
        if let Some(states) = self.program_states {
            row("states of the whole program", states.to_string())?;
        }
        self.remarks.iter().try_for_each(|remark| writeln!(out, "  {remark}"))?;
        self.journal.iter().try_for_each(|run| {
            let (started, took) = (words::duration(run.started), words::duration(run.took));
            let threads = if run.threads.is_empty() { String::new() } else { format!(", {}", run.threads) };
            writeln!(out, "  {}{threads}: after {started}, for {took}: {}", run.engine, run.outcome)
        })
    }
}

/// Prints a walk, as a table and as a grid.
fn write_cells(out: &mut dyn Write, walk: &[Cell]) -> io::Result<()> {
    if walk.is_empty() {
        return Ok(());
    }
    write_walk(out, walk)?;
    write_grid(out, walk)
}

fn write_walk(out: &mut dyn Write, walk: &[Cell]) -> io::Result<()> {
    let header =
        ["rounds", "delays", "visible", "abstract", "concrete", "images", "closed"].map(str::to_string);
    let rows = walk.iter().map(|cell| {
        let closed = cell.closed.map_or("", |closed| if closed { "yes" } else { "no" });
        [
            cell.rounds.to_string(),
            cell.delays.to_string(),
            cell.visible.to_string(),
            cell.abstract_states.to_string(),
            cell.concrete.to_string(),
            cell.images.to_string(),
            closed.to_string(),
        ]
    });
    let rows: Vec<[String; 7]> = [header].into_iter().chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..7).map(width).collect();
    for row in &rows {
        let texts: String =
            row.iter().zip(&widths).map(|(text, width)| format!("  {text:>width$}")).collect();
        writeln!(out, "{}", texts.trim_end())?;
    }
    writeln!(out)
}

/// The visible states at each cell of the walk: an arrow shows how it was come to, brackets where the walk ended.
fn write_grid(out: &mut dyn Write, walk: &[Cell]) -> io::Result<()> {
    let (Some(first), Some(last)) = (walk.first(), walk.last()) else { return Ok(()) };
    if last.rounds - first.rounds.min(last.rounds) >= GRID
        || last.delays - first.delays.min(last.delays) >= GRID
    {
        return Ok(());
    }
    let text = |rounds: u32, delays: u32| {
        let index = walk.iter().position(|cell| (cell.rounds, cell.delays) == (rounds, delays))?;
        let arrow = match index.checked_sub(1).map(|before| walk[before].rounds < rounds) {
            None => " ",
            Some(true) => "↓",
            Some(false) => "→",
        };
        let visible = walk[index].visible;
        Some(if index + 1 == walk.len() {
            format!("{arrow}[{visible}]")
        } else {
            format!("{arrow} {visible} ")
        })
    };
    let width = 4 + last.visible.to_string().len();
    let header: String =
        (first.delays..=last.delays).map(|delays| format!(" {:>width$}", format!("d={delays} "))).collect();
    writeln!(out, "  {:5}{}", "", header.trim_end())?;
    for rounds in first.rounds..=last.rounds {
        let cells = (first.delays..=last.delays).map(|delays| text(rounds, delays).unwrap_or_default());
        let cells: String = cells.map(|cell| format!(" {cell:>width$}")).collect();
        writeln!(out, "  {:5}{}", format!("r={rounds}"), cells.trim_end())?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(rounds: u32, delays: u32, visible: usize) -> Cell {
        Cell { rounds, delays, visible, abstract_states: visible, concrete: visible, images: 0, closed: None }
    }

    #[test]
    fn the_grid_shows_the_walk_of_table_1() {
        let walk = [(1, 0, 2), (2, 0, 2), (2, 1, 2), (2, 2, 3), (3, 2, 3), (3, 3, 3), (3, 4, 3)];
        let walk = walk.map(|(rounds, delays, visible)| cell(rounds, delays, visible));
        let mut text = Vec::new();
        write_grid(&mut text, &walk).unwrap();
        let expected = "
         d=0   d=1   d=2   d=3   d=4
  r=1      2
  r=2    ↓ 2   → 2   → 3
  r=3                ↓ 3   → 3   →[3]

";
        assert_eq!(String::from_utf8(text).unwrap(), expected[1..]);
        let mut text = Vec::new();
        write_grid(&mut text, &[cell(0, 0, 1), cell(12, 0, 1)]).unwrap();
        assert!(text.is_empty(), "too large to be drawn");
    }
}
