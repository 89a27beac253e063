// Any number of threads search a tree recursively; who finds the key says so, and nobody reports a key that is not there
//! verdict: safe

shared bool found, announced;

proc search() : bool {
  bool hit;
  if (found) { return true; }
  if (*) {
    found = true;
    return true;
  }
  if (*) {
    hit = search();
    if (hit) { return true; }
  }
  if (*) { hit = search(); }
  return hit;
}

thread searcher[*] {
  bool hit;
  hit = search();
  if (hit) {
    assert found;
    announced = true;
  }
}

never announced && !found;
