//! Advice for people who come from other languages.

/// For a word in the place of a statement.
pub(super) fn statement(word: &str) -> Option<&'static str> {
    Some(match word {
        "for" | "foreach" => {
            "a loop over a range, both ends included, is written `for i in 0..3 { … }`; others are `while` or `loop`"
        }
        "do" | "until" | "repeat" => "there is no `do`; use `loop` with `if (…) { break; }`",
        "switch" | "match" | "case" => "there is no `switch`; use `if`, `else if` and `else`",
        "elif" | "elsif" | "elseif" => "write `else if`",
        "let" | "var" | "auto" | "mut" | "local" => "a local variable is declared by its type: `int x = 0;`",
        "mutex" => "a mutex is declared outside all threads by `lock m;`",
        "when" => "to block until a condition holds, write `await e;`",
        "nop" | "pass" => "a step that does nothing is written `skip;`",
        "abort" | "fail" | "panic" => "a place that must not be reached is marked by `error;`",
        "try" | "throw" | "catch" => "there are no exceptions",
        _ => return None,
    })
}

/// For a word in the place of a declaration.
pub(super) fn item(word: &str) -> Option<&'static str> {
    Some(match word {
        "mutex" | "semaphore" => "a mutex is declared by `lock m;`",
        "let" | "var" | "global" | "static" | "volatile" | "atomic_int" | "unsigned" | "long" | "boolean"
        | "_Bool" => "a variable that all threads share is declared by `shared int x;`",
        "fn" | "func" | "function" | "def" | "procedure" | "void" | "sub" => {
            "a procedure is declared by `proc f(int x) : int { … }`"
        }
        "process" | "proctype" | "active" => "a thread is declared by `thread name { … }`",
        "invariant" | "always" | "property" => "what must not become true is stated by `never …;`",
        "cond" | "condition" => "what threads can wait for is declared by `event e;`",
        "init" => "initial values are given by `shared int x = 0;`; code runs in a `thread`",
        "typedef" | "type" | "class" | "union" => {
            "the types are `bool`, `int`, ranges such as `0..3`, enumerations, structures, and arrays"
        }
        "struct" => "a structure is declared by `struct Node { 0..3 next; bool used; }`",
        "enum" => "an enumeration is declared by `enum Phase { idle, busy }`",
        "include" | "import" | "use" => "a program is one file",
        _ => return None,
    })
}

/// For a word in the place of a type.
pub(super) fn type_name(word: &str) -> Option<&'static str> {
    Some(match word {
        "boolean" | "Boolean" | "Bool" | "_Bool" => "the type of `true` and `false` is `bool`",
        "unsigned" | "long" | "short" | "char" | "byte" | "i32" | "i64" | "u32" | "u64" | "u8" | "usize"
        | "Int" | "integer" | "nat" | "size_t" => "numbers are of type `int`, or of a range such as `0..255`",
        "mutex" | "Mutex" => "a mutex is declared outside all threads by `lock m;`",
        "float" | "double" | "real" => "there are only whole numbers",
        "string" | "String" => "there are no strings",
        _ => return None,
    })
}

/// For two tokens where an operator or the end of an expression was expected.
pub(super) fn operator(first: &str, second: &str) -> Option<&'static str> {
    Some(match (first, second) {
        ("and" | "AND" | "&", _) => "write `&&`",
        ("or" | "OR" | "|", _) => "write `||`",
        ("mod", _) => "write `%`",
        ("div", _) => "write `/`",
        ("xor" | "XOR", _) => "write `!=`",
        ("is", _) => "write `==`",
        ("=", ">") => "write `>=`",
        ("=", "<") => "write `<=`",
        _ => return None,
    })
}

/// For a word before an operand.
pub(super) fn operand(word: &str) -> Option<&'static str> {
    Some(match word {
        "not" | "NOT" => "write `!`",
        _ => return None,
    })
}

/// For a name that nothing has.
pub(super) fn name(word: &str) -> Option<&'static str> {
    Some(match word {
        "True" | "TRUE" => "write `true`",
        "False" | "FALSE" => "write `false`",
        "tid" | "pid" | "_pid" | "id" | "thread_id" | "this" => "the number of a thread is `self`",
        _ => return None,
    })
}

/// For a procedure that nothing has.
pub(super) fn procedure(word: &str) -> Option<&'static str> {
    Some(match word {
        "printf" | "print" | "println" | "puts" | "printk" | "echo" => {
            "there is no output: a trace shows every step"
        }
        "unlock" | "mutex_unlock" | "pthread_mutex_unlock" => "a lock is given back by `release(m);`",
        "mutex_lock" | "pthread_mutex_lock" => "a lock is taken by `acquire(m);`",
        "sleep" | "usleep" | "delay" => "threads are never in a hurry: every schedule is considered",
        "assume_abort_if_not" | "__VERIFIER_assume" => "write `assume e;`",
        "pthread_create" => "a thread is started by `spawn name;`",
        "signal" | "notify" | "notify_one" => "to wake one thread that waits, write `signal e;`",
        "notify_all" | "broadcast" => "to wake all threads that wait, write `broadcast e;`",
        "rand" | "random" | "nondet" | "__VERIFIER_nondet_int" => {
            "any value of a finite type is written `x = *;`"
        }
        _ => return None,
    })
}

/// For bytes that are no token.
pub(super) fn bytes(bytes: &[u8]) -> Option<&'static str> {
    Some(match bytes.first()? {
        b'#' => "comments start with `//`, and constants are declared by `const N = 3;`",
        b'"' | b'\'' => "there are no strings and no characters",
        b'0'..=b'9' => "numbers are written in decimal digits, and names do not start with a digit",
        128.. => "names consist of the letters a to z and A to Z, digits and `_`",
        _ => return None,
    })
}
