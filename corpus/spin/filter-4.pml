/* Peterson's filter lock for 4 threads, each comparison a step */
#define N 4
byte level[N], last[N];
byte inside;

active [N] proctype p() {
  byte l, k;
  do
  :: l = 1;
     do
     :: l < N ->
        level[_pid] = l;
        last[l] = _pid;
        k = 0;
        do
        :: k < N ->
           (k == _pid || level[k] < l || last[l] != _pid);
           k++
        :: else -> break
        od;
        l++
     :: else -> break
     od;
     atomic { inside++; assert(inside == 1) };
     atomic { inside--; level[_pid] = 0 }
  od
}
