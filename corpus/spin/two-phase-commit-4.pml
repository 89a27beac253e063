/* Two-phase commit with 4 participants that may crash and recover, and a coordinator */
#define N 4
byte vote[N], state[N], decision;
#define SOME(s) (state[0] == s || state[1] == s || state[2] == s || state[3] == s)

active [N] proctype participant() {
  if
  :: true ->
     vote[_pid] = 2;
     atomic { state[_pid] = 2; assert(!(SOME(1) && SOME(2))) }
  :: true ->
     vote[_pid] = 1;
     do
     :: decision == 0 -> skip
     :: else -> break
     od;
     atomic { state[_pid] = decision; assert(!(SOME(1) && SOME(2))) }
  fi;
  assert(state[_pid] != 1 || decision == 1)
}

active proctype coordinator() {
  byte k;
  bool all = true;
  do
  :: k < N ->
     if
     :: true -> all = false
     :: true ->
        vote[k] != 0;
        if
        :: vote[k] == 2 -> all = false
        :: else
        fi
     fi;
     k++
  :: else -> break
  od;
  if
  :: all -> decision = 1
  :: else -> decision = 2
  fi
}
