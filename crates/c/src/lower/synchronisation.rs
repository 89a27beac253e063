//! What calls of functions without a body do: threads, locks, and the rest of the library.
//!
//! Mutexes are in `mutexes`, atomic operations in `atomics`. A read-write lock counts its readers, and is -1 while somebody writes. A
//! condition variable holds nothing: waiting may end at any time (POSIX allows spurious wake-ups), so it is to free the
//! mutex and to take it again. A barrier knows how many threads it is for, how many have arrived, and whether its round
//! is odd. All operations succeed where they may fail.

use super::expressions::number;
use super::freed::How;
use super::places::{Target, binary};
use super::{Lowering, Model, Result, refuse};
use crate::instrument;
use crate::slots::Kind;
use crate::typed::{Expr, ExprKind, Function, Type};
use crate::walk;
use allways_model::program::{Binary as Operator, Op, Span, Value};

fn equals(left: Model, right: Value) -> Model {
    binary(Operator::Equal, left, Model::Constant(right))
}

impl Lowering<'_> {
    /// A call of a function without a body.
    pub(super) fn library(
        &mut self,
        call: &Expr,
        called: &Function,
        arguments: &[Expr],
    ) -> Result<Vec<Model>> {
        let span = call.span;
        let name = called.name.as_str();
        let zero = Ok(vec![Model::Constant(0)]);
        let argument = |number: usize| match arguments.get(number) {
            Some(argument) => Ok(argument),
            None => refuse(span, format!("`{name}` is called with too few arguments")),
        };
        for (position, argument) in arguments.iter().enumerate() {
            if crate::library::ignores(name, position) {
                self.effect(argument)?;
            }
        }
        match name {
            "pthread_create" => {
                self.create(Some(argument(0)?), argument(2)?, argument(3)?, span)?;
                zero
            }
            "thrd_create" => {
                self.create(Some(argument(0)?), argument(1)?, argument(2)?, span)?;
                zero
            }
            "pthread_join" if self.body.thread.is_some() && !self.body.many => {
                self.join_perhaps_itself(argument(0)?, arguments.get(1), span)
            }
            "pthread_join" | "thrd_join" => {
                self.join(argument(0)?, arguments.get(1), span)?;
                zero
            }
            "pthread_exit" | "thrd_exit" => {
                self.exit_thread(arguments.first(), span)?;
                Ok(Vec::new())
            }
            "exit"
            | "_exit"
            | "abort"
            | "__builtin_unreachable"
            | "__builtin_trap"
            | "_Exit"
            | "quick_exit"
            | "err"
            | "errx"
            | "verr"
            | "verrx" => {
                arguments.iter().try_for_each(|argument| self.effect(argument))?;
                let exits = !matches!(name, "abort" | "__builtin_unreachable" | "__builtin_trap");
                self.look_for_memory(if exits { How::Exits } else { How::Aborts }, span);
                self.end_process(span)?;
                Ok(Vec::new())
            }
            "__assert_fail" | "__assert" | "__assert_func" | "__assert_rtn" | "__VERIFIER_error"
            | "reach_error" => {
                self.fail(span)?;
                Ok(Vec::new())
            }
            "assert" | "__VERIFIER_assert" | "__ESBMC_assert" | "__CPROVER_assert" | "klee_assert"
            | "__goblint_check" | "__goblint_assert" => {
                let holds = self.condition(argument(0)?)?;
                if self.property.assertions {
                    self.emit(Op::Assert(holds), span)?;
                } else {
                    let (here, fine, over) = (self.here, self.location(span), self.location(span));
                    self.edge(here, Op::Guard(holds.clone(), true), fine, span);
                    self.edge(here, Op::Guard(holds, false), over, span);
                    self.here = over;
                    self.end_process(span)?;
                    self.here = fine;
                }
                zero
            }
            instrument::INVARIANT | instrument::UPDATE => {
                let ([Expr { kind: ExprKind::Int(number), .. }, rest @ ..], [_, first, ..]) =
                    (arguments, arguments)
                else {
                    return zero;
                };
                match name {
                    instrument::INVARIANT => self.invariant(*number as usize, first, span),
                    _ => self.ghost_update(*number as usize, rest, span),
                }
                zero
            }
            instrument::BEFORE => {
                self.before_update(span)?;
                zero
            }
            crate::annotations::ASSERT if !self.property.assertions => zero,
            crate::annotations::ASSERT => {
                self.check_signs(argument(0)?)?;
                self.enter_atomic(span)?;
                let holds = self.condition(argument(0)?)?;
                self.emit(Op::Assert(holds), span)?;
                self.leave_atomic(span)?;
                zero
            }
            "__VERIFIER_assume"
            | "__goblint_assume"
            | "assume_abort_if_not"
            | "__ESBMC_assume"
            | "__CPROVER_assume"
            | "assume" => {
                let holds = self.condition(argument(0)?)?;
                self.assume(holds, span)?;
                zero
            }
            "__VERIFIER_atomic_begin" | "__ESBMC_atomic_begin" | "__CPROVER_atomic_begin" => {
                self.enter_atomic(span)?;
                zero
            }
            "__VERIFIER_atomic_end" | "__ESBMC_atomic_end" | "__CPROVER_atomic_end" => {
                self.leave_atomic(span)?;
                zero
            }
            "malloc" | "__builtin_malloc" | "kmalloc" | "valloc" | "alloca" | "__builtin_alloca" => {
                let address = self.allocate(call, argument(0)?, None, false)?;
                Ok(vec![address])
            }
            "kzalloc" => {
                let address = self.allocate(call, argument(0)?, None, true)?;
                Ok(vec![address])
            }
            "calloc" => {
                let address = self.allocate(call, argument(1)?, Some(argument(0)?), true)?;
                Ok(vec![address])
            }
            "free" | "kfree" => {
                self.free(argument(0)?, span)?;
                zero
            }
            "memset" | "__builtin_memset" => {
                self.set_memory(argument(0)?, argument(1)?, argument(2)?, span)?;
                Ok(vec![])
            }
            "memcpy" | "memmove" | "__builtin_memcpy" | "__builtin_memmove" => {
                self.copy_memory(argument(0)?, argument(1)?, argument(2)?, name.contains("memmove"), span)?;
                Ok(vec![])
            }
            "__builtin_expect" => Ok(vec![self.value(argument(0)?)?]),
            "pthread_self" | "thrd_current" | "__VERIFIER_tid" => match (self.body.thread, self.body.many) {
                (_, true) => refuse(span, "one of any number of threads asks which one it is"),
                _ if self.body.is_procedure => {
                    refuse(span, "a recursive function asks which thread calls it")
                }
                (Some(thread), _) => Ok(vec![Model::Constant(thread as Value + 1)]),
                (None, _) => Ok(vec![Model::Constant(super::threads::MAIN)]),
            },
            "pthread_equal" | "thrd_equal" => {
                let left = self.value(argument(0)?)?;
                let left = self.kept(left, span)?;
                let right = self.value(argument(1)?)?;
                let right = self.kept(right, span)?;
                // All threads of which there may be any number have one number.
                for side in [&left, &right] {
                    self.beyond_unless(binary(Operator::Unequal, side.clone(), Model::Constant(0)), span);
                }
                Ok(vec![number(binary(Operator::Equal, left, right))])
            }
            _ if self.over.is_some() && super::conditions::is_one(name) => {
                self.condition_variable(name, arguments, span)
            }
            "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => {
                self.scan(arguments.get(1..).unwrap_or(&[]), span)
            }
            "sscanf" | "fscanf" | "__isoc99_sscanf" | "__isoc99_fscanf" | "__isoc23_sscanf"
            | "__isoc23_fscanf" => self.scan(arguments.get(2..).unwrap_or(&[]), span),
            "pthread_key_create" | "tss_create" => self.create_key(argument(0)?, argument(1)?, span),
            "pthread_key_delete" | "tss_delete" => self.delete_key(argument(0)?, span),
            "pthread_setspecific" | "tss_set" => self.set_specific(argument(0)?, argument(1)?, span),
            "pthread_getspecific" | "tss_get" => self.get_specific(argument(0)?, span),
            "__sigsetjmp_cancel" => self.begin_cleanup(span),
            "__pthread_register_cancel" => self.enter_cleanup(span),
            "__pthread_unregister_cancel" => self.leave_cleanup(span),
            "__pthread_unwind_next" => self.next_cleanup(span),
            _ if crate::library::is_refused(name) => refuse(span, format!("`{name}` is not followed")),
            "pthread_setcancelstate" | "pthread_setcanceltype"
                if arguments
                    .get(1)
                    .is_some_and(|old| !matches!(walk::through_casts(old).kind, ExprKind::Int(0))) =>
            {
                refuse(span, format!("what `{name}` stores is not followed"))
            }
            // Whether it fails depends on what became of the thread; who asks is not followed.
            "pthread_detach" | "thrd_detach" => {
                arguments.iter().try_for_each(|argument| self.effect(argument))?;
                Ok(Vec::new())
            }
            _ if self.is_harmless(name) => {
                if !crate::library::is_of_threads(name) {
                    self.passes_memory(name, arguments, span)?;
                }
                arguments.iter().try_for_each(|argument| self.effect(argument))?;
                if crate::library::prints(name) { self.any(call, name) } else { zero }
            }
            _ if name.starts_with("__VERIFIER_nondet") || name.starts_with("nondet_") => self.any(call, name),
            _ if name.starts_with("__SMACK_nondet") => self.any(call, name),
            _ if name.starts_with("__ESBMC_nondet") || matches!(name, "rand" | "random" | "lrand48") => {
                self.any(call, name)
            }
            _ => {
                if let Some(values) = self.synchronise(name, call, arguments)? {
                    return Ok(values);
                }
                if let Some(values) = self.atomic_operation(name, call, arguments)? {
                    return Ok(values);
                }
                if let Some(first) = arguments.first()
                    && let Some(values) = self.bits(name, first, span)?
                {
                    return Ok(values);
                }
                if crate::library::is_specified(name) {
                    return refuse(span, format!("`{name}` is not followed"));
                }
                self.lowered.externals.insert(name.to_string());
                self.passes_memory(name, arguments, span)?;
                arguments.iter().try_for_each(|argument| self.effect(argument))?;
                self.any(call, name)
            }
        }
    }

    /// Refuses comparisons that mean something else among mathematical integers: of numbers with and without sign.
    fn check_signs(&self, claim: &Expr) -> Result<()> {
        let mut mixed = false;
        walk::expression(claim, &mut |expr| {
            if let (ExprKind::Cast(part), Type::Int(to)) = (&expr.kind, expr.ty.plain())
                && let Type::Int(from) = part.ty.plain()
            {
                mixed |=
                    from.signed && !to.signed && !matches!(part.kind, ExprKind::Int(value) if value >= 0);
            }
        });
        match mixed {
            true => refuse(claim.span, "an assertion in a comment compares numbers with and without sign"),
            false => Ok(()),
        }
    }

    /// An assertion fails.
    pub(super) fn fail(&mut self, span: Span) -> Result<()> {
        if self.property.assertions {
            self.emit(Op::Error, span)?;
            self.nowhere(span);
            Ok(())
        } else {
            self.end_process(span)
        }
    }

    /// The process ends.
    pub(super) fn end_process(&mut self, span: Span) -> Result<()> {
        if let Some(over) = self.over {
            if self.body.atomic > 0 {
                return refuse(span, "the process ends inside an atomic section");
            }
            self.store(&Target::Shared(over), Model::Constant(1), span)?;
        } else if self.body.atomic > 0 {
            // A section that cannot be finished is not begun; a process that ends does nothing any more.
            let here = self.here;
            self.edge(here, Op::Guard(Model::Constant(0), true), here, span);
        }
        self.nowhere(span);
        Ok(())
    }

    /// Functions whose only effect is outside of the program, or nothing that matters here.
    fn is_harmless(&self, name: &str) -> bool {
        matches!(
            name,
            "printf"
                | "fprintf"
                | "puts"
                | "putchar"
                | "perror"
                | "fflush"
                | "fputs"
                | "putc"
                | "fputc"
                | "vprintf"
                | "__printf_chk"
                | "__fprintf_chk"
                | "sleep"
                | "usleep"
                | "nanosleep"
                | "sched_yield"
                | "thrd_yield"
                | "pthread_yield"
                | "srand"
                | "srandom"
                | "pthread_attr_init"
                | "pthread_attr_destroy"
                | "pthread_attr_setdetachstate"
                | "pthread_attr_setstacksize"
                | "pthread_attr_setscope"
                | "pthread_mutexattr_destroy"
                | "pthread_condattr_init"
                | "pthread_condattr_destroy"
                | "pthread_cond_destroy"
                | "pthread_cond_init"
                | "pthread_cond_signal"
                | "pthread_cond_broadcast"
                | "cnd_init"
                | "cnd_signal"
                | "cnd_broadcast"
                | "cnd_destroy"
                | "pthread_rwlock_destroy"
                | "pthread_spin_destroy"
                | "pthread_barrier_destroy"
                | "sem_destroy"
                | "pthread_setconcurrency"
                | "__sync_synchronize"
                | "__atomic_thread_fence"
                | "__atomic_signal_fence"
                | "pthread_setcancelstate"
                | "__builtin_prefetch"
                | "__VERIFIER_loop_begin"
                | "__VERIFIER_loop_bound"
                | "__VERIFIER_spin_start"
                | "__VERIFIER_spin_end"
                | "__ESBMC_yield"
                | "__goblint_globalize"
                | "__goblint_split_begin"
                | "__goblint_split_end"
                | "__goblint_bounded"
                | "pthread_attr_setschedpolicy"
                | "pthread_attr_setschedparam"
                | "pthread_attr_setinheritsched"
                | "pthread_attr_setguardsize"
                | "pthread_rwlockattr_init"
                | "pthread_rwlockattr_destroy"
                | "pthread_barrierattr_init"
                | "pthread_barrierattr_destroy"
                | "pthread_mutexattr_setprotocol"
                | "pthread_mutexattr_setpshared"
                | "pthread_setname_np"
                | "__builtin_assume"
                | "setbuf"
                | "setvbuf"
        )
    }

    /// Refuses a call after which it matters what a function does with memory that it is passed, and that is not known.
    fn passes_memory(&self, name: &str, arguments: &[Expr], span: Span) -> Result<()> {
        let passes = |argument: &Expr| {
            let inner = walk::through_casts(argument);
            // Nobody else writes a literal, or accesses a variable whose address is not kept.
            let own = matches!(&inner.kind, ExprKind::AddressOf(place)
                if matches!(place.kind, ExprKind::Variable(variable)
                    if self.unit.is_string_literal(variable)
                        || crate::pointers::is_automatic(self.unit, variable)
                            && !self.pointers.escapes.contains(&variable)));
            let file = |to: &Type| {
                matches!(to, Type::Record(record)
                if matches!(&*self.unit.records[record.0].name, "_IO_FILE" | "FILE"))
            };
            matches!(argument.ty.plain(), Type::Pointer(to) if !file(to.plain()))
                && !own
                && !matches!(inner.kind, ExprKind::Int(_))
        };
        if self.property.races && arguments.iter().any(passes) {
            return refuse(span, format!("what `{name}` accesses is not known"));
        }
        Ok(())
    }

    /// Any value of the type of a call.
    fn any(&mut self, call: &Expr, name: &str) -> Result<Vec<Model>> {
        match call.ty.plain() {
            Type::Void => Ok(Vec::new()),
            Type::Int(int) => {
                let allways_model::program::Type::Range(low, high) = crate::slots::values(&Type::Int(*int))
                else {
                    return Ok(Vec::new());
                };
                let (low, high) =
                    if matches!(name, "rand" | "random" | "lrand48") { (0, high) } else { (low, high) };
                Ok(vec![Model::Choose(low, high)])
            }
            Type::Float(_) => Ok(Vec::new()),
            Type::Pointer(_) if crate::library::gives(name) => self.given(call, name),
            _ => refuse(call.span, format!("`{name}` is not known, and its result is a pointer or a struct")),
        }
    }

    /// Locks, semaphores, barriers.
    fn synchronise(&mut self, name: &str, call: &Expr, arguments: &[Expr]) -> Result<Option<Vec<Model>>> {
        let span = call.span;
        let Some(object) = arguments.first() else { return Ok(None) };
        let done = Ok(Some(vec![Model::Constant(0)]));
        if let Type::Pointer(ty) = walk::through_casts(object).ty.plain()
            && let Type::Record(record) = ty.plain()
            && name.starts_with("pthread_rwlock_")
            && self.unit.records[record.0].name.contains("mutex")
        {
            return refuse(span, format!("`{name}` of something else than a read-write lock"));
        }
        if self.property.owners() && name.starts_with("pthread_rwlock_") && name.ends_with("lock") {
            return refuse(span, "who has a read-write lock is not followed");
        }
        if let Some(values) = self.mutex(name, arguments, span)? {
            return Ok(Some(values));
        }
        match name {
            "pthread_rwlock_init" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                self.store(&place, Model::Constant(0), span)?;
                done
            }
            "pthread_rwlock_wrlock" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let free = equals(self.load(&place, span), 0);
                self.store_at_once(vec![(place, Model::Constant(-1))], Some(free), span)?;
                done
            }
            "pthread_rwlock_trywrlock" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let found = self.load(&place, span);
                let free = equals(found.clone(), 0);
                let result = self.temporary(span);
                let busy = Model::If(
                    Box::new(free.clone()),
                    Box::new(Model::Constant(0)),
                    Box::new(Model::Constant(busy_code(name))),
                );
                let after = Model::If(Box::new(free), Box::new(Model::Constant(-1)), Box::new(found));
                self.store_at_once(vec![(Target::Local(result), busy), (place, after)], None, span)?;
                Ok(Some(vec![Model::Local(result)]))
            }
            "pthread_rwlock_tryrdlock" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let found = self.load(&place, span);
                let free = binary(Operator::GreaterEqual, found.clone(), Model::Constant(0));
                let more = binary(Operator::Plus, found.clone(), Model::Constant(1));
                let result = self.temporary(span);
                let choose =
                    |yes: Model, no: Model| Model::If(Box::new(free.clone()), Box::new(yes), Box::new(no));
                let busy = choose(Model::Constant(0), Model::Constant(busy_code(name)));
                let after = choose(more, found);
                self.store_at_once(vec![(Target::Local(result), busy), (place, after)], None, span)?;
                Ok(Some(vec![Model::Local(result)]))
            }
            "pthread_rwlock_rdlock" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let found = self.load(&place, span);
                let free = binary(Operator::GreaterEqual, found.clone(), Model::Constant(0));
                let more = binary(Operator::Plus, found, Model::Constant(1));
                self.store_at_once(vec![(place, more)], Some(free), span)?;
                done
            }
            "pthread_rwlock_unlock" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let found = self.load(&place, span);
                let reading = binary(Operator::Greater, found.clone(), Model::Constant(0));
                let fewer = binary(Operator::Minus, found, Model::Constant(1));
                let after = Model::If(Box::new(reading), Box::new(fewer), Box::new(Model::Constant(0)));
                self.store_at_once(vec![(place, after)], None, span)?;
                done
            }
            "pthread_cond_wait" | "cnd_wait" | "pthread_cond_timedwait" | "cnd_timedwait" => {
                let Some(mutex) = arguments.get(1) else {
                    return refuse(span, format!("`{name}` without a mutex"));
                };
                let place = self.target_of(mutex)?;
                self.specially(&place, Kind::Library);
                let released = self.released_to_wait(&place, span);
                let may = self.is_unwanted(&place, span);
                self.store_at_once(vec![(place, released)], may, span)?;
                self.take_mutex(mutex, span)?;
                self.count_wait(span)?;
                if !name.contains("timed") {
                    return done;
                }
                let late = Box::new(Model::Constant(busy_code(name)));
                let result = Model::If(Box::new(Model::Choose(0, 1)), late, Box::new(Model::Constant(0)));
                Ok(Some(vec![self.kept(result, span)?]))
            }
            "sem_init" => {
                let Some(value) = arguments.get(2) else { return refuse(span, "`sem_init` without a value") };
                let value = self.value(value)?;
                let value = self.settled(value, span)?;
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                self.store(&place, value, span)?;
                done
            }
            "sem_wait" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let found = self.load(&place, span);
                let some = binary(Operator::Greater, found.clone(), Model::Constant(0));
                let fewer = binary(Operator::Minus, found, Model::Constant(1));
                self.store_at_once(vec![(place, fewer)], Some(some), span)?;
                done
            }
            "sem_getvalue" => {
                let Some(to) = arguments.get(1) else {
                    return refuse(span, "`sem_getvalue` without a place");
                };
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let found = self.kept(self.load(&place, span), span)?;
                let to = self.target_of(to)?;
                self.store(&to, found, span)?;
                done
            }
            // Who waits for a while and gets it could have come later.
            "sem_trywait" | "sem_timedwait" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let found = self.load(&place, span);
                let some = binary(Operator::Greater, found.clone(), Model::Constant(0));
                let fewer = binary(Operator::Minus, found.clone(), Model::Constant(1));
                let result = self.temporary(span);
                let failed = Model::If(
                    Box::new(some.clone()),
                    Box::new(Model::Constant(0)),
                    Box::new(Model::Constant(-1)),
                );
                let after = Model::If(Box::new(some), Box::new(fewer), Box::new(found));
                self.store_at_once(vec![(Target::Local(result), failed), (place, after)], None, span)?;
                Ok(Some(vec![Model::Local(result)]))
            }
            "sem_post" => {
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let more = binary(Operator::Plus, self.load(&place, span), Model::Constant(1));
                self.store_at_once(vec![(place, more)], None, span)?;
                done
            }
            "pthread_barrier_init" => {
                let Some(value) = arguments.get(2) else {
                    return refuse(span, "`pthread_barrier_init` without a count");
                };
                let value = self.value(value)?;
                let place = self.target_of(object)?;
                self.store(&place, value, span)?;
                for part in 1..3 {
                    let part = self.next_slot(&place, part);
                    self.store(&part, Model::Constant(0), span)?;
                }
                done
            }
            "pthread_barrier_wait" => {
                let place = self.target_of(object)?;
                let [threads, arrived, round] =
                    [0, 1, 2].map(|part| self.load(&self.next_slot(&place, part), span));
                let mine = self.block(1, span);
                let more = binary(Operator::Plus, arrived, Model::Constant(1));
                let last = binary(Operator::GreaterEqual, more.clone(), threads);
                let other = binary(Operator::Minus, Model::Constant(1), round.clone());
                let choose =
                    |yes: Model, no: Model| Model::If(Box::new(last.clone()), Box::new(yes), Box::new(no));
                let stores = vec![
                    (Target::Local(mine), choose(Model::Constant(2), round.clone())),
                    (self.next_slot(&place, 1), choose(Model::Constant(0), more)),
                    (self.next_slot(&place, 2), choose(other, round.clone())),
                ];
                self.store_at_once(stores, None, span)?;
                let passed = binary(Operator::Unequal, round, Model::Local(mine));
                self.emit(Op::Guard(passed, true), span)?;
                let serial = number(equals(Model::Local(mine), 2));
                Ok(Some(vec![Model::Unary(allways_model::program::Unary::Minus, Box::new(serial))]))
            }
            "pthread_once" | "call_once" => {
                let Some(routine) = arguments.get(1) else {
                    return refuse(span, format!("`{name}` without a function"));
                };
                let place = self.target_of(object)?;
                self.specially(&place, Kind::Library);
                let found = self.load(&place, span);
                let result = self.block(1, span);
                // 0: not yet; 1: under way, so wait; 2: done.
                let first = equals(found.clone(), 0);
                let after =
                    Model::If(Box::new(first.clone()), Box::new(Model::Constant(1)), Box::new(found.clone()));
                let ready = binary(Operator::Unequal, found, Model::Constant(1));
                let stores = vec![(Target::Local(result), number(first)), (place.clone(), after)];
                self.store_at_once(stores, Some(ready), span)?;
                let (run, over) = (self.location(span), self.location(span));
                let here = self.here;
                let first = equals(Model::Local(result), 1);
                self.edge(here, Op::Guard(first.clone(), true), run, span);
                self.edge(here, Op::Guard(first, false), over, span);
                self.here = run;
                self.call(call, through_address(routine), &[])?;
                self.specially(&place, Kind::Library);
                self.store(&place, Model::Constant(2), span)?;
                self.jump(over, span);
                self.here = over;
                done
            }
            _ => Ok(None),
        }
    }
}

/// The function that an expression such as `&f` is.
fn through_address(expr: &Expr) -> &Expr {
    match &walk::through_casts(expr).kind {
        ExprKind::AddressOf(place) if matches!(place.kind, ExprKind::Function(_)) => place,
        _ => walk::through_casts(expr),
    }
}

/// What a function of the thread library returns if it did not get what it asked for: `EBUSY` or `ETIMEDOUT`, and those of
/// C11's own functions.
pub(super) fn busy_code(name: &str) -> Value {
    match (name.starts_with("pthread_"), name.contains("timed")) {
        (true, false) => 16,
        (true, true) => 110,
        (false, false) => 1,
        (false, true) => 4,
    }
}
