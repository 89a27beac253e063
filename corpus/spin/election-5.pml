/* Leader election on a ring (Chang and Roberts) with 5 nodes, channels of one message, and any order of the identities' steps */
#define N 5
byte channel[N];
byte leaders;

active [N] proctype node() {
  byte id, got;
  id = _pid * 2 % N + 1;
  channel[(_pid + 1) % N] == 0;
  channel[(_pid + 1) % N] = id;
  do
  :: channel[_pid] != 0;
     d_step { got = channel[_pid]; channel[_pid] = 0 };
     if
     :: got == id ->
        leaders++;
        assert(leaders == 1 && id == N);
        break
     :: else
     fi;
     if
     :: got > id ->
        channel[(_pid + 1) % N] == 0;
        channel[(_pid + 1) % N] = got
     :: else
     fi
  od
}
