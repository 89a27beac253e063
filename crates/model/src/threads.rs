//! How many threads: what the program says, what the user says, and what to try where neither does.

use crate::encoding::Threads;
use crate::program::{Count, Program, Template};
use std::fmt;
use std::str::FromStr;

/// The most threads of a template that can be asked for.
const MOST: usize = 1 << 16;

/// Numbers of threads that the user asks for: `3`, or `adder=2,stopper=1`; `*` is any number.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Counts(Vec<(Option<String>, Option<usize>)>);

impl FromStr for Counts {
    type Err = String;

    fn from_str(text: &str) -> Result<Counts, String> {
        let number = |text: &str| {
            let digits = text.trim();
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            match digits.parse::<usize>() {
                Ok(number) if number <= MOST => Ok(Some(number)),
                _ if digits == "*" => Ok(None),
                _ if is_number => Err(format!("{digits} threads are more than the {MOST} that are possible")),
                _ => Err(format!(
                    "expected a number of threads such as 3, or adder=2,stopper=1, found `{}`",
                    text.escape_debug()
                )),
            }
        };
        let counts = text.split(',').map(|part| match part.split_once('=') {
            Some((name, count)) => Ok((Some(name.trim().to_string()), number(count)?)),
            None if text.contains(',') => {
                Err("several numbers need names, such as adder=2,stopper=1".to_string())
            }
            None => Ok((None, number(part)?)),
        });
        Ok(Counts(counts.collect::<Result<_, _>>()?))
    }
}

/// Why numbers of threads do not fit a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchThreads {
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub help: String,
}

impl fmt::Display for NoSuchThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.what, self.help)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, count)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let count = count.map_or("*".to_string(), |count| count.to_string());
            match name {
                Some(name) => write!(f, "{comma}{name}={count}")?,
                None => write!(f, "{comma}{count}")?,
            }
        }
        Ok(())
    }
}

impl Counts {
    /// So many threads of each name.
    pub fn of(counts: impl Iterator<Item = (String, usize)>) -> Counts {
        Counts(counts.map(|(name, count)| (Some(name), Some(count))).collect())
    }

    /// Whether the user has said nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of these that are not among the others.
    pub fn without(&self, others: &Counts) -> Counts {
        Counts(self.0.iter().filter(|count| !others.0.contains(count)).cloned().collect())
    }

    /// Those of these that say something of a program in which all that runs from the start is given: they bound how many
    /// threads are started.
    pub fn of_started(&self, program: &Program) -> Result<Counts, NoSuchThreads> {
        let mut kept = Vec::new();
        for (name, count) in &self.0 {
            if program.templates[which(program, name.as_deref())?].spawned {
                kept.push((name.clone(), *count));
            }
        }
        Ok(Counts(kept))
    }

    /// These, and so many threads of other templates.
    pub fn and(&self, more: impl IntoIterator<Item = (String, usize)>) -> Counts {
        let more = more.into_iter().map(|(name, count)| (Some(name), Some(count)));
        Counts(self.0.iter().cloned().chain(more).collect())
    }

    /// The threads of a program where one stands for any number if nobody says how many there are, or how many can be
    /// started; `None` if that is said of all.
    pub fn any_number(&self, program: &Program) -> Result<Option<Threads>, NoSuchThreads> {
        let (threads, open) = self.threads(program, 1)?;
        let mut many = Threads::many(program).many;
        for (name, count) in &self.0 {
            many[which(program, name.as_deref())?] &= count.is_none();
        }
        Ok(open.then_some(Threads { cut: None, many, ..threads }))
    }

    /// How many threads of each template there are; none where any number may be.
    pub fn by_template(&self, program: &Program) -> Result<Vec<Option<usize>>, NoSuchThreads> {
        let (threads, _) = self.threads(program, 1)?;
        let mut counts: Vec<Option<usize>> = threads.running.iter().copied().map(Some).collect();
        for (index, template) in program.templates.iter().enumerate() {
            if template.count == Count::Any {
                counts[index] = None;
            }
        }
        for (name, count) in &self.0 {
            let template = which(program, name.as_deref())?;
            counts[template] = count.or(counts[template]);
        }
        Ok(counts)
    }

    /// The threads of a program. Where nobody says how many there are, or how many can be started, take `any`.
    ///
    /// Also whether that happened: then it may help to take more.
    pub fn threads(&self, program: &Program, any: usize) -> Result<(Threads, bool), NoSuchThreads> {
        let mut asked: Vec<Option<usize>> = vec![None; program.templates.len()];
        let mut said = vec![false; program.templates.len()];
        for (name, count) in &self.0 {
            let template = which(program, name.as_deref())?;
            let Template { name, count: stated, spawned, .. } = &program.templates[template];
            asked[template] = *count;
            if let (None, Count::Fixed(stated), false) = (count, stated, spawned) {
                let what =
                    format!("the program says that there is a fixed number of threads of {name}: {stated}");
                let help = format!("write `thread {name}[*]` into the program, or give a number");
                return Err(NoSuchThreads { what, help });
            }
            let changes = |count: &usize| Count::Fixed(*count) != *stated;
            if count.as_ref().is_some_and(changes) && program.keeps_locals_of(&program.templates[template]) {
                let what =
                    format!("a property speaks of local variables of {name}, so their number is fixed");
                let help = "change it in the program; if it is a constant, by -D".to_string();
                return Err(NoSuchThreads { what, help });
            }
            if std::mem::replace(&mut said[template], true) {
                let what = format!("--threads says twice how many threads of {name} there are");
                return Err(NoSuchThreads { what, help: "say it once".to_string() });
            }
        }
        let open = |(template, asked): (&Template, &Option<usize>)| {
            asked.is_none() && (template.spawned || template.count == Count::Any)
        };
        let is_open = program.templates.iter().zip(&asked).any(open);
        let mut threads = Threads::of(program, any);
        threads.cut = None;
        for (index, template) in program.templates.iter().enumerate() {
            match (asked[index], template.count) {
                (None, Count::Any) => {
                    let name = &template.name;
                    let plural = if any == 1 { "thread" } else { "threads" };
                    threads.cut = Some(format!("more than {any} {plural} of {name} were not tried"));
                }
                (Some(asked), Count::Fixed(count)) if template.spawned => {
                    threads.pool[index] = asked.saturating_sub(count);
                }
                (Some(asked), _) => threads.running[index] = asked,
                (None, Count::Fixed(_)) => {}
            }
        }
        Ok((threads, is_open))
    }
}

/// The template that a name, or no name, stands for.
fn which(program: &Program, name: Option<&str>) -> Result<usize, NoSuchThreads> {
    let templates = &program.templates;
    let names = templates.iter().map(|template| template.name.as_str()).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => {
            templates.iter().position(|template| template.name == name).ok_or_else(|| NoSuchThreads {
                what: format!("the program has no thread `{}`", name.escape_debug()),
                help: format!("its threads are: {names}"),
            })
        }
        None => {
            let open = |template: &Template| template.spawned || template.count == Count::Any;
            let candidates: Vec<usize> = match templates.len() {
                1 => vec![0],
                _ => (0..templates.len()).filter(|&index| open(&templates[index])).collect(),
            };
            match candidates[..] {
                [only] => Ok(only),
                _ => Err(NoSuchThreads {
                    what: "it is not clear which threads are meant".to_string(),
                    help: format!(
                        "give a name, such as --threads {}=2; the threads are: {names}",
                        templates[0].name
                    ),
                }),
            }
        }
    }
}
