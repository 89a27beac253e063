// The store-buffer test: under interleaving at least one thread sees the other's write
//! verdict: safe

shared bool x, y;
shared bool saw_x, saw_y;
shared 0..2 finished;

thread one {
  x = true;
  saw_y = y;
  finished = finished + 1;
}

thread two {
  y = true;
  saw_x = x;
  finished = finished + 1;
}

never finished == 2 && !saw_x && !saw_y;
