// A binary search tree: inserters lock one node at a time, searchers read without locks and miss no finished insertion
//! run: --threads inserter=1,searcher=1 => safe
//! run: --threads inserter=2,searcher=1 => safe
//! run: --threads inserter=2,searcher=2 => safe

// Node 0 is the root and has key 0; a child of 0 means none. Inserter i owns node i + 1 until it is in the tree.
shared bool busy[3];
shared 0..2 key[3], left[3], right[3];
shared bool inserted[3];

proc insert(0..2 node, 1..2 k, 1..2 fresh) {
  0..2 next;
  if (key[node] == k) { return; }
  atomic { await !busy[node]; busy[node] = true; }
  if (k < key[node]) {
    next = left[node];
    if (next == 0) { left[node] = fresh; }
  } else {
    next = right[node];
    if (next == 0) { right[node] = fresh; }
  }
  busy[node] = false;
  if (next != 0) { insert(next, k, fresh); }
}

proc search(0..2 node, 1..2 k) : bool {
  0..2 next;
  bool found;
  if (key[node] == k) { return true; }
  if (k < key[node]) { next = left[node]; } else { next = right[node]; }
  if (next == 0) { return false; }
  found = search(next, k);
  return found;
}

thread inserter[1] {
  1..2 k;
  k = *;
  key[self + 1] = k;
  insert(0, k, self + 1);
  inserted[k] = true;
}

thread searcher[1] {
  1..2 k;
  bool before, found;
  k = 1 + self % 2;
  before = inserted[k];
  found = search(0, k);
  assert found || !before;
}
