// Two crawlers walk one directory graph recursively; each directory is read once, and none is forgotten
//! verdict: safe

// The links of directory d lead to d + 1 and 2d + 1, modulo 4, so there are cycles. The owner opens and closes the crawl.
const DIRS = 4;
shared bool open, claimed[4], indexed[4];
shared 0..2 finished;

proc crawl(0..3 dir) {
  bool mine;
  mine, claimed[dir] = !claimed[dir], true;
  if (mine) {
    assert !indexed[dir];
    indexed[dir] = true;
    crawl((dir + 1) % DIRS);
    crawl((2 * dir + 1) % DIRS);
  }
}

thread owner {
  open = true;
  await finished == 2;
  assert indexed[0] && indexed[1] && indexed[2] && indexed[3];
}

thread crawler[2] {
  await open;
  crawl(self);
  finished = finished + 1;
}
