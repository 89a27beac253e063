/* The controlled scheduler that a C program is linked with by `allways replay --native`.
 *
 * The program is compiled with -fsanitize=thread, so that gcc calls __tsan_* before each access to memory that others may
 * see, but it is linked without the library that belongs to it: these functions are here. So are the functions of
 * pthreads (by --wrap) and those that verifiers agree on. Threads are real threads, of which one runs at a time. Each of the
 * calls is a point at which another thread may take over:
 *
 * - When a schedule is followed, it is a list of events, each of a thread: the accesses that matter, in the order of the
 *   trace. A thread that comes to a point looks for it among its next events. If it is there, the thread waits until the
 *   events before it have been; if not, the point does not matter and the thread goes on.
 * - When schedules are searched, whether another thread takes over is drawn at random, on request after a part of
 *   the schedule was followed.
 *
 * The file named by ALLWAYS_SCHEDULE says what is to be done; the one named by ALLWAYS_RESULT gets one line (else
 * standard error). With ALLWAYS_TELL, every point is told on standard error. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default")))
#define WEAK __attribute__((weak))
#define CALLER __builtin_return_address(0)

/* What happens at a point. */
enum { READ = 1, WRITE = 2, UPDATE = 3, ATOMIC = 4, CREATE = 5, JOIN = 6, END = 7, ANY_ACCESS = 8 };

/* ---- What was read ---- */

typedef struct { uintptr_t at; int line; } Line;
typedef struct { uintptr_t start, end; int name; } Symbol;
typedef struct { int thread, kind, from, to, name, slot, turn; } Event;
typedef struct { int thread, from, to; long long value; int after, used; } Choice;

static Line *lines; static int line_count;
static Symbol *symbols; static int symbol_count;
static uintptr_t *sections; static int section_count;
static uintptr_t *errors; static int error_count;
static Event *events; static int event_count;
static Choice *choices; static int choice_count;
/* The thread whose turn each one is. */
static int *turns; static int turn_count;
static int following = 1, fences;
static unsigned long long seed = 1;
static int one_in = 4, search_from = -1, expects_deadlock, expects_race, in_place;

/* ---- Threads ---- */

enum { READY, BLOCKED, PARKED, ENDED };
#define MOST_THREADS 65536
#define WINDOW 8
#define MOST_PASSES 200000

typedef struct {
    int state, go, next, turn, depth, begun;
    /* What it is about to access, if the size is not 0. */
    struct { uintptr_t at; size_t size; int kind, atomic, line; } pending;
    long passes;
    /* The line of its last access. */
    int line;
    /* Its stack, and the lowest frame of it that is in use. */
    uintptr_t bottom, top, lowest;
    pthread_t handle;
    void *(*start)(void *);
    void *argument, *result;
} Thread;

static Thread threads[MOST_THREADS];
static int thread_count = 1, turn, matched, missed;
static __thread int me;

static long futex(int *word, int operation, int value) {
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* Threads of the system are made when they have their first turn: a program may create thousands that never have one. */
static void begin_thread(int number);

static void give(int thread) {
    if (thread && !threads[thread].begun) begin_thread(thread);
    __atomic_store_n(&threads[thread].go, 1, __ATOMIC_SEQ_CST);
    futex(&threads[thread].go, FUTEX_WAKE, 1);
}

static void wait_for_turn(int thread) {
    while (!__atomic_exchange_n(&threads[thread].go, 0, __ATOMIC_SEQ_CST))
        futex(&threads[thread].go, FUTEX_WAIT, 0);
}

/* Ends the process with a line about it. If two threads take part, the other one and its line are last. */
static void report_two(const char *what, int line, int other, int other_line) {
    const char *path = getenv("ALLWAYS_RESULT");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : 2;
    char text[200];
    int length = snprintf(text, sizeof text, "%s %d %d %d %d %d %d\n", what, line, me, matched, missed, other, other_line);
    if (write(file, text, length) < 0) _exit(3);
    _exit(0);
}
static void report(const char *what, int line) { report_two(what, line, 0, 0); }

/* What takes place is told to who asks for it. */
static int telling;
static void tell(const char *what, int kind, int line, int name) {
    static const char *words[] = { "", "reads", "writes", "updates", "enters", "creates", "joins", "ends" };
    if (telling) fprintf(stderr, "thread %d, line %d: %s variable %d (%s)\n", me, line, words[kind], name, what);
}

static unsigned draw(unsigned below) {
    seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
    return (unsigned)(seed >> 20) % below;
}

static int line_of(void *caller) {
    uintptr_t at = (uintptr_t)caller - 1;
    int low = 0, high = line_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (lines[middle].at <= at) low = middle + 1; else high = middle;
    }
    return low ? lines[low - 1].line : 0;
}

static int name_of(const volatile void *address) {
    uintptr_t at = (uintptr_t)address;
    int low = 0, high = symbol_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (symbols[middle].start <= at) low = middle + 1; else high = middle;
    }
    return low && at < symbols[low - 1].end ? symbols[low - 1].name : -1;
}

/* ---- Who runs next ---- */

/* The thread of the next turn that can use it; -1 if the schedule is used up. */
static int next_in_schedule(void) {
    while (turn + 1 < turn_count) {
        turn++;
        int thread = turns[turn];
        if (search_from >= 0 && turn >= search_from) return -1;
        if (thread >= thread_count || threads[thread].state >= PARKED) { missed++; continue; }
        if (threads[thread].turn > turn) continue;
        return thread;
    }
    return -1;
}

static int any_ready(int except) {
    int ready[MOST_THREADS], count = 0;
    for (int thread = 0; thread < thread_count; thread++)
        if (threads[thread].state == READY && thread != except) ready[count++] = thread;
    return count ? ready[draw(count)] : -1;
}

/* The schedule is used up: either that is all, or the search begins, or it turns out that no thread can move. */
static void leave_schedule(void) {
    if (search_from < 0 && !expects_deadlock) report("diverged", 0);
    following = 0;
    for (int thread = 0; thread < thread_count; thread++) {
        if (threads[thread].state == PARKED) threads[thread].state = READY;
        threads[thread].turn = -1;
    }
}

/* Lets others run; this thread can go on itself only if it is ready. */
static void hand_over(int may_stay) {
    int thread = -1;
    if (following && (thread = next_in_schedule()) < 0) leave_schedule();
    if (!following) {
        if (may_stay) threads[me].state = READY;
        thread = any_ready(-1);
        if (thread < 0) report("deadlock", 0);
    }
    if (thread == me) return;
    give(thread);
    wait_for_turn(me);
}

static void blocked(void) {
    threads[me].state = BLOCKED;
    hand_over(0);
    threads[me].state = READY;
}

static void wake_blocked(void) {
    for (int thread = 0; thread < thread_count; thread++)
        if (threads[thread].state == BLOCKED) threads[thread].state = READY;
}

/* ---- Points ---- */

/* Where the shared slots of the model are in memory, as far as events have shown. */
static uintptr_t *places; static int place_count;

/* Whether an event of a slot can be at an address. */
static int may_be_at(int slot, uintptr_t at) {
    if (slot < 0 || !at) return 1;
    if (places[slot]) return places[slot] == at;
    for (int other = 0; other < place_count; other++)
        if (places[other] == at) return 0;
    return 1;
}

/* Objects on the stack are gone when their function returns. */
static void forget_places(uintptr_t from, uintptr_t to) {
    for (int slot = 0; slot < place_count; slot++)
        if (places[slot] >= from && places[slot] < to) places[slot] = 0;
}

static int fits(const Event *event, int kind, int line, int name, uintptr_t at) {
    if (kind == END || event->kind == END) return kind == event->kind;
    int named = event->name == name || (kind == CREATE && event->name < 0);
    if (!named || line < event->from || line > event->to) return 0;
    int same = event->kind == kind || (kind == UPDATE && event->kind < UPDATE) || (event->kind == ANY_ACCESS && kind <= UPDATE);
    return same && may_be_at(event->slot, at);
}

/* The next event of this thread that a point is; -1 if it is none. */
static int event_here(int kind, int line, int name, uintptr_t address) {
    int seen = 0;
    for (int at = threads[me].next; at < event_count && seen < WINDOW; at++) {
        if (events[at].thread != me) continue;
        if (fits(&events[at], kind, line, name, address)) return at;
        seen++;
    }
    return -1;
}

static int events_left(void) {
    for (int at = threads[me].next; at < event_count; at++)
        if (events[at].thread == me) return 1;
    return 0;
}

/* Gives the event that the point is, -1 if it is none. */
static int point_at(int kind, int line, int name, uintptr_t address) {
    Thread *thread = &threads[me];
    if (thread->depth > 0) return -1;
    if (following) {
        int at = event_here(kind, line, name, address);
        tell(at < 0 ? "no event" : "an event", kind, line, name);
        if (at < 0) {
            int last = turn == turn_count - 1 && turns[turn] == me;
            if (++thread->passes > MOST_PASSES) {
                if (last) leave_schedule();
                thread->state = PARKED;
            } else if (events_left() || last || kind == END) {
                return -1;
            } else {
                /* What it does from here on is no part of the schedule. */
                thread->state = PARKED;
            }
            hand_over(0);
            thread->state = READY;
            return -1;
        }
        for (int skipped = thread->next; skipped < at; skipped++) missed += events[skipped].thread == me;
        if (events[at].slot >= 0 && address) places[events[at].slot] = address;
        thread->next = at + 1;
        thread->passes = 0;
        thread->turn = events[at].turn;
        while (following && thread->turn > turn) hand_over(1);
        thread->turn = -1;
        matched++;
        return at;
    }
    if (draw(one_in) == 0) hand_over(1);
    return -1;
}

/* Where the stack of the program ends: below its frames are those of this runtime, up to the one that returns to the
 * caller. */
static uintptr_t stack_of(void *caller) {
    void **own = __builtin_frame_address(0), **frame = own;
    for (int depth = 0; depth < 8 && frame >= own && (uintptr_t)frame < threads[me].top; depth++) {
        if (frame[1] == caller) return (uintptr_t)(frame + 2);
        frame = *frame;
    }
    return (uintptr_t)own;
}

static void point(int kind, void *caller, const volatile void *address) {
    if (fences) threads[me].lowest = stack_of(caller);
    if (threads[me].depth > 0) return;
    point_at(kind, line_of(caller), address ? name_of(address) : -1, (uintptr_t)address);
}

/* ---- Accesses ---- */

/* Frames are on the stack of a thread from the top downwards. What lies below the last one is that of functions that have
 * returned; the stack of a thread that has ended may be another one's by now. */
static void look_for_dead_frame(int line, uintptr_t at) {
    int over = 0;
    for (int other = 0; other < thread_count; other++) {
        Thread *thread = &threads[other];
        if (at < thread->bottom || at >= thread->top) continue;
        /* What `main` declares lives as long as the process. */
        if (thread->state == ENDED ? !other : at >= thread->lowest) return;
        over = 1;
    }
    if (over) report("memory", line);
}

extern pthread_t __real_pthread_self(void);

static void note_stack(void) {
    pthread_attr_t attributes;
    void *start;
    size_t size;
    if (pthread_getattr_np(__real_pthread_self(), &attributes)) return;
    if (!pthread_attr_getstack(&attributes, &start, &size)) {
        threads[me].bottom = (uintptr_t)start;
        threads[me].top = threads[me].lowest = (uintptr_t)start + size;
    }
    pthread_attr_destroy(&attributes);
}

/* Two threads that stand before accesses to the same memory, one of which writes and not both of which are atomic: a race. */
static void look_for_race(int kind, int line, uintptr_t at, size_t size, int atomic) {
    for (int other = 0; other < thread_count; other++) {
        Thread *thread = &threads[other];
        if (other == me || thread->state == ENDED || !thread->pending.size) continue;
        int apart = at + size <= thread->pending.at || thread->pending.at + thread->pending.size <= at;
        int harmless = (kind == READ && thread->pending.kind == READ) || (atomic && thread->pending.atomic);
        if (!apart && !harmless) report_two("race", line, other, thread->pending.line);
    }
}

static void access_at(int kind, void *caller, const volatile void *address, size_t size, int atomic) {
    Thread *thread = &threads[me];
    if (fences) thread->line = line_of(caller);
    if (expects_race) {
        int line = line_of(caller);
        look_for_race(kind, line, (uintptr_t)address, size, atomic || thread->depth > 0);
        thread->pending.at = (uintptr_t)address;
        /* Nobody is held inside of a section. */
        thread->pending.size = thread->depth > 0 ? 0 : size;
        thread->pending.kind = kind;
        thread->pending.atomic = atomic;
        thread->pending.line = line;
    }
    point(kind, caller, address);
    thread->pending.size = 0;
    if (fences) look_for_dead_frame(line_of(caller), (uintptr_t)address);
}

#define ACCESS(size) \
    HOOK void __tsan_read##size(void *address) { access_at(READ, CALLER, address, size, 0); } \
    HOOK void __tsan_write##size(void *address) { access_at(WRITE, CALLER, address, size, 0); } \
    HOOK void __tsan_unaligned_read##size(void *address) { access_at(READ, CALLER, address, size, 0); } \
    HOOK void __tsan_unaligned_write##size(void *address) { access_at(WRITE, CALLER, address, size, 0); } \
    HOOK void __tsan_volatile_read##size(void *address) { access_at(READ, CALLER, address, size, 0); } \
    HOOK void __tsan_volatile_write##size(void *address) { access_at(WRITE, CALLER, address, size, 0); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)

HOOK void __tsan_init(void) {}
HOOK void __tsan_func_entry(void *caller) { (void)caller; }
HOOK void __tsan_func_exit(void *caller) { (void)caller; }
HOOK void __tsan_read_range(void *address, unsigned long size) { access_at(READ, CALLER, address, size, 0); }
HOOK void __tsan_write_range(void *address, unsigned long size) { access_at(WRITE, CALLER, address, size, 0); }
HOOK void __tsan_vptr_update(void *to, void *value) { (void)value; point(WRITE, CALLER, to); }
HOOK void __tsan_atomic_thread_fence(int order) { (void)order; }
HOOK void __tsan_atomic_signal_fence(int order) { (void)order; }

/* One thread runs at a time: what follows a point is atomic by itself. */
#define FETCH(bits, type, name, after) \
    HOOK type __tsan_atomic##bits##_fetch_##name(volatile type *at, type operand, int order) { \
        (void)order; \
        access_at(UPDATE, CALLER, at, sizeof *at, 1); \
        type old = *at; \
        *at = after; \
        return old; \
    }
#define ATOMICS(bits, type) \
    HOOK type __tsan_atomic##bits##_load(const volatile type *at, int order) { \
        (void)order; \
        access_at(READ, CALLER, at, sizeof *at, 1); \
        return *at; \
    } \
    HOOK void __tsan_atomic##bits##_store(volatile type *at, type value, int order) { \
        (void)order; \
        access_at(WRITE, CALLER, at, sizeof *at, 1); \
        *at = value; \
    } \
    HOOK type __tsan_atomic##bits##_exchange(volatile type *at, type operand, int order) { \
        (void)order; \
        access_at(UPDATE, CALLER, at, sizeof *at, 1); \
        type old = *at; \
        *at = operand; \
        return old; \
    } \
    FETCH(bits, type, add, old + operand) \
    FETCH(bits, type, sub, old - operand) \
    FETCH(bits, type, and, old & operand) \
    FETCH(bits, type, or, old | operand) \
    FETCH(bits, type, xor, old ^ operand) \
    FETCH(bits, type, nand, ~(old & operand)) \
    static int exchanged##bits(volatile type *at, type *expected, type value) { \
        type old = *at; \
        if (old == *expected) { *at = value; return 1; } \
        *expected = old; \
        return 0; \
    } \
    HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected, type value, int order, \
                                                           int other) { \
        (void)order; (void)other; \
        access_at(UPDATE, CALLER, at, sizeof *at, 1); \
        return exchanged##bits(at, expected, value); \
    } \
    HOOK int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected, type value, int order, \
                                                         int other) { \
        (void)order; (void)other; \
        access_at(UPDATE, CALLER, at, sizeof *at, 1); \
        return exchanged##bits(at, expected, value); \
    } \
    HOOK type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value, int order, \
                                                         int other) { \
        (void)order; (void)other; \
        access_at(UPDATE, CALLER, at, sizeof *at, 1); \
        exchanged##bits(at, &expected, value); \
        return expected; \
    }
ATOMICS(8, uint8_t) ATOMICS(16, uint16_t) ATOMICS(32, uint32_t) ATOMICS(64, uint64_t)

/* ---- Functions: atomic sections, and errors ---- */

static int is_one_of(const uintptr_t *table, int count, void *function) {
    for (int at = 0; at < count; at++)
        if (table[at] == (uintptr_t)function) return 1;
    return 0;
}

static void enter_section(void *caller) {
    point(ATOMIC, caller, NULL);
    threads[me].depth++;
}

HOOK void __cyg_profile_func_enter(void *function, void *caller) {
    if (is_one_of(errors, error_count, function)) report("error", line_of(caller));
    if (is_one_of(sections, section_count, function)) enter_section(caller);
}

HOOK void __cyg_profile_func_exit(void *function, void *caller) {
    if (following) forget_places((uintptr_t)__builtin_frame_address(0), (uintptr_t)__builtin_frame_address(1));
    if (fences) {
        /* The variables of the function are gone when others run. */
        threads[me].lowest = (uintptr_t)__builtin_frame_address(1);
        point_at(WRITE, line_of(caller), -1, 0);
    }
    if (is_one_of(sections, section_count, function)) threads[me].depth--;
}

HOOK WEAK void __VERIFIER_atomic_begin(void) { enter_section(CALLER); }
HOOK WEAK void __VERIFIER_atomic_end(void) { threads[me].depth--; }
HOOK WEAK void __ESBMC_atomic_begin(void) { enter_section(CALLER); }
HOOK WEAK void __ESBMC_atomic_end(void) { threads[me].depth--; }
HOOK WEAK void __CPROVER_atomic_begin(void) { enter_section(CALLER); }
HOOK WEAK void __CPROVER_atomic_end(void) { threads[me].depth--; }
HOOK WEAK void __VERIFIER_error(void) { report("error", line_of(CALLER)); }
HOOK WEAK void reach_error(void) { report("error", line_of(CALLER)); }
HOOK void __assert_fail(const char *what, const char *file, unsigned line, const char *function) {
    (void)what; (void)file; (void)line; (void)function;
    report("error", line_of(CALLER));
    _exit(1);
}

/* Where a program declares these and does not define them; `assert` without its header is a function. */
#define ASSERTION(name) HOOK WEAK void name(int holds) { if (!holds) report("error", line_of(CALLER)); }
ASSERTION(assert) ASSERTION(__VERIFIER_assert) ASSERTION(__ESBMC_assert) ASSERTION(__CPROVER_assert) ASSERTION(klee_assert)
ASSERTION(__acsl) ASSERTION(__goblint_check) ASSERTION(__goblint_assert)

static void end_thread(void);

static void never(void) {
    end_thread();
    for (;;) pause();
}

/* In the model a thread that assumes what is false does not go on. */
HOOK WEAK void __VERIFIER_assume(int holds) { if (!holds) never(); }
HOOK WEAK void __ESBMC_assume(int holds) { if (!holds) never(); }
HOOK WEAK void __CPROVER_assume(int holds) { if (!holds) never(); }
HOOK WEAK void __goblint_assume(int holds) { if (!holds) never(); }
HOOK WEAK void assume_abort_if_not(int holds) { if (!holds) never(); }
HOOK void __wrap_abort(void) { never(); }

/* ---- Values that the program does not determine ---- */

static int own_events(int from, int to) {
    int count = 0;
    for (int at = from; at < to; at++) count += events[at].thread == me;
    return count;
}

/* The next value of the trace on this line; on request only if fewer than `in_place` events of the thread before it are missing. */
static long long choose(void *caller) {
    int line = line_of(caller);
    for (int at = 0; at < choice_count; at++) {
        Choice *choice = &choices[at];
        if (choice->used || choice->thread != me || line < choice->from || line > choice->to) continue;
        if (in_place && own_events(threads[me].next, choice->after) >= in_place) continue;
        choice->used = 1;
        return choice->value;
    }
    return following ? 0 : (long long)draw(4) - 1;
}

/* Used by what is made for functions that have no body. */
HOOK long long allways_choose(void *caller) { return choose(caller); }
/* What assembly gives. */
HOOK long long allways_output(void) { return choose(CALLER); }

/* Variables that have no value, by the place of their declaration. */
typedef struct { int thread; long at; long long value; int used; } Value;
static Value *values; static int value_count;
HOOK long long allways_undefined(long at) {
    for (int number = 0; number < value_count; number++) {
        Value *value = &values[number];
        if (value->used || value->thread != me || value->at != at) continue;
        value->used = 1;
        return value->value;
    }
    return 0;
}

#define NONDET(name, type) HOOK WEAK type __VERIFIER_nondet_##name(void) { return (type)choose(CALLER); }
NONDET(int, int) NONDET(uint, unsigned) NONDET(unsigned, unsigned) NONDET(unsigned_int, unsigned) NONDET(bool, _Bool)
NONDET(char, char) NONDET(uchar, unsigned char) NONDET(unsigned_char, unsigned char) NONDET(short, short)
NONDET(ushort, unsigned short) NONDET(long, long) NONDET(ulong, unsigned long) NONDET(longlong, long long)
NONDET(ulonglong, unsigned long long) NONDET(size_t, size_t) NONDET(u8, uint8_t)
NONDET(u16, uint16_t) NONDET(u32, uint32_t) NONDET(loff_t, long long) NONDET(pchar, char *)
/* The null pointer, or one to memory that nobody else has. */
static void *allocate(size_t size);
#define GIVEN (1 << 16)
HOOK WEAK void *__VERIFIER_nondet_pointer(void) { return choose(CALLER) ? allocate(GIVEN) : NULL; }
HOOK WEAK double __VERIFIER_nondet_double(void) { return (double)choose(CALLER); }
HOOK WEAK float __VERIFIER_nondet_float(void) { return (float)choose(CALLER); }
HOOK int __wrap_rand(void) { return (int)choose(CALLER); }
HOOK long __wrap_random(void) { return (long)choose(CALLER); }

/* How many numbers are read is chosen first, then each of them. */
static int scan(const char *format, va_list places, void *caller) {
    long long count = choose(caller);
    for (int number = 0; (format = strchr(format, '%')); number++) {
        int longer = 0, shorter = 0;
        for (format++; *format && strchr("0123456789hlLjzt", *format); format++) {
            longer += strchr("lLjzt", *format) != NULL;
            shorter += *format == 'h';
        }
        if (*format == '%' || *format == '*') { format++; number--; continue; }
        void *place = va_arg(places, void *);
        if (!*format || !strchr("diouxX", *format)) continue;
        access_at(WRITE, caller, place, shorter ? sizeof(short) : longer ? sizeof(long) : sizeof(int), 0);
        if (number >= count) continue;
        long long value = choose(caller);
        if (shorter) *(short *)place = (short)value;
        else if (longer) *(long *)place = (long)value;
        else *(int *)place = (int)value;
    }
    return (int)count;
}
#define SCAN(name) \
    HOOK int __wrap_##name(const char *format, ...) { \
        va_list places; \
        va_start(places, format); \
        int count = scan(format, places, CALLER); \
        va_end(places); \
        return count; \
    }
SCAN(scanf) SCAN(__isoc99_scanf)
/* What is wrapped is looked up in this text: __wrap_scanf, __wrap___isoc99_scanf. */

/* ---- Locks and the like, by their addresses ---- */

typedef struct { const volatile void *at; long value, limit, round, tickets, served; int owner, kind; } Object;
#define MOST_OBJECTS 8192
static Object objects[MOST_OBJECTS];

static Object *object(const volatile void *at) {
    unsigned place = (unsigned)((uintptr_t)at >> 2) % MOST_OBJECTS;
    while (objects[place].at && objects[place].at != at) place = (place + 1) % MOST_OBJECTS;
    objects[place].at = at;
    return &objects[place];
}

static int set(void *at, long value, void *caller) {
    point(WRITE, caller, at);
    Object *found = object(at);
    found->value = value;
    found->round = 0;
    wake_blocked();
    return 0;
}

static int take(void *at, void *caller) {
    point(UPDATE, caller, at);
    while (object(at)->value) blocked();
    object(at)->value = 1;
    return 0;
}

static int try_take(void *at, void *caller) {
    point(UPDATE, caller, at);
    if (object(at)->value) return EBUSY;
    object(at)->value = 1;
    return 0;
}

/* The kind of a mutex is that of its attributes; that of an initialiser comes with the schedule, since programs may have
 * other ideas of how a mutex is laid out. */
static int owns(void *at, int kind) {
    Object *mutex = object(at);
    return mutex->value && mutex->owner == me && mutex->kind == kind;
}
static int lock_mutex(void *at, int tries, void *caller) {
    point(UPDATE, caller, at);
    if (owns(at, PTHREAD_MUTEX_RECURSIVE)) return object(at)->value++, 0;
    if (owns(at, PTHREAD_MUTEX_ERRORCHECK)) return tries ? EBUSY : EDEADLK;
    if (tries && object(at)->value) return EBUSY;
    while (object(at)->value) blocked();
    object(at)->value = 1;
    object(at)->owner = me;
    return 0;
}
static int unlock_mutex(void *at, void *caller) {
    point(WRITE, caller, at);
    Object *mutex = object(at);
    if (mutex->kind && !(mutex->value && mutex->owner == me)) return EPERM;
    mutex->value = owns(at, PTHREAD_MUTEX_RECURSIVE) ? mutex->value - 1 : 0;
    if (!mutex->value) wake_blocked();
    return 0;
}
static void start_as(int name, int kind, int index, int count) {
    for (int at = 0; at < symbol_count; at++) {
        uintptr_t size = (symbols[at].end - symbols[at].start) / count;
        if (symbols[at].name == name) object((void *)(symbols[at].start + index * size))->kind = kind;
    }
}
HOOK int __wrap_pthread_mutex_init(void *at, void *attributes) {
    int kind = PTHREAD_MUTEX_NORMAL;
    if (attributes) pthread_mutexattr_gettype(attributes, &kind);
    object(at)->kind = kind;
    return set(at, 0, CALLER);
}
HOOK int __wrap_pthread_mutex_destroy(void *at) { (void)at; return 0; }
HOOK int __wrap_pthread_mutex_lock(void *at) { return lock_mutex(at, 0, CALLER); }
HOOK int __wrap_pthread_mutex_unlock(void *at) { return unlock_mutex(at, CALLER); }
HOOK int __wrap_pthread_mutex_trylock(void *at) { return lock_mutex(at, 1, CALLER); }
HOOK int __wrap_pthread_mutex_timedlock(void *at, void *until) { (void)until; return lock_mutex(at, 1, CALLER); }
HOOK int __wrap_pthread_spin_init(void *at, int shared) { (void)shared; return set(at, 0, CALLER); }
HOOK int __wrap_pthread_spin_destroy(void *at) { (void)at; return 0; }
HOOK int __wrap_pthread_spin_lock(void *at) { return take(at, CALLER); }
HOOK int __wrap_pthread_spin_unlock(void *at) { return set(at, 0, CALLER); }
HOOK int __wrap_pthread_spin_trylock(void *at) { return try_take(at, CALLER); }
HOOK int __wrap_mtx_init(void *at, int kind) { (void)kind; return set(at, 0, CALLER); }
HOOK void __wrap_mtx_destroy(void *at) { (void)at; }
HOOK int __wrap_mtx_lock(void *at) { return take(at, CALLER); }
HOOK int __wrap_mtx_unlock(void *at) { return set(at, 0, CALLER); }
HOOK int __wrap_mtx_trylock(void *at) { return try_take(at, CALLER); }

/* What is done once: 1 while it is done, 2 after that. */
static int once(void *at, void (*initialise)(void), void *caller) {
    point(UPDATE, caller, at);
    while (object(at)->value == 1) blocked();
    if (object(at)->value == 2) return 0;
    object(at)->value = 1;
    initialise();
    point(WRITE, caller, at);
    object(at)->value = 2;
    wake_blocked();
    return 0;
}
HOOK int __wrap_pthread_once(void *at, void *initialise) { return once(at, (void (*)(void))initialise, CALLER); }
HOOK void __wrap_call_once(void *at, void *initialise) { once(at, (void (*)(void))initialise, CALLER); }

/* A read-write lock counts its readers, and is -1 while somebody writes. */
HOOK int __wrap_pthread_rwlock_init(void *at, void *kind) { (void)kind; return set(at, 0, CALLER); }
HOOK int __wrap_pthread_rwlock_destroy(void *at) { (void)at; return 0; }
HOOK int __wrap_pthread_rwlock_wrlock(void *at) {
    point(UPDATE, CALLER, at);
    while (object(at)->value) blocked();
    object(at)->value = -1;
    return 0;
}
HOOK int __wrap_pthread_rwlock_trywrlock(void *at) {
    point(UPDATE, CALLER, at);
    if (object(at)->value) return EBUSY;
    object(at)->value = -1;
    return 0;
}
HOOK int __wrap_pthread_rwlock_rdlock(void *at) {
    point(UPDATE, CALLER, at);
    while (object(at)->value < 0) blocked();
    object(at)->value++;
    return 0;
}
HOOK int __wrap_pthread_rwlock_unlock(void *at) {
    point(UPDATE, CALLER, at);
    object(at)->value = object(at)->value > 0 ? object(at)->value - 1 : 0;
    wake_blocked();
    return 0;
}

/* When a schedule is followed, it says when waiting ends: POSIX allows wake-ups without a signal. */
static int wait_for(void *condition, void *mutex, void *caller) {
    point(WRITE, caller, mutex);
    Object *found = object(condition);
    long ticket = found->tickets++;
    object(mutex)->value = 0;
    wake_blocked();
    if (following) point(UPDATE, caller, mutex);
    while (!following && object(condition)->served <= ticket) blocked();
    while (object(mutex)->value) blocked();
    object(mutex)->value = 1;
    object(mutex)->owner = me;
    return 0;
}
static int wake(void *condition, int all) {
    Object *found = object(condition);
    if (all) found->served = found->tickets;
    else if (found->served < found->tickets) found->served++;
    wake_blocked();
    return 0;
}
HOOK int __wrap_pthread_cond_init(void *at, void *kind) { (void)at; (void)kind; return 0; }
HOOK int __wrap_pthread_cond_destroy(void *at) { (void)at; return 0; }
HOOK int __wrap_pthread_cond_wait(void *at, void *mutex) { return wait_for(at, mutex, CALLER); }
HOOK int __wrap_pthread_cond_timedwait(void *at, void *mutex, void *until) {
    (void)until;
    return wait_for(at, mutex, CALLER);
}
HOOK int __wrap_pthread_cond_signal(void *at) { return wake(at, 0); }
HOOK int __wrap_pthread_cond_broadcast(void *at) { return wake(at, 1); }
HOOK int __wrap_cnd_init(void *at) { (void)at; return 0; }
HOOK void __wrap_cnd_destroy(void *at) { (void)at; }
HOOK int __wrap_cnd_wait(void *at, void *mutex) { return wait_for(at, mutex, CALLER); }
HOOK int __wrap_cnd_signal(void *at) { return wake(at, 0); }
HOOK int __wrap_cnd_broadcast(void *at) { return wake(at, 1); }

HOOK int __wrap_sem_init(void *at, int shared, unsigned value) { (void)shared; return set(at, value, CALLER); }
HOOK int __wrap_sem_destroy(void *at) { (void)at; return 0; }
HOOK int __wrap_sem_wait(void *at) {
    point(UPDATE, CALLER, at);
    while (object(at)->value <= 0) blocked();
    object(at)->value--;
    return 0;
}
HOOK int __wrap_sem_trywait(void *at) {
    point(UPDATE, CALLER, at);
    if (object(at)->value <= 0) { errno = EAGAIN; return -1; }
    object(at)->value--;
    return 0;
}
HOOK int __wrap_sem_post(void *at) {
    point(UPDATE, CALLER, at);
    object(at)->value++;
    wake_blocked();
    return 0;
}
HOOK int __wrap_sem_getvalue(void *at, int *to) {
    point(READ, CALLER, at);
    *to = (int)object(at)->value;
    return 0;
}

HOOK int __wrap_pthread_barrier_init(void *at, void *kind, unsigned count) {
    (void)kind;
    set(at, 0, CALLER);
    object(at)->limit = count;
    return 0;
}
HOOK int __wrap_pthread_barrier_destroy(void *at) { (void)at; return 0; }
HOOK int __wrap_pthread_barrier_wait(void *at) {
    point(UPDATE, CALLER, at);
    Object *found = object(at);
    if (++found->value >= found->limit) {
        found->value = 0;
        found->round++;
        wake_blocked();
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    long round = found->round;
    point(READ, CALLER, at);
    while (object(at)->round == round) blocked();
    return 0;
}

/* ---- Threads: a `pthread_t` is the number of the thread, `main` being 0 ---- */

extern int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern void __real_pthread_exit(void *) __attribute__((noreturn));

/* The end of a thread: others run. */
static void end_thread(void) {
    threads[me].depth = 0;
    point_at(END, 0, -1, 0);
    threads[me].state = ENDED;
    wake_blocked();
    int thread = -1;
    if (following && (thread = next_in_schedule()) < 0) leave_schedule();
    if (!following && (thread = any_ready(me)) < 0) {
        int left = 0;
        for (int other = 0; other < thread_count; other++) left |= threads[other].state != ENDED;
        report(left ? "deadlock" : "ended", 0);
    }
    give(thread);
}

/* A thread ends after its cleanup handlers and the destructors of its thread-specific data: in the last round of these. */
static pthread_key_t ending;
static void at_end(void *rounds) {
    if ((intptr_t)rounds > 1) pthread_setspecific(ending, (void *)((intptr_t)rounds - 1));
    else end_thread();
}
static void end_later(void) { pthread_setspecific(ending, (void *)(intptr_t)PTHREAD_DESTRUCTOR_ITERATIONS); }

static void *run(void *number) {
    me = (int)(intptr_t)number;
    end_later();
    if (fences) note_stack();
    wait_for_turn(me);
    threads[me].result = threads[me].start(threads[me].argument);
    return NULL;
}

static void begin_thread(int number) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    threads[number].begun = 1;
    if (__real_pthread_create(&threads[number].handle, &attributes, run, (void *)(intptr_t)number)) report("diverged", 0);
}

/* Threads of the schedule have the numbers that they have there, in the order of its events; others come after them. One that was
 * not created has ended. */
static int number_of_created(int event) {
    int number = 0;
    if (event >= 0) {
        for (int at = 0; at <= event; at++) number += events[at].kind == CREATE;
    } else if (following) {
        number = thread_count;
    } else {
        for (number = 1; number < thread_count && (threads[number].state != ENDED || threads[number].start);) number++;
    }
    if (number == thread_count) thread_count++;
    return number;
}

static int create(unsigned long *to, void *start, void *argument, void *caller) {
    if (expects_race) look_for_race(WRITE, line_of(caller), (uintptr_t)to, sizeof *to, 0);
    if (fences) threads[me].lowest = stack_of(caller);
    int event = point_at(CREATE, line_of(caller), name_of(start), 0);
    if (thread_count == MOST_THREADS) report("diverged", 0);
    int number = number_of_created(event);
    threads[number] = (Thread){ .turn = -1, .start = (void *(*)(void *))start, .argument = argument };
    *to = number;
    return 0;
}

static int join(unsigned long number, void *caller) {
    point(JOIN, caller, NULL);
    if (number >= (unsigned long)thread_count) return ESRCH;
    if (number == (unsigned long)me) return EDEADLK;
    while (threads[number].state != ENDED) blocked();
    return 0;
}

HOOK int __wrap_pthread_create(unsigned long *to, void *kind, void *start, void *argument) {
    (void)kind;
    return create(to, start, argument, CALLER);
}
HOOK int __wrap_pthread_join(unsigned long number, void **result) {
    int failed = join(number, CALLER);
    if (!failed && result) *result = threads[number].result;
    return failed;
}
HOOK void __wrap_pthread_exit(void *result) {
    threads[me].result = result;
    __real_pthread_exit(NULL);
}
HOOK void __wrap_thrd_exit(int result) {
    threads[me].result = (void *)(intptr_t)result;
    __real_pthread_exit(NULL);
}
HOOK unsigned long __wrap_pthread_self(void) { return me; }
HOOK int __wrap_pthread_detach(unsigned long number) { (void)number; return 0; }
HOOK int __wrap_thrd_create(unsigned long *to, void *start, void *argument) {
    return create(to, start, argument, CALLER);
}
HOOK int __wrap_thrd_join(unsigned long number, int *result) {
    int failed = join(number, CALLER);
    if (!failed && result) *result = (int)(intptr_t)threads[number].result;
    return failed;
}
HOOK unsigned __wrap_sleep(unsigned seconds) { (void)seconds; return 0; }
HOOK int __wrap_usleep(unsigned time) { (void)time; return 0; }
HOOK int __wrap_nanosleep(void *time, void *left) { (void)time; (void)left; return 0; }
HOOK int __wrap_sched_yield(void) { return 0; }

/* ---- Memory: zero at first, and on request with a page after it that must not be touched ---- */

extern void *__real_calloc(size_t, size_t);
typedef struct { char *at; size_t size; int freed; } Block;
static Block *blocks; static int block_count;

static void *grow(void *table, int count, size_t size) {
    if (count & (count - 1)) return table;
    return realloc(table, (count ? 2 * (size_t)count : 1) * size);
}
#define ADD(table, count) (table = grow(table, count, sizeof *table), &table[count++])

#define PAGE 4096
/* Programs for pointers of 32 bits may take a larger address for an error: memory comes from below that, if it can. */
#ifdef MAP_32BIT
#define LOW MAP_32BIT
#else
#define LOW 0
#endif
static void *allocate(size_t size) {
    if (!fences) return __real_calloc(1, size ? size : 1);
    size_t room = (size + PAGE - 1) / PAGE * PAGE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    char *start = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, flags | LOW, -1, 0);
    if (start == MAP_FAILED) start = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (start == MAP_FAILED) return NULL;
    mprotect(start + room, PAGE, PROT_NONE);
    *ADD(blocks, block_count) = (Block){ start + room - size, size, 0 };
    return start + room - size;
}
HOOK void *__wrap_malloc(size_t size) { return allocate(size); }
HOOK void *__wrap_calloc(size_t count, size_t size) { return allocate(count * size); }
/* An address stays that of one object, which must not be touched any more. */
HOOK void __wrap_free(void *at) {
    /* What is freed may be changed, all of it. */
    if (expects_race && !fences && at) access_at(WRITE, CALLER, at, malloc_usable_size(at), 0);
    if (!fences || !at) return;
    /* Whether it is there is one step, that it is gone another one; no variable of the program is accessed. */
    point_at(READ, line_of(CALLER), -1, 0);
    int number = 0;
    while (number < block_count && blocks[number].at != at) number++;
    if (number == block_count || blocks[number].freed) report("memory", line_of(CALLER));
    point_at(WRITE, line_of(CALLER), -1, 0);
    Block *block = &blocks[number];
    block->freed = 1;
    uintptr_t start = (uintptr_t)block->at / PAGE * PAGE;
    if (block->size) mprotect((void *)start, (uintptr_t)block->at + block->size - start, PROT_NONE);
}

/* ---- Start and end ---- */

/* The end of `main`, or `exit`: the others might as well have done before what they do in the schedule after it. */
static void leave_process(void) {
    if (!following && draw(2)) report("ended", 0);
    end_thread();
    for (;;) pause();
}

/* The line of the instruction, or of the access for which this runtime or the library touched memory. */
static void died(int signal, siginfo_t *unused, void *context) {
    (void)unused;
    uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    int own = line_count && lines[0].at <= at && at < lines[line_count - 1].at;
    int line = own ? line_of((void *)(at + 1)) : threads[me].line;
    switch (signal) {
    case SIGFPE: report("division", line); break;
    case SIGALRM: report("timeout", 0); break;
    default: report("memory", line);
    }
}

static void read_schedule(FILE *file) {
    char kind;
    while (fscanf(file, " %c", &kind) == 1) {
        long long a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
        if (fscanf(file, "%lld %lld %lld %lld %lld %lld", &a, &b, &c, &d, &e, &f) != 6) break;
        switch (kind) {
        case 'L': *ADD(lines, line_count) = (Line){ a, (int)b }; break;
        case 'S': *ADD(symbols, symbol_count) = (Symbol){ a, a + b, (int)c }; break;
        case 'A': *ADD(sections, section_count) = a; break;
        case 'X': *ADD(errors, error_count) = a; break;
        case 'E': {
            if (!turn_count || turns[turn_count - 1] != a) *ADD(turns, turn_count) = (int)a;
            *ADD(events, event_count) = (Event){ (int)a, (int)b, (int)c, (int)d, (int)e, (int)f, turn_count - 1 };
            while (place_count <= f) *ADD(places, place_count) = 0;
            break;
        }
        case 'T': if (!turn_count || turns[turn_count - 1] != a) *ADD(turns, turn_count) = (int)a; break;
        case 'V': *ADD(values, value_count) = (Value){ (int)a, b, c, 0 }; break;
        case 'K': start_as((int)a, b ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ERRORCHECK, (int)c, (int)d); break;
        case 'N': *ADD(choices, choice_count) = (Choice){ (int)a, (int)b, (int)c, d, (int)e, 0 }; break;
        case 'O': {
            fences = (int)a;
            seed = 2 * b + 1;
            one_in = (int)c;
            search_from = (int)d;
            alarm((unsigned)e);
            expects_deadlock = (f & 3) == 1;
            expects_race = (f & 3) == 2;
            in_place = (int)(f >> 2);
            break;
        }
        }
    }
}

__attribute__((constructor(101))) static void begin(void) {
    const char *path = getenv("ALLWAYS_SCHEDULE");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) _exit(3);
    static char stack[1 << 16];
    stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
    sigaltstack(&other, NULL);
    struct sigaction action = { .sa_sigaction = died, .sa_flags = SA_ONSTACK | SA_SIGINFO };
    int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM };
    telling = getenv("ALLWAYS_TELL") != NULL;
    /* All memory from behind the program's own, where addresses are small. */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_MAX, 0);
    pthread_key_create(&ending, at_end);
    end_later();
    read_schedule(file);
    fclose(file);
    for (int step = 0; step < 8; step++) draw(2);
    threads[0].turn = -1;
    for (int at = 0; at < event_count && thread_count < MOST_THREADS; at++)
        if (events[at].kind == CREATE) threads[thread_count++].state = ENDED;
    if (fences) note_stack();
    atexit(leave_process);
    /* What goes wrong before this is no error of the program. */
    for (size_t at = 0; at < sizeof signals / sizeof *signals; at++) sigaction(signals[at], &action, NULL);
    turn = -1;
    if (next_in_schedule() < 0) leave_schedule();
}
