// Numbers are read in one step and counted up in the next: two threads may have number 0
//! verdict: unsafe
//! violation: never
//! switches: 2

shared int next;

thread p[*] {
  int mine;
  mine = next;
  next = next + 1;
  if (mine == 0) {
    lead: skip;
    goto lead;
  }
}

never at(lead) >= 2;
