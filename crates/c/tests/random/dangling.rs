//! Programs with pointers to memory that was freed and to variables of functions that have returned: whether they access it
//! is what the address sanitizer says.

use super::dice::Dice;
use super::native;
use std::fmt::Write as _;
use std::process::Command;

const POINTERS: usize = 4;

/// Whether the compiler has an address sanitizer that works; says so if not.
pub fn sanitizer() -> bool {
    let folder = std::env::temp_dir().join(format!("allways-c-sanitizer-{}", std::process::id()));
    let (source, binary) = (folder.with_extension("c"), folder.with_extension("out"));
    let text = "int main(void) { return 0; }";
    let built = std::fs::write(&source, text).is_ok()
        && Command::new("cc")
            .args(["-fsanitize=address", "-o"])
            .args([&binary, &source])
            .output()
            .is_ok_and(|output| output.status.success())
        && Command::new(&binary).output().is_ok_and(|output| output.status.success());
    let _ = (std::fs::remove_file(source), std::fs::remove_file(binary));
    if !built {
        println!("SKIPPED: there is no address sanitizer, so nothing is compared");
    }
    built
}

/// A random program; `@` stands for what makes its names its own.
pub fn program(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0xdead);
    let mut functions = String::new();
    let mut body = String::new();
    let mut kept = 0;
    for _ in 0..dice.roll(10) + 5 {
        let (to, from) = (dice.roll(POINTERS), dice.roll(POINTERS));
        let number = dice.roll(9) + 1;
        let line = match dice.roll(16) {
            0 | 1 => format!("p{to} = malloc(sizeof(int)); *p{to} = {number};"),
            2 => format!("p{to} = malloc(3 * sizeof(int)); p{to}[0] = p{to}[1] = p{to}[2] = {number};"),
            3 => format!("if (p{to}) *p{to} = {number};"),
            4 => format!("if (p{from}) result@ += *p{from};"),
            5 => format!("if (p{from}) add@(p{from});"),
            6 => format!("free(p{from}); p{from} = 0;"),
            7 => format!("free(p{from});"),
            8 => format!("drop@(p{from}); g@ = 0;"),
            9 => format!("p{to} = p{from};"),
            10 => format!("g@ = p{from};"),
            11 => format!("p{to} = g@;"),
            12 => "push@();".to_string(),
            13 => "pop@();".to_string(),
            14 => "if (list@) result@ += list@->value;".to_string(),
            _ => {
                kept += 1;
                // Each function once: where it is called again, its variables lie where they lay.
                let _ = writeln!(
                    functions,
                    "static int *kept{kept}@(int value) {{ int own = value; int *at = &own; {}return at; }}",
                    if dice.once_in(2) { "result@ += *at; " } else { "" }
                );
                if dice.once_in(2) {
                    format!("p{to} = kept{kept}@({number});")
                } else {
                    format!("kept{kept}@({number});")
                }
            }
        };
        let _ = writeln!(body, "  {line}");
    }
    let careless = dice.once_in(3);
    let pop = if careless {
        "free(list@); list@ = list@->next;"
    } else {
        "struct node@ *first = list@; list@ = first->next; free(first);"
    };
    let pointers: Vec<String> = (0..POINTERS).map(|number| format!("*p{number} = 0")).collect();
    format!(
        "void *malloc(unsigned long); void free(void *);
struct node@ {{ int value; struct node@ *next; }};
unsigned result@; int *g@; struct node@ *list@;
static void add@(int *p) {{ result@ += *p; }}
static void drop@(int *p) {{ if (p == g@) free(p); }}
static void push@(void) {{ struct node@ *new = malloc(sizeof *new); new->value = 3; new->next = list@; list@ = new; }}
static void pop@(void) {{ if (list@) {{ {pop} }} }}
{functions}int main@(void) {{
  int {};
  result@ = 0;
{body}  return 0;
}}
",
        pointers.join(", ")
    )
}

/// Whether each program accesses or frees what is not there.
pub fn go_wrong(programs: &[String]) -> Vec<bool> {
    let mut text = "#include <sys/wait.h>\n#include <unistd.h>\n#include <stdio.h>\n\
        const char *__asan_default_options(void) { return \"detect_stack_use_after_return=1:detect_leaks=0\"; }\n"
        .to_string();
    let mut cases = String::new();
    for (number, program) in programs.iter().enumerate() {
        let own = format!("_{number}");
        text.push_str(&program.replace('@', &own));
        let _ = writeln!(cases, "    case {number}: main{own}(); break;");
    }
    let _ = write!(
        text,
        "int main(void) {{
  for (int number = 0; number < {}; number++) {{
    pid_t child = fork();
    if (!child) {{
    switch (number) {{
{cases}    }}
    _exit(0);
    }}
    int status = 0; waitpid(child, &status, 0);
    printf(\"%d\\n\", status != 0); fflush(stdout);
  }}
  return 0;
}}
",
        programs.len()
    );
    let lines = native::output(&text, "cc", &["-fsanitize=address", "-g0"], &[]);
    lines.iter().map(|line| line != "0").collect()
}
