//! The formatter: nothing is lost, nothing changes twice.

use super::examples::ALL;
use super::*;
use insta::assert_snapshot;

/// The texts of the tokens, and of the comments.
fn words(text: &str) -> (Vec<String>, Vec<String>) {
    let lexed = lexer::lex(text.as_bytes());
    let word = |span: allways_model::program::Span| {
        text[span.start as usize..span.end as usize].trim_end().to_string()
    };
    (
        lexed.tokens.iter().map(|token| word(token.span)).collect(),
        lexed.comments.iter().map(|&span| word(span)).collect(),
    )
}

/// Formats a text, and checks what must hold of every result.
#[track_caller]
pub(super) fn formatted(text: &str) -> String {
    let once = format(text.as_bytes())
        .unwrap_or_else(|diagnostics| panic!("{}", remarks(text.as_bytes(), &diagnostics)));
    assert_eq!(words(text), words(&once), "something was lost of {text}");
    let twice = format(once.as_bytes()).expect("what was formatted has no errors");
    assert_eq!(once, twice, "formatting is not done after once, of {text}");
    once
}

#[test]
fn the_examples_are_well_formatted() {
    for text in ALL {
        // But for a blank that is there to align two lines.
        assert_eq!(formatted(text), text.replace("check()     {", "check() {"));
    }
}

#[test]
fn everything_has_its_place() {
    let text = "

const N=3 ,M = N*-1;shared  N-1 .. N+2 a [N]=* ,b ;
lock m[2];  event e,f ;
proc f ( int x,bool b ) :0..1
{
return  x ; }


thread t [ N ]
{
  int y=- 1 ; y , b = ( y+1 )*2 , a [ self ] ;
  l1 : l2: if(*){skip;}else if ( !b&&- y<3 ){ }
  else
  {
    y = f ( 1 , true ) ;

  }
  loop{choose{goto l1,l2;}or{ break ; }or{continue;}}
  choose { acquire( m[0] ); release (m [1]); }
  or { wait e; }
  atomic { assert(y==1); await ! (b); assume y>0?true:false ; }
  while(b){

  }
  { return ; }
}
never bad :at( l1 )>1 ;
never at(t . l2)!=0;predicate other . y>y;
";
    assert_snapshot!(formatted(text), @"
    const N = 3, M = N * -1;
    shared N - 1..N + 2 a[N] = *, b;
    lock m[2];
    event e, f;
    proc f(int x, bool b) : 0..1 {
      return x;
    }

    thread t[N] {
      int y = -1;
      y, b = (y + 1) * 2, a[self];
      l1: l2: if (*) {
        skip;
      } else if (!b && -y < 3) {
      } else {
        y = f(1, true);
      }
      loop { choose { goto l1, l2; } or { break; } or { continue; } }
      choose { acquire(m[0]); release(m[1]); }
      or { wait e; }
      atomic { assert (y == 1); await !(b); assume y > 0 ? true : false; }
      while (b) {}
      { return; }
    }
    never bad: at(l1) > 1;
    never at(t.l2) != 0;
    predicate other.y > y;
    ");
}

#[test]
fn comments_stay() {
    let text = "// first
/* second */ shared int x; // third


// fourth
   // fifth

thread t { // sixth
  // seventh

  x = 1;     // eighth
  x = x + 1; /* ninth */ // tenth
  if (x // eleventh
    == 1 /* twelfth */ ) // thirteenth
  {
    // fourteenth
  } // fifteenth
  // sixteenth
  else // seventeenth
  {
    x = /* eighteenth
    */ 2;
    /* nineteenth */
  }
  choose { /* twentieth */ skip; /* more */ } or { skip; }
  x = 3 // the
  // semicolon
  ;
  // last
}
// end";
    assert_snapshot!(formatted(text), @"
    // first
    /* second */
    shared int x;              // third

    // fourth
    // fifth

    thread t {  // sixth
      // seventh

      x = 1;                     // eighth
      x = x + 1;                 /* ninth */ // tenth
      if (x                      // eleventh
          == 1 /* twelfth */) {  // thirteenth
        // fourteenth
      }  // fifteenth
      // sixteenth
      else {  // seventeenth
        x = /* eighteenth
        */ 2;
        /* nineteenth */
      }
      choose { /* twentieth */ skip; /* more */ } or { skip; }
      x = 3  // the
          // semicolon
          ;
      // last
    }
    // end
    ");
}

#[test]
fn long_lines_keep_their_breaks() {
    let long = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let text = format!(
        "thread t {{ {long} = {long} + {long}; {long} = 1; }}
thread u {{
  {long} = {long} + {long}
      + {long};
  short
    =
    1
    ;
  if ({long} == {long} ||
     {long} == {long}) {{ skip; }}
  choose {{ {long} = 1; }} or {{ {long} = 2; }} or {{ {long} = 3; }}
}}"
    );
    assert_snapshot!(formatted(&text), @"
    thread t {
      aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa + aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
      aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1;
    }
    thread u {
      aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa + aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
          + aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
      short = 1;
      if (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa == aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ||
          aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa == aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) {
        skip;
      }
      choose { aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 1; }
      or { aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 2; }
      or { aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = 3; }
    }
    ");
}

#[test]
fn errors_are_refused() {
    let refused = |text: &[u8]| remarks(text, &format(text).expect_err("has errors"));
    assert_snapshot!(refused(b"thread t { x = ; }"), @"1:16: expected an expression, found `;`");
    assert_snapshot!(refused(b"// \xff"), @"1:4: expected a text in UTF-8, found another byte");
    assert_eq!(format(b"thread t { unknown = nonsense; }").unwrap(), "thread t { unknown = nonsense; }\n");
    assert_eq!(format(b"").unwrap(), "");
}
