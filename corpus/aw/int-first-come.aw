// Numbers are given out by fetch-and-add, and whoever has number 0 leads: there is one leader at most
//! verdict: safe
//! solver: needed

shared int next;

thread p[*] {
  int mine;
  mine, next = next, next + 1;
  if (mine == 0) {
    lead: skip;
    goto lead;
  }
}

never at(lead) >= 2;
