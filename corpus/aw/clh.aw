// The queue lock of Craig, Landin and Hagersten: each thread waits at the node of the one before it, and takes that node
//! run: --threads p=2 --deadlock => safe
//! run: --threads p=3 --deadlock => safe

shared bool busy[4];
shared 0..3 tail = 3;

thread p[3] {
  0..3 mine, pred;
  mine = self;
  loop {
    busy[mine] = true;
    pred, tail = tail, mine;
    await !busy[pred];
    crit: skip;
    busy[mine] = false;
    mine = pred;
  }
}

never at(crit) >= 2;
