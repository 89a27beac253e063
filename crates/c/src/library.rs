//! What is known of functions without a body: the C library, threads, the builtins of compilers, and what competitions of
//! verifiers agree on.
//!
//! This file says how addresses flow through them and what their types hold; what calls do is in [`crate::lower`].

/// How addresses flow through a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// They do not.
    None,
    /// The result is the address of new memory.
    Allocates,
    /// A thread starts a function with an argument: which arguments these are.
    StartsThread {
        /// The function.
        start: usize,
        /// Its argument.
        argument: usize,
    },
    /// One argument is stored where another points to.
    Stores {
        /// Where to.
        to: usize,
        /// What.
        value: usize,
    },
    /// What the second argument points to is copied to where the first points.
    Copies,
    /// What all arguments point to is copied between them.
    Exchanges,
    /// The arguments are what a thread returns.
    Returns,
    /// What a thread returned is stored where the second argument points to.
    Joins,
    /// An argument is kept for the thread that calls.
    KeptForThread,
    /// The result is what was kept for the thread that calls.
    TakenByThread,
    /// A function, the second argument, is called with what was kept for a thread.
    CalledByThread,
}

/// How addresses flow through a call of a function.
pub fn flow(name: &str) -> Flow {
    match name {
        "malloc" | "calloc" | "realloc" | "__builtin_malloc" | "kmalloc" | "kzalloc" | "alloca"
        | "__builtin_alloca" | "strdup" | "valloc" | "aligned_alloc" => Flow::Allocates,
        "pthread_create" => Flow::StartsThread { start: 2, argument: 3 },
        "thrd_create" => Flow::StartsThread { start: 1, argument: 2 },
        "pthread_exit" | "thrd_exit" => Flow::Returns,
        "pthread_join" | "thrd_join" => Flow::Joins,
        "pthread_setspecific" | "tss_set" => Flow::KeptForThread,
        "pthread_getspecific" | "tss_get" => Flow::TakenByThread,
        "pthread_key_create" | "tss_create" => Flow::CalledByThread,
        "memcpy" | "memmove" | "__builtin_memcpy" | "__builtin_memmove" => Flow::Copies,
        _ if is_exchange(name) && by_address(name) => Flow::Exchanges,
        _ if is_exchange(name) => Flow::Stores { to: 0, value: if name.contains("compare") { 2 } else { 1 } },
        _ => Flow::None,
    }
}

/// Whether what a function allocates is there until the function that calls it returns.
pub fn is_of_the_function(name: &str) -> bool {
    name.ends_with("alloca")
}

/// Whether a function without a body that returns a pointer gives one to something that is not the program's.
pub fn gives(name: &str) -> bool {
    name.starts_with("__VERIFIER_nondet")
        || flow(name) == Flow::None
            && !(is_specified(name) || is_refused(name) || is_of_threads(name) || returns_first(name))
}

fn is_exchange(name: &str) -> bool {
    name.starts_with("__atomic_store")
        || name.starts_with("__atomic_exchange")
        || name.starts_with("__atomic_compare_exchange")
        || name.starts_with("__sync_lock_test_and_set")
        || name.starts_with("__sync_val_compare_and_swap")
        || name.starts_with("__sync_bool_compare_and_swap")
}

/// Whether a function returns its first argument.
pub fn returns_first(name: &str) -> bool {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    matches!(name, "expect" | "memcpy" | "memmove" | "memset" | "strcpy" | "strncpy" | "strcat")
}

/// Whether an atomic builtin takes and gives values by their addresses.
fn by_address(name: &str) -> bool {
    name.starts_with("__atomic") && !name.ends_with("_n")
}

/// Whether a function may keep the address that is its argument at a position (or needs it as a value).
pub fn keeps(name: &str, position: usize) -> bool {
    match name {
        "pthread_create" => position == 3,
        "thrd_create" => position == 2,
        "pthread_setspecific" | "tss_set" => position == 1,
        "pthread_exit" | "free" | "kfree" | "realloc" => true,
        _ if is_exchange(name) && !by_address(name) => {
            // What is stored is kept; what is expected is only looked at.
            position == if name.contains("compare") { 2 } else { 1 }
        }
        _ => false,
    }
}

/// Whether a function shows which of several threads calls it, or creates something for that thread.
pub fn tells_apart(name: &str) -> bool {
    matches!(flow(name), Flow::Allocates | Flow::StartsThread { .. })
        || matches!(
            name,
            "pthread_self" | "thrd_current" | "__VERIFIER_tid" | "pthread_getspecific" | "tss_get"
        )
}

/// Whether a function belongs to the thread library: what it accesses takes no part in data races.
pub fn is_of_threads(name: &str) -> bool {
    ["pthread_", "sem_", "mtx_", "cnd_", "thrd_", "sched_", "__sync_", "__atomic_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Whether what a function of the thread library does needs an argument once, so that it is evaluated where the call is.
pub fn evaluates_once(name: &str, position: usize) -> bool {
    match name {
        "pthread_create" => matches!(position, 0 | 3),
        "thrd_create" => matches!(position, 0 | 2),
        "pthread_join" | "thrd_join" | "pthread_exit" | "thrd_exit" | "pthread_detach" | "thrd_detach" => {
            position == 0
        }
        "pthread_setspecific" | "tss_set" => position == 1,
        _ => false,
    }
}

/// Whether what a function does is the same whatever an argument is; this is then evaluated for what happens on the way alone.
pub fn ignores(name: &str, position: usize) -> bool {
    match name {
        "pthread_create" | "pthread_rwlock_init" | "pthread_barrier_init" | "sem_init" => position == 1,
        "pthread_mutex_timedlock" | "mtx_timedlock" | "sem_timedwait" => position == 1,
        "pthread_mutex_init" | "pthread_spin_init" => position == 1,
        "pthread_cond_wait" | "pthread_cond_timedwait" | "cnd_wait" | "cnd_timedwait" => position != 1,
        "kmalloc" | "kzalloc" | "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => {
            position == usize::from(name.starts_with('k'))
        }
        "sscanf" | "fscanf" | "__isoc99_sscanf" | "__isoc99_fscanf" | "__isoc23_sscanf"
        | "__isoc23_fscanf" => position < 2,
        "__assert_fail" | "__assert" | "__assert_func" | "__assert_rtn" | "__VERIFIER_error"
        | "reach_error" => true,
        "assert"
        | "__VERIFIER_assert"
        | "__ESBMC_assert"
        | "__CPROVER_assert"
        | "klee_assert"
        | "__goblint_check"
        | "__goblint_assert"
        | "__VERIFIER_assume"
        | "__goblint_assume"
        | "assume_abort_if_not"
        | "__ESBMC_assume"
        | "__CPROVER_assume"
        | "assume"
        | "__builtin_expect" => position > 0,
        _ if name.contains("nondet") || matches!(name, "rand" | "random" | "lrand48") => true,
        _ if name.starts_with("__sync_") || name.starts_with("__atomic_") => position >= operands(name),
        _ => false,
    }
}

/// How many arguments of an atomic builtin matter; memory orders and whatever else follows do not.
fn operands(name: &str) -> usize {
    let by_address = by_address(name);
    let word = name.trim_start_matches("__sync_").trim_start_matches("__atomic_");
    match word.trim_end_matches("_n") {
        "lock_release" | "clear" | "test_and_set" => 1,
        "load" => 1 + usize::from(by_address),
        "exchange" => 2 + usize::from(by_address),
        "thread_fence" | "signal_fence" | "synchronize" => usize::MAX,
        word if word.contains("compare") => 3,
        _ => 2,
    }
}

/// Functions after which control goes on elsewhere, or that let others run: what these do is not known to be nothing.
pub fn is_refused(name: &str) -> bool {
    name.contains("setjmp")
        || name.contains("longjmp")
        || name.contains("pthread_cleanup")
        || name.starts_with("exec")
        || matches!(
            name,
            "fork"
                | "vfork"
                | "signal"
                | "sigaction"
                | "raise"
                | "kill"
                | "alarm"
                | "atexit"
                | "on_exit"
                | "pthread_cancel"
                | "pthread_kill"
                | "pthread_atfork"
                | "clone"
                | "at_quick_exit"
                | "qsort"
                | "qsort_r"
                | "bsearch"
                | "lfind"
                | "lsearch"
                | "tsearch"
                | "tfind"
                | "tdelete"
                | "twalk"
                | "ftw"
                | "nftw"
                | "scandir"
                | "glob"
                | "pause"
                | "sigsuspend"
                | "sigwait"
                | "sigqueue"
                | "setitimer"
                | "timer_create"
                | "makecontext"
                | "setcontext"
                | "swapcontext"
                | "error"
                | "error_at_line"
                | "__goblint_assume_join"
        )
}

/// Functions that print, and return how much.
pub fn prints(name: &str) -> bool {
    name.contains("printf") || matches!(name, "puts" | "putchar" | "fflush" | "fputs" | "putc" | "fputc")
}

/// Functions that have a meaning which is not known here, so that nothing may be assumed of them: those of compilers,
/// verifiers and the thread library, and those of the C library that write memory or whose result is known from their
/// arguments.
pub fn is_specified(name: &str) -> bool {
    const FAMILIES: [&str; 16] = [
        "__builtin_",
        "__atomic_",
        "__sync_",
        "__c11_",
        "__VERIFIER_",
        "__CPROVER_",
        "__ESBMC_",
        "__SMACK_",
        "__goblint_",
        "pthread_",
        "thrd_",
        "mtx_",
        "cnd_",
        "tss_",
        "sem_",
        "str",
    ];
    FAMILIES.iter().any(|family| name.starts_with(family))
        || matches!(
            name,
            "sprintf"
                | "snprintf"
                | "vsprintf"
                | "vsnprintf"
                | "fgets"
                | "gets"
                | "getline"
                | "fread"
                | "read"
                | "recv"
                | "pipe"
                | "wcscpy"
                | "realloc"
                | "reallocarray"
                | "posix_memalign"
                | "bzero"
                | "bcopy"
                | "memccpy"
                | "mempcpy"
                | "memcmp"
                | "bcmp"
                | "memchr"
                | "memrchr"
                | "memmem"
                | "wcslen"
                | "wcscmp"
                | "atoi"
                | "atol"
                | "atoll"
                | "isalnum"
                | "isalpha"
                | "isblank"
                | "iscntrl"
                | "isdigit"
                | "isgraph"
                | "islower"
                | "isprint"
                | "ispunct"
                | "isspace"
                | "isupper"
                | "isxdigit"
                | "toascii"
                | "htonl"
                | "htons"
                | "ntohl"
                | "ntohs"
                | "imaxabs"
                | "rand_r"
        )
}

/// The parts of an object of a type of the thread library.
pub fn opaque(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "pthread_mutex_t" | "mtx_t" | "__pthread_mutex_s" => &[""],
        "pthread_cond_t" | "cnd_t" => &[""],
        "pthread_rwlock_t" => &[""],
        "sem_t" => &[""],
        "pthread_barrier_t" => &[".threads", ".arrived", ".round"],
        "pthread_attr_t"
        | "pthread_mutexattr_t"
        | "pthread_condattr_t"
        | "pthread_rwlockattr_t"
        | "pthread_barrierattr_t" => &[""],
        _ => return None,
    })
}
