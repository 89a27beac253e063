//! From typed C to a program of the model.
//!
//! *Threads.* `main` and every `pthread_create` that is reached at most once are templates with one thread; a thread that is
//! created later waits at its start for its creation. What is created in a loop whose number of rounds is not known is a
//! template that is spawned, so that there may be any number of its threads. Loops with a known number of rounds that
//! create threads are unrolled.
//!
//! *Functions* are inlined, so that the code of a thread is one procedure whose local variables are those of all functions
//! that it calls; only functions that call themselves are procedures. Where an argument is an address and the parameter
//! is transparent ([`crate::pointers`]), the object takes the place of what the parameter points to.
//!
//! *Objects.* A variable whose address is not kept is a few slots of its own, shared or local. All others, and the heap, are
//! *memory*: the objects of one class lie next to each other, and an access through a pointer is one to an element of this
//! region. An address is [`ADDRESSES`] plus a slot, so that the null pointer and small integers are outside every region.
//!
//! *Steps.* A step accesses at most one shared slot, as a machine would: where an expression has more, values wait in
//! temporary variables, from left to right, right sides before the places they are stored in. What is atomic in C
//! (`_Atomic`, builtins, atomic sections) is one step. [`crate::fuse`] then joins what no other thread can see.
//!
//! While bodies are lowered, slots of shared objects are *symbolic*: the number of the object and of its part; regions are
//! numbers of classes. When all objects are known, `layout` gives them their places.

mod assignments;
mod atomics;
mod bits;
mod body;
mod branches;
mod calls;
mod cleanup;
mod conditions;
mod constants;
mod crews;
mod crowds;
mod environment;
mod expressions;
mod fields;
mod freed;
mod heap;
mod input;
mod instrument;
mod keys;
mod layout;
mod lifetimes;
mod memory;
mod moves;
mod mutexes;
mod overflows;
pub mod owners;
mod places;
mod rounds;
mod sections;
mod statements;
mod synchronisation;
mod thread_arrays;
mod threads;

use crate::instrument::Unplaced;
use crate::pointers::{Class, Pointers, Site};
use crate::property::Property;
use crate::sema::CError;
use crate::slots::{self, Kind};
use crate::typed::{FunctionId, Stmt, Type, Unit, VariableId};
use crate::unseen;
use allways_model::program::{
    Edge, Expr as Model, Location, LocationId, Op, Procedure, ProcedureId, Program, Slot, Span, Template,
    Value, Variable,
};
use body::Body;
pub(crate) use expressions::acts;
pub use heap::HEAP;
pub use mutexes::{CHECKING, RECURSIVE};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use threads::{Alike, Start};

/// The address of slot 0.
pub const ADDRESSES: Value = 1 << 40;

/// The value of a pointer that was never given one, if nobody sees it (`unseen.rs`): no object is there, nor near it.
pub const INDETERMINATE: Value = ADDRESSES / 2;

/// The address of the first function.
pub const FUNCTIONS: Value = 1 << 50;

/// How much of a symbolic slot is the number of a part.
const PART_BITS: u32 = 24;

/// Marks the number of a class as the slot of a region.
const REGION: usize = 1 << 60;

/// More locations than this are not made.
const MOST_LOCATIONS: usize = 1 << 18;

/// What was lowered, and what was assumed.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// External functions that are called and not known: any result, no effect.
    pub externals: BTreeSet<String>,
    /// What is not followed, and why: the program has a step there that leads beyond.
    pub left_out: Vec<(Span, String)>,
    /// Whether a thread may never be created; one that waits for that is then no sign of a deadlock.
    pub may_not_create: bool,
    /// Whether `main` may end before the process does.
    pub main_may_exit: bool,
    /// An atomic operation with a memory order that is weaker than the one it is taken for, and that order.
    pub weak: Option<(Span, &'static str)>,
    /// Where more behaviours are allowed than the program has; a counterexample may then be none.
    pub widened: Vec<(Span, &'static str)>,
    /// The addresses of objects that the environment gives, and where.
    pub given: Vec<(Value, Span)>,
    /// Where a pointer that the environment gives matters, though not all that it may give are followed.
    pub given_here: Option<Span>,
    /// Where memory is allocated, if anywhere.
    pub allocates: Option<Span>,
    /// What is assumed besides.
    pub assumed: Vec<(Span, String)>,
    /// How accesses to each shared slot take part in data races, and which slot stands for its memory location.
    pub cells: Vec<(Kind, Slot)>,
    /// By location, a place that the steps from there access atomically, or for the thread library.
    pub special: HashMap<LocationId, (allways_model::program::Target, Kind)>,
    /// If there are such places: a program with an end of what is followed there, or with few threads, whose counterexamples
    /// are real.
    pub exact: Option<Program>,
    /// If data is wide: a program without wide data that may do more, whose proofs are real.
    pub coarse: Option<Program>,
    /// If data is wide: a program with bounds on what variables hold that goes wrong where these do not hold, whose proofs are real.
    pub bounded: Option<Program>,
    /// A part of the program that decides whether it goes wrong, with any number of threads where there are many, whose proofs are real.
    pub part: Option<Program>,
    /// A program of locks, and of whole objects for which threads race, that has fewer values and goes wrong where threads race, so that its proofs
    /// are real.
    pub locks: Option<Program>,
    /// The rounds that a loop which creates threads has at most.
    pub rounds: usize,
    /// What is stated beside the program and was not put into it.
    pub unplaced: Vec<Unplaced>,
}

type Result<T> = std::result::Result<T, CError>;

fn refuse<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(CError { span, message: message.into() })
}

/// The number of a shared object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct ObjectId(usize);

impl ObjectId {
    fn slot(self, part: usize) -> Slot {
        self.0 << PART_BITS | part
    }
}

/// A shared object.
struct Object {
    name: String,
    parts: Vec<Part>,
    /// Its class, if pointers reach it.
    class: Option<Class>,
    /// Of memory from the heap, from one object to the next: before each lies a slot of its own.
    stride: Option<usize>,
    span: Span,
}

/// A scalar part of a shared object.
struct Part {
    path: String,
    ty: allways_model::program::Type,
    /// The C type.
    scalar: Type,
    kind: Kind,
    /// Whether it shares its memory location with the part before it.
    joined: bool,
    initial: Option<Model>,
}

/// An access through a pointer.
struct Access {
    class: Class,
    /// What it takes the object for.
    ty: Type,
    /// Of a member: the struct that it is part of, and how many slots of that come before it.
    whole: Option<(Type, usize)>,
    span: Span,
}

struct Lowering<'u> {
    unit: &'u Unit,
    property: Property,
    crowds: Crowds,
    /// Statements about arrays of threads that are left out.
    thread_arrays: HashMap<*const Stmt, thread_arrays::Role<'u>>,
    pointers: Pointers,
    /// The classes of objects to which pointers are [seen](unseen).
    seen: HashSet<Class>,
    objects: Vec<Object>,
    statics: HashMap<VariableId, ObjectId>,
    locations: Vec<Location>,
    procedures: Vec<Procedure>,
    templates: Vec<Template>,
    /// Procedures of functions that call themselves.
    recursive: HashMap<FunctionId, ProcedureId>,
    /// Templates of which there may be any number of threads.
    many: HashMap<FunctionId, usize>,
    /// Templates whose threads are alike.
    alike: Vec<Alike>,
    /// Loops that create and join [crews](crews).
    crews: Vec<crews::Crew<'u>>,
    /// Whether a thread is joined anywhere.
    joins: bool,
    /// Whether a mutex is destroyed anywhere.
    destroys: bool,
    /// Whether there are mutexes that are not plain.
    kinds: bool,
    /// Bodies that are still to be lowered.
    starts: Vec<Start>,
    /// Whether threads of a number that is known have ended, by their numbers.
    ended: ObjectId,
    /// What each of them returned.
    results: ObjectId,
    /// Keys of thread-specific data.
    keys: Vec<keys::Key>,
    key_states: Option<ObjectId>,
    /// How many pools of memory there are.
    pools: usize,
    /// Objects that the environment gives.
    given: Vec<ObjectId>,
    /// The types that what calls return is converted to.
    allocated: HashMap<Site, Type>,
    /// The types that memory is allocated for.
    own: HashSet<Type>,
    /// What pointers to anything are converted to, by the classes that they point to.
    converted: Rc<[(Class, Type)]>,
    /// Variables that nobody ever writes, and their values.
    constants: HashMap<VariableId, i128>,
    /// Local variables that are written by nothing but their declaration or a call.
    steady: HashSet<VariableId>,
    /// Parameters that keep the address of a function that they are given, while their function is inlined.
    functions: HashMap<VariableId, FunctionId>,
    /// Variables that only input changes, and their initial values.
    likely: HashMap<VariableId, i128>,
    /// Accesses through pointers, by class, to be checked against the objects there.
    accesses: Vec<Access>,
    /// Classes whose addresses became integers.
    integers: Vec<Class>,
    /// Which member of a union is accessed.
    members: HashMap<usize, usize>,
    /// Whether the process has ended, where it is looked for deadlocks.
    over: Option<Slot>,
    /// Where it is looked for circles of threads that wait: the first of them, and for whom the last one waits.
    circle: Option<(Slot, Slot)>,
    /// Where the process ends, and memory should have been freed.
    ends: Vec<freed::End>,
    /// Memory of functions, which nobody frees.
    automatic: HashSet<ObjectId>,
    /// Signals to condition variables that wake one of the threads that wait, whichever these will be.
    signals: Vec<conditions::Signal>,
    /// Places that steps from a location access atomically, or for the thread library.
    special: HashMap<LocationId, (places::Target, Kind)>,
    /// Where memory of a class is freed.
    frees: HashMap<LocationId, Class>,
    /// Whether memory may be more than arrays of scalars.
    has_records: bool,
    /// Moves of pointers.
    moves: Vec<moves::Move>,
    /// Bit-fields that are stored by name.
    stored_fields: HashSet<(usize, usize)>,
    /// Where the storage unit of a bit-field is read, and where it is written back.
    rewritten: Vec<[LocationId; 2]>,
    /// Variables that something may outlive which holds their address, by function.
    outlived: HashMap<FunctionId, Vec<VariableId>>,
    /// Calls of `alloca` whose memory something may outlive that holds its address.
    outlived_memory: HashSet<Site>,
    /// Of such variables, the slots that say whether they are there.
    mortals: HashMap<ObjectId, Slot>,
    /// Memory of which it is not known how much is asked for.
    sized: HashSet<ObjectId>,
    /// Where variables are declared without a value.
    declarations: Vec<LocationId>,
    /// Where threads are joined.
    joined: Vec<(LocationId, Span)>,
    /// Whether a loop of joins was left out.
    skips_joins: bool,
    /// What is known of the threads that are there.
    threads_known: crowds::Known,
    /// Atomic operations with a weak memory order: where they begin and end, and the order.
    weak: Vec<([LocationId; 2], Span, &'static str)>,
    /// Where objects with atomic parts are accessed as a whole, if it is looked for data races.
    plain: Vec<(LocationId, Span)>,
    /// Whether an edge leads to a location.
    reached: Vec<bool>,
    /// Whether the steps from a location are lowered as those of an atomic section.
    inside: Vec<bool>,
    /// How many atomic sections are open where a jump leads.
    open: HashMap<LocationId, usize>,
    /// Where statements with ghost updates begin.
    updated: Vec<LocationId>,
    body: Body,
    here: LocationId,
    lowered: Lowered,
}

/// How many rounds of a loop that creates any number of threads are followed where few threads are asked for.
const FEW: usize = 3;

/// What is made of loops that create any number of threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crowds {
    /// They are followed, and their threads have no numbers.
    Followed,
    /// They create a few threads, and are not followed beyond.
    Few,
    /// Those over arrays of threads create any number ([`thread_arrays`]).
    Any,
    /// So do all others with more than [`FEW`] rounds.
    All,
}

/// Lowers a program.
pub fn lower(unit: &Unit, property: Property) -> std::result::Result<Lowered, CError> {
    lower_with(unit, property, Crowds::Followed)
}

/// Lowers a program in which loops that create any number of threads create a few: each of these threads has a number, so that
/// who joins it waits for it, and counterexamples are real.
pub fn lower_few(unit: &Unit, property: Property) -> std::result::Result<Lowered, CError> {
    let mut few = lower_with(unit, property, Crowds::Few)?;
    if let Some(exact) = few.exact.take() {
        few.program = exact;
    }
    Ok(few)
}

/// Lowers a program without its arrays of threads whose length is an input, if it has such: it may do more, and proofs are real.
pub fn lower_any(unit: &Unit, property: Property) -> Option<Lowered> {
    let found = thread_arrays::find(unit, main_of(unit)?);
    let mut any = (!found.roles.is_empty()).then(|| lower_with(unit, property, Crowds::Any).ok())??;
    any.assumed = found.assumed;
    Some(any)
}

/// Lowers a program in which every loop that creates more than a few threads creates any number of them, if it has such: it may do
/// more, and proofs are real.
pub fn lower_crowd(unit: &Unit, lowered: &Lowered, property: Property) -> Option<Lowered> {
    (lowered.rounds > FEW).then(|| lower_with(unit, property, Crowds::All).ok())?
}

fn main_of(unit: &Unit) -> Option<FunctionId> {
    let main = unit.functions.iter().position(|function| function.name == "main" && function.body.is_some());
    main.map(FunctionId)
}

fn lower_with(unit: &Unit, property: Property, crowds: Crowds) -> std::result::Result<Lowered, CError> {
    let Some(main) = main_of(unit) else {
        return refuse(Span::default(), "expected a function `main`, found none");
    };
    let mut pointers = Pointers::of(unit);
    let seen = unseen::seen(unit, &mut pointers);
    let converted = heap::conversions(unit, &mut pointers).into();
    let outlived = lifetimes::outlived(unit, &mut pointers);
    let outlived_memory = lifetimes::outlived_memory(unit, &mut pointers);
    let allocated = heap::allocations(unit);
    let ([constants, likely], steady) = constants::find(unit, &pointers);
    let lowered = Lowered {
        program: Program::default(),
        externals: BTreeSet::new(),
        left_out: Vec::new(),
        allocates: None,
        may_not_create: false,
        main_may_exit: false,
        weak: None,
        widened: Vec::new(),
        given: Vec::new(),
        given_here: None,
        assumed: Vec::new(),
        cells: Vec::new(),
        special: HashMap::new(),
        exact: None,
        coarse: None,
        bounded: None,
        part: None,
        locks: None,
        rounds: 0,
        unplaced: unit.unplaced.clone(),
    };
    let mut lowering = Lowering {
        unit,
        property,
        crowds,
        thread_arrays: HashMap::new(),
        pointers,
        seen,
        constants,
        functions: HashMap::new(),
        likely,
        steady,
        objects: Vec::new(),
        statics: HashMap::new(),
        locations: Vec::new(),
        procedures: Vec::new(),
        templates: Vec::new(),
        recursive: HashMap::new(),
        many: HashMap::new(),
        alike: Vec::new(),
        crews: Vec::new(),
        joins: unit.functions.iter().any(|function| matches!(&*function.name, "pthread_join" | "thrd_join")),
        destroys: unit
            .functions
            .iter()
            .any(|one| matches!(&*one.name, "pthread_mutex_destroy" | "mtx_destroy")),
        kinds: mutexes::has_kinds(unit),
        starts: Vec::new(),
        ended: ObjectId(0),
        results: ObjectId(0),
        keys: keys::find(unit),
        key_states: None,
        pools: 0,
        given: Vec::new(),
        own: heap::own_types(unit, &allocated),
        allocated,
        converted,
        accesses: Vec::new(),
        integers: Vec::new(),
        members: HashMap::new(),
        over: None,
        circle: None,
        ends: Vec::new(),
        automatic: HashSet::new(),
        signals: Vec::new(),
        special: HashMap::new(),
        frees: HashMap::new(),
        has_records: moves::has_records(unit),
        moves: Vec::new(),
        stored_fields: fields::stored(unit),
        rewritten: Vec::new(),
        outlived,
        outlived_memory,
        mortals: HashMap::new(),
        sized: HashSet::new(),
        plain: Vec::new(),
        declarations: Vec::new(),
        joined: Vec::new(),
        skips_joins: false,
        threads_known: crowds::Known::default(),
        weak: Vec::new(),
        reached: Vec::new(),
        inside: Vec::new(),
        open: HashMap::new(),
        updated: Vec::new(),
        body: Body::default(),
        here: LocationId(0),
        lowered,
    };
    lowering.ended = lowering.hidden("#ended");
    lowering.results = lowering.hidden("#returned");
    if property.deadlocks {
        let over = lowering.hidden("#over");
        lowering.over = Some(lowering.part(over, Type::Int(slots::INT), 0));
    }
    if matches!(crowds, Crowds::Any | Crowds::All) && !lowering.pointers.recursive.contains(&main) {
        lowering.thread_arrays = thread_arrays::find(unit, main).roles;
    }
    lowering.crews = lowering.find_crews(main);
    lowering.main(main)?;
    while let Some(start) = lowering.starts.pop() {
        lowering.thread(start)?;
    }
    lowering.finish()
}

impl<'u> Lowering<'u> {
    /// A shared object of this program's own making, without parts yet.
    fn hidden(&mut self, name: &str) -> ObjectId {
        let object = Object {
            name: name.to_string(),
            parts: Vec::new(),
            class: None,
            stride: None,
            span: Span::default(),
        };
        self.objects.push(object);
        ObjectId(self.objects.len() - 1)
    }

    /// Adds a part with an initial value to a shared object.
    fn part(&mut self, object: ObjectId, scalar: Type, initial: Value) -> Slot {
        let parts = &mut self.objects[object.0].parts;
        let path = if parts.is_empty() { String::new() } else { format!("[{}]", parts.len()) };
        let ty = slots::values(&scalar);
        let (kind, joined) = (Kind::Library, false);
        parts.push(Part { path, ty, scalar, kind, joined, initial: Some(Model::Constant(initial)) });
        object.slot(parts.len() - 1)
    }

    /// A new location, to which nothing leads yet.
    fn location(&mut self, span: Span) -> LocationId {
        self.reached.push(false);
        self.inside.push(false);
        self.locations.push(Location { procedure: self.body.procedure, edges: Vec::new(), span });
        LocationId(self.locations.len() - 1)
    }

    /// An edge from one location to another.
    fn edge(&mut self, from: LocationId, op: Op, to: LocationId, span: Span) {
        self.reached[to.index()] = true;
        self.inside[from.index()] |= self.body.atomic > 0;
        self.locations[from].edges.push(Edge { op, to, span });
    }

    /// A step from here to a new location.
    fn emit(&mut self, op: Op, span: Span) -> Result<()> {
        if self.locations.len() > MOST_LOCATIONS {
            return refuse(span, "the program becomes too large: more than 262,144 steps after inlining");
        }
        let here = self.here;
        self.locations[here].span = span;
        let next = self.location(span);
        self.edge(here, op, next, span);
        self.here = next;
        Ok(())
    }

    /// The step from here accesses a place atomically, or for the thread library.
    fn specially(&mut self, place: &places::Target, kind: Kind) {
        self.special.insert(self.here, (place.clone(), kind));
    }

    /// Goes on at a location, from here.
    fn jump(&mut self, to: LocationId, span: Span) {
        let here = self.here;
        if self.is_reached() {
            self.open.entry(to).or_insert(self.body.atomic);
        }
        self.edge(here, Op::Skip, to, span);
        self.here = self.location(span);
    }

    /// What follows is reached by jumps only.
    fn nowhere(&mut self, span: Span) {
        self.here = self.location(span);
    }

    /// A local variable of the body, with so many slots.
    fn local(
        &mut self,
        name: String,
        ty: allways_model::program::Type,
        initial: Option<Value>,
        span: Span,
    ) -> Slot {
        let slot = self.body.locals.last().map_or(0, |last: &Variable| last.slot + last.slots());
        let initial = vec![initial];
        self.body.locals.push(Variable {
            name,
            ty,
            slot,
            length: None,
            initial,
            mixed: false,
            names: None,
            span,
        });
        slot
    }
}
