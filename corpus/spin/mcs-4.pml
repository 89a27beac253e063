/* The queue lock of Mellor-Crummey and Scott for 4 threads */
#define N 4
#define ME (_pid + 1)
byte tail, next[N + 1];
bool held[N + 1];
byte inside;

active [N] proctype p() {
  byte before, after;
  bool alone;
  do
  :: next[ME] = 0;
     held[ME] = true;
     d_step { before = tail; tail = ME };
     if
     :: before != 0 ->
        next[before] = ME;
        !held[ME]
     :: else
     fi;
     atomic { inside++; assert(inside == 1) };
     inside--;
     if
     :: next[ME] == 0 ->
        d_step { alone = (tail == ME); tail = (tail == ME -> 0 : tail) };
        if
        :: alone -> goto again
        :: else
        fi;
        next[ME] != 0
     :: else
     fi;
     after = next[ME];
     held[after] = false;
again: skip
  od
}
