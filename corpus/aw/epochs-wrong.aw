// Memory that is reclaimed after one epoch: a reader that came in before it began may still hold what is freed
//! verdict: unsafe
//! violation: never

const READERS = 2, ROUNDS = 3;
struct Reader {
  bool inside;
  0..ROUNDS epoch;
}
enum State { linked, unlinked, freed }
shared Reader readers[READERS];
shared 0..ROUNDS epoch;
shared State node;

proc advance() {
  atomic {
    await forall i in 0..READERS - 1: !readers[i].inside || readers[i].epoch == epoch;
    fetch_add(epoch, 1);
  }
}

thread reader[READERS] {
  bool holds;
  loop {
    atomic { readers[self].inside, readers[self].epoch = true, epoch; }
    holds = node == linked;
    holds = false;
    readers[self].inside = false;
  }
}

thread writer {
  node = unlinked;
  advance();
  node = freed;
}

never node == freed && exists r in reader: r.holds;
