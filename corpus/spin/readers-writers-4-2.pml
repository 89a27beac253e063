/* Readers and writers with a count of readers under a lock, 4 readers and 2 writers */
#define READERS 4
bool mutex, room;
byte reading, in_read, in_write;

active [READERS] proctype reader() {
  do
  :: atomic { !mutex; mutex = true };
     reading++;
     if
     :: reading == 1 -> atomic { !room; room = true }
     :: else
     fi;
     atomic { mutex = false; in_read++; assert(in_write == 0) };
     in_read--;
     atomic { !mutex; mutex = true };
     reading--;
     if
     :: reading == 0 -> room = false
     :: else
     fi;
     mutex = false
  od
}

active [2] proctype writer() {
  do
  :: atomic { !room; room = true; in_write++; assert(in_write == 1 && in_read == 0) };
     in_write--;
     room = false
  od
}
