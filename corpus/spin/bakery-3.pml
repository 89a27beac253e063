/* Lamport's bakery for 3 threads, with tickets up to 4 and waiting where they run out */
#define N 3
#define MOST 4
bool choosing[N];
byte number[N];
byte inside;

active [N] proctype p() {
  byte k, most;
  do
  :: choosing[_pid] = true;
     most = 0;
     k = 0;
     do
     :: k < N ->
        if
        :: number[k] > most -> most = number[k]
        :: else
        fi;
        k++
     :: else -> break
     od;
     most < MOST;
     number[_pid] = most + 1;
     choosing[_pid] = false;
     k = 0;
     do
     :: k < N ->
        !choosing[k];
        (k == _pid || number[k] == 0 || number[k] > number[_pid] || (number[k] == number[_pid] && k > _pid));
        k++
     :: else -> break
     od;
     atomic { inside++; assert(inside == 1) };
     atomic { inside--; number[_pid] = 0 }
  od
}
