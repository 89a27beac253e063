/* Szymanski's lock for 3 threads; each flag is tested in a step of its own */
#define N 3
byte flag[N];
byte inside;

active [N] proctype p() {
  byte k;
  bool seen;
  do
  :: flag[_pid] = 1;
     k = 0;
     do
     :: k < N -> flag[k] < 3; k++
     :: else -> break
     od;
     flag[_pid] = 3;
     seen = false;
     k = 0;
     do
     :: k < N ->
        if
        :: flag[k] == 1 -> seen = true
        :: else
        fi;
        k++
     :: else -> break
     od;
     if
     :: seen ->
        flag[_pid] = 2;
        seen = false;
        k = 0;
        do
        :: !seen ->
           if
           :: flag[k] == 4 -> seen = true
           :: else
           fi;
           k = (k + 1) % N
        :: else -> break
        od
     :: else
     fi;
     flag[_pid] = 4;
     k = 0;
     do
     :: k < _pid -> flag[k] < 2; k++
     :: else -> break
     od;
     atomic { inside++; assert(inside == 1) };
     atomic { inside--; k = _pid + 1 };
     do
     :: k < N -> (flag[k] < 2 || flag[k] == 4); k++
     :: else -> break
     od;
     flag[_pid] = 0
  od
}
