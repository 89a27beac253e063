/* The queued spin lock of Linux for 3 threads: a locked bit, a pending bit, and a queue of nodes */
#define N 3
#define ME (_pid + 1)
bool locked, pending;
byte tail;
bool granted[N + 1];
byte next[N + 1];
byte inside;

active [N] proctype p() {
  bool free, mine;
  byte before, after;
  do
  :: d_step { free = (!locked && !pending && tail == 0); locked = (locked || (!pending && tail == 0)) };
     if
     :: !free ->
        d_step { mine = (!pending && tail == 0); pending = (pending || tail == 0) };
        if
        :: mine ->
           !locked;
           d_step { locked = true; pending = false }
        :: else ->
           granted[ME] = false;
           next[ME] = 0;
           d_step { before = tail; tail = ME };
           if
           :: before != 0 ->
              next[before] = ME;
              granted[ME]
           :: else
           fi;
           (!locked && !pending);
           d_step { mine = (tail == ME); locked = true; tail = (tail == ME -> 0 : tail) };
           if
           :: !mine ->
              next[ME] != 0;
              after = next[ME];
              granted[after] = true
           :: else
           fi
        fi
     :: else
     fi;
     atomic { inside++; assert(inside == 1) };
     atomic { inside--; locked = false }
  od
}
