//! Random programs of a few threads.
//!
//! In a text, `@` is what makes names of a program its own, `$` is a statement and `%` the left side of a comma at which a
//! native run may give way to other threads; for the reader here they are nothing. Every expression reads at most one
//! shared variable, since compilers choose the order of reads. No thread waits for ever: locks are taken in the order of
//! their numbers, and who waits for an event waits, without locks, for a thread that was created earlier.

use super::dice::Dice;
use std::fmt::Write as _;

/// What the reader knows of the thread library.
const PRELUDE: &str = "typedef unsigned long pthread_t; typedef struct { int x; } pthread_mutex_t;\n\
    typedef struct { int x; } pthread_cond_t; typedef struct { int x; } sem_t;\n\
    int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\n\
    int pthread_join(pthread_t, void **); void pthread_exit(void *);\n\
    int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);\n\
    int pthread_mutex_trylock(pthread_mutex_t *);\n\
    int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);\n\
    int pthread_cond_broadcast(pthread_cond_t *);\n\
    int sem_init(sem_t *, int, unsigned); int sem_wait(sem_t *); int sem_post(sem_t *);\n\
    void __VERIFIER_assume(int); void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);\n\
    void reach_error(void); void abort(void); void *malloc(unsigned long);\n\
    typedef struct { int x; } pthread_rwlock_t; typedef int pthread_spinlock_t; typedef int pthread_once_t;\n\
    typedef struct { int x; } pthread_barrier_t;\n\
    int pthread_rwlock_rdlock(pthread_rwlock_t *); int pthread_rwlock_wrlock(pthread_rwlock_t *);\n\
    int pthread_rwlock_unlock(pthread_rwlock_t *); int pthread_spin_init(pthread_spinlock_t *, int);\n\
    int pthread_spin_lock(pthread_spinlock_t *); int pthread_spin_unlock(pthread_spinlock_t *);\n\
    int pthread_once(pthread_once_t *, void (*)(void));\n\
    int pthread_barrier_init(pthread_barrier_t *, const void *, unsigned); int pthread_barrier_wait(pthread_barrier_t *);\n";

/// What a native run begins with. All threads share one processor, so that memory is sequentially consistent.
pub const NATIVE: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <semaphore.h>\n#include <sched.h>\n\
    #include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
    static unsigned long noise = 1;\n\
    static void maybe(void) {\n\
      noise = noise * 6364136223846793005ul + 1442695040888963407ul;\n\
      unsigned long n = noise >> 40;\n\
      if (n % 3 == 0) sched_yield(); else if (n % 17 == 1) usleep(1);\n\
    }\n\
    static void spin(pthread_spinlock_t *lock) { while (pthread_spin_trylock(lock)) sched_yield(); }\n\
    #define pthread_spin_lock spin\n";

/// A random program of threads.
pub struct Threads {
    /// Its text, with marks.
    pub text: String,
    /// Statements that bring its global variables back to their initial values.
    pub reset: String,
}

impl Threads {
    /// The text for the reader here.
    pub fn alone(&self) -> String {
        format!("{PRELUDE}{}", self.text.replace(['@', '$', '%'], ""))
    }

    /// The text for a native run.
    pub fn native(&self, number: usize) -> String {
        let body = self.text.replace('$', "maybe();").replace('%', "maybe(), ");
        let text = format!("{body}void reset@(void) {{\n{}}}\n", self.reset);
        text.replace('@', &format!("_{number}"))
    }
}

struct Maker {
    dice: Dice,
    text: String,
    /// How many plain shared variables there are.
    shared: usize,
    /// Whether threads may stop, wait for ever, or go wrong.
    waits: bool,
}

/// The program of a seed: all its threads reach their ends.
pub fn program(seed: u64) -> Threads {
    make(seed, false)
}

/// The program of a seed, whose threads may stop, wait for ever, or go wrong. It is not for native runs.
pub fn waiting(seed: u64) -> Threads {
    make(seed, true)
}

fn make(seed: u64, waits: bool) -> Threads {
    let mut dice = Dice::new(seed);
    let shared = 1 + dice.roll(3);
    let mut maker = Maker { dice, text: String::new(), shared, waits };
    let mut reset = String::from(
        "  result@ = 0; at@ = 1; flag@ = 0; p@ = &x0@; s@ = (struct s@){ 1, 2 }; own@ = 0; small@ = 250; brief@ = -1; un@.i = 6;\n  \
         ar@[0] = ar@[1] = 0; wide@ = 1; o@ = 0; pthread_rwlock_init(&rw@, 0);\n",
    );
    maker.text.push_str("unsigned result@;\n");
    for number in 0..shared {
        let value = maker.dice.roll(3);
        writeln!(maker.text, "int x{number}@ = {value};").unwrap();
        writeln!(reset, "  x{number}@ = {value};").unwrap();
    }
    for number in 0..2 {
        writeln!(maker.text, "pthread_mutex_t m{number}@;").unwrap();
        writeln!(reset, "  pthread_mutex_init(&m{number}@, 0);").unwrap();
    }
    reset.push_str("  pthread_cond_init(&c@, 0);\n");
    maker.text.push_str(
        "_Atomic int at@ = 1; int flag@; pthread_cond_t c@; sem_t e@, k@;\nint *p@ = &x0@;\n\
         struct s@ { int a, b; } s@ = { 1, 2 }, *hs@;\n\
         __thread int own@; unsigned char small@ = 250; short brief@ = -1; union { int i; char c; } un@ = { 6 };\n\
         int ar@[2]; long long wide@ = 1; pthread_rwlock_t rw@; pthread_spinlock_t sp@; pthread_once_t o@;\n\
         pthread_barrier_t b@; void first@(void) { $ x0@ += 3; $ small@++; }\n\
         void bump@(int *q, int v) { $ *q += v; }\nint twice@(int v) { return v * 2; }\n\
         int down@(int n) { if (n <= 0) return 0; $ x0@ += n; return down@(n - 1) + 1; }\n",
    );
    if waits {
        maker.text.push_str("sem_t own0@, own1@, own2@; pthread_mutex_t alone0@, alone1@, alone2@;\n");
    }
    let count = 2 + usize::from(maker.dice.once_in(3));
    let event = maker.dice.roll(5);
    let same = maker.dice.once_in(4);
    for thread in 0..if same { 1 } else { count } {
        maker.thread(thread, if same { 0 } else { event }, count);
    }
    maker.main(count, same);
    Threads { text: maker.text, reset }
}

impl Maker {
    /// The start of a thread. The event 1 is a semaphore, 2 a condition; the first thread causes it, the second waits. The
    /// event 3 is a barrier for all threads.
    fn thread(&mut self, number: usize, event: usize, count: usize) {
        writeln!(self.text, "void *f{number}@(void *a) {{\n  int l = (int)(long)a;").unwrap();
        let statements = if count == 3 { 1 } else { 2 } + self.dice.roll(2);
        let place = self.dice.roll(statements);
        for statement in 0..statements {
            if statement == place {
                self.event(number, event);
            }
            let line = self.statement(1, 0);
            writeln!(self.text, "  $ {line}").unwrap();
        }
        let end = *self.dice.pick(&[
            "return 0;",
            "return (void *)(long)(l & 255);",
            "pthread_exit((void *)(long)(l & 255));",
        ]);
        let end = if end.starts_with("pthread") { format!("{end} return 0;") } else { end.to_string() };
        writeln!(self.text, "  $ {end}\n}}").unwrap();
    }

    fn event(&mut self, number: usize, event: usize) {
        let wake = *self.dice.pick(&["signal", "broadcast"]);
        let line = match (event, number) {
            (1, 0) => "sem_post(&e@);".to_string(),
            (1, 1) => "sem_wait(&e@);".to_string(),
            (3, _) => "if (pthread_barrier_wait(&b@)) l += 9;".to_string(),
            (2, 0) => format!("pthread_mutex_lock(&m0@); $ flag@ = 1; pthread_cond_{wake}(&c@); $ pthread_mutex_unlock(&m0@);"),
            (2, 1) => "pthread_mutex_lock(&m0@); $ while (!flag@) pthread_cond_wait(&c@, &m0@); $ pthread_mutex_unlock(&m0@);".to_string(),
            _ => return,
        };
        writeln!(self.text, "  $ {line}").unwrap();
    }

    fn variable(&mut self) -> String {
        let other =
            ["(*p@)", "s@.a", "s@.b", "hs@->a", "hs@->b", "small@", "brief@", "un@.i", "ar@[l & 1]", "wide@"];
        match self.dice.roll(20) {
            number if number < other.len() => other[number].to_string(),
            _ => format!("x{}@", self.dice.roll(self.shared)),
        }
    }

    /// A statement, nested so deeply, with locks up to this number taken.
    fn statement(&mut self, depth: usize, locks: usize) -> String {
        let (x, y, c) = (self.variable(), self.variable(), 1 + self.dice.roll(3));
        let plain = format!("x{}@", self.dice.roll(self.shared));
        if self.waits && self.dice.once_in(3) {
            return self.wait(&x, c);
        }
        match self.dice.roll(if depth == 0 { 20 } else { 30 }) {
            26 => "l = down@(l & 1);".to_string(),
            17 => format!("own@ += {c}; $ {x} = own@;"),
            18 => "pthread_once(&o@, first@);".to_string(),
            19 => format!("l = ({x} = {c});"),
            27 if locks < 2 => {
                let body = self.statement(depth - 1, 2);
                format!("pthread_rwlock_wrlock(&rw@); $ {body} $ pthread_rwlock_unlock(&rw@);")
            }
            28 if locks < 2 => {
                format!(
                    "pthread_rwlock_rdlock(&rw@); $ l = {x}; $ {plain} += l; $ pthread_rwlock_unlock(&rw@);"
                )
            }
            29 if locks < 2 => {
                let body = self.statement(0, 2);
                format!("pthread_spin_lock(&sp@); $ {body} $ pthread_spin_unlock(&sp@);")
            }
            0 => format!("{x} = (%{y}) + {c};"),
            1 => format!("l = (%{x}) * {c};"),
            2 => format!("{x} = l + {c};"),
            3 => format!("{x} += l;"),
            4 => format!("{x}++;"),
            5 => format!("__sync_fetch_and_add(&{plain}, {c});"),
            6 => format!("l = __sync_val_compare_and_swap(&{plain}, {}, {c});", self.dice.roll(3)),
            7 => format!("l = __atomic_exchange_n(&{plain}, {c}, 5);"),
            8 => format!("__atomic_store_n(&{plain}, l, 5);"),
            9 => format!("at@ += {c};"),
            10 => "l = at@++;".to_string(),
            11 => format!("at@ = (%{x}) & 7;"),
            12 => format!("bump@(&{plain}, {c});"),
            13 => format!("{x} = twice@((%{y}) & 3);"),
            14 => format!("p@ = &x{}@;", self.dice.roll(self.shared)),
            15 => "{ struct s@ t = s@; $ t.a++; $ s@ = t; }".to_string(),
            16 => format!(
                "{{ int w = {}; if (__atomic_compare_exchange_n(&{plain}, &w, {c}, 0, 5, 5)) l += {c}; else l = w; }}",
                self.dice.roll(3)
            ),
            20 if locks < 2 => self.locked(depth, locks),
            21 if locks < 2 => {
                let body = self.statement(depth - 1, locks + 1);
                format!(
                    "if (pthread_mutex_trylock(&m{locks}@) == 0) {{ $ {body} $ pthread_mutex_unlock(&m{locks}@); }} else l = 5;"
                )
            }
            22 | 23 => {
                let (then, other) = (self.statement(depth - 1, locks), self.statement(depth - 1, locks));
                let operator = *self.dice.pick(&["<", "==", ">"]);
                format!("if ((%{x}) {operator} {c}) {{ $ {then} }} else {{ $ {other} }}")
            }
            24 => {
                let body = self.statement(depth - 1, locks);
                format!("for (int i = 0; i < 2; i++) {{ $ {body} }}")
            }
            25 => {
                let body = self.statement(depth - 1, 2);
                format!("sem_wait(&k@); $ {body} $ sem_post(&k@);")
            }
            _ => self.locked(depth, locks.min(1)),
        }
    }

    /// A statement after which there may be no other.
    fn wait(&mut self, x: &str, c: usize) -> String {
        match self.dice.roll(9) {
            0 | 1 => format!("__VERIFIER_assume(l != {c});"),
            2 => format!("__VERIFIER_assume({x} < {c});"),
            3 => format!("if ({x} == {c}) reach_error();"),
            4 => format!("if (l == {c}) abort();"),
            5 => format!("if (l == {c}) for (;;) ;"),
            6 => format!("sem_wait(&own{}@);", self.dice.roll(3)),
            7 => format!("pthread_mutex_lock(&alone{}@);", self.dice.roll(3)),
            _ => format!("__VERIFIER_atomic_begin(); {x} += 1; l = {x}; __VERIFIER_atomic_end();"),
        }
    }

    fn locked(&mut self, depth: usize, lock: usize) -> String {
        if lock > 1 || depth == 0 {
            return "l++;".to_string();
        }
        let body = self.statement(depth - 1, 2);
        let more = self.statement(0, 2);
        format!("pthread_mutex_lock(&m{lock}@); $ {body} $ {more} $ pthread_mutex_unlock(&m{lock}@);")
    }

    fn main(&mut self, count: usize, same: bool) {
        writeln!(self.text, "int main@(void) {{\n  pthread_t t[{count}]; int l = 0; void *r = 0;").unwrap();
        writeln!(self.text, "  sem_init(&e@, 0, 0); sem_init(&k@, 0, 1); pthread_spin_init(&sp@, 0);")
            .unwrap();
        writeln!(
            self.text,
            "  pthread_barrier_init(&b@, 0, {count}); hs@ = malloc(sizeof *hs@); hs@->a = 3; hs@->b = 4;"
        )
        .unwrap();
        if same {
            writeln!(
                self.text,
                "  for (long i = 0; i < {count}; i++) pthread_create(&t[i], 0, f0@, (void *)(i + 1));"
            )
            .unwrap();
        } else {
            for thread in 0..count {
                let argument = self.dice.roll(4);
                writeln!(self.text, "  pthread_create(&t[{thread}], 0, f{thread}@, (void *){argument});")
                    .unwrap();
            }
        }
        if self.dice.once_in(3) {
            let line = self.statement(0, 2);
            writeln!(self.text, "  $ {line}").unwrap();
        }
        for thread in 0..count {
            if self.dice.once_in(3) {
                writeln!(self.text, "  pthread_join(t[{thread}], &r); l = l * 3 + (int)(long)r;").unwrap();
            } else {
                writeln!(self.text, "  pthread_join(t[{thread}], 0);").unwrap();
            }
        }
        let mut parts: Vec<String> = (0..self.shared).map(|number| format!("x{number}@")).collect();
        parts.extend(
            [
                "at@", "l", "*p@", "s@.a", "s@.b", "hs@->a", "hs@->b", "small@", "brief@", "un@.i", "ar@[0]",
                "ar@[1]", "wide@",
            ]
            .map(str::to_string),
        );
        for part in parts {
            writeln!(self.text, "  result@ = result@ * 7u + (unsigned){part};").unwrap();
        }
        writeln!(self.text, "  return 0;\n}}").unwrap();
    }
}
