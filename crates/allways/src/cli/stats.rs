//! What a search took: the walk through the grid of bounds (DrUBA, Table 1) and images before and during the last
//! plateau (Table 3).

use super::words;
use allways::Figures;
use allways_engines::engine::Cell;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

/// A grid with more rows or columns than this is not drawn.
const GRID: u32 = 12;

/// Prints everything known.
pub fn write(
    out: &mut dyn Write,
    figures: &Figures,
    searching: Duration,
    shortening: Option<Duration>,
    checking: Duration,
) -> io::Result<()> {
    write_cells(out, &figures.walk)?;
    let mut row = |name: &str, value: String| writeln!(out, "  {name:30} {value}");
    if let Some(plateau) = figures.plateau_images {
        row("images before the last plateau", (figures.images - plateau.min(figures.images)).to_string())?;
        row("images during the last plateau", plateau.to_string())?;
    }
    row("images", figures.images.to_string())?;
    let rate = figures.images as f64 / searching.as_secs_f64().max(1e-9);
    row("images per second", format!("{rate:.0}"))?;
    if let Some((respectful, disrespectful)) = figures.actions {
        row("actions", format!("{respectful} respectful, {disrespectful} disrespectful"))?;
    }
    if let Some(states) = figures.concrete_states {
        row("stored states", states.to_string())?;
    }
    if let Some(pairs) = figures.found_pairs {
        row("stored (state, finder) pairs", pairs.to_string())?;
        row("bytes per pair", format!("{:.1}", figures.store_bytes as f64 / pairs.max(1) as f64))?;
    }
    row("bytes stored", words::bytes(figures.store_bytes))?;
    row("search", words::duration(searching))?;
    if let Some(shortening) = shortening.filter(|shortening| !shortening.is_zero()) {
        row("search for a shorter trace", words::duration(shortening))?;
    }
    row("checking the evidence", words::duration(checking))?;
    figures.remarks.iter().try_for_each(|remark| writeln!(out, "  {remark}"))
}

/// Prints a walk, as a table and as a grid.
pub fn write_cells(out: &mut dyn Write, walk: &[Cell]) -> io::Result<()> {
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

/// The same, for machines.
#[derive(Serialize)]
pub struct Stats {
    walk: Vec<CellRow>,
    plateau_images: Option<u64>,
    respectful_actions: Option<usize>,
    disrespectful_actions: Option<usize>,
    found_pairs: Option<usize>,
    store_bytes: usize,
    search_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shortening_seconds: Option<f64>,
    checking_seconds: f64,
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct CellRow {
    rounds: u32,
    delays: u32,
    visible: usize,
    r#abstract: usize,
    concrete: usize,
    images: u64,
    closed: Option<bool>,
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
            plateau_images: figures.plateau_images,
            respectful_actions: figures.actions.map(|(respectful, _)| respectful),
            disrespectful_actions: figures.actions.map(|(_, disrespectful)| disrespectful),
            found_pairs: figures.found_pairs,
            store_bytes: figures.store_bytes,
            search_seconds: searching.as_secs_f64(),
            shortening_seconds: shortening.map(|shortening| shortening.as_secs_f64()),
            checking_seconds: checking.as_secs_f64(),
            remarks: figures.remarks.clone(),
        }
    }
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
