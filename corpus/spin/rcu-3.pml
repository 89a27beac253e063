/* Read, copy, update with two epochs: 3 readers, and a writer that frees a version once all readers of its epoch have left */
#define N 3
bit epoch;
byte inside[2];
byte current;
bool freed[3];

active [N] proctype reader() {
  bit e;
  byte mine;
  do
  :: e = epoch;
     inside[e] = inside[e] + 1;
     mine = current;
     assert(!freed[mine]);
     assert(!freed[mine]);
     inside[e] = inside[e] - 1
  od
}

active proctype writer() {
  byte old, fresh;
  bit e;
  do
  :: old = current;
     fresh = (old + 1) % 3;
     freed[fresh] = false;
     current = fresh;
     e = epoch;
     epoch = 1 - e;
     inside[e] == 0;
     e = epoch;
     epoch = 1 - e;
     inside[e] == 0;
     freed[old] = true
  od
}
