// Any number of threads search a tree recursively; a new search forgets what was found while others report it
//! verdict: unsafe
//! violation: never
//! switches: 1

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
  found = false;
  hit = search();
  if (hit) {
    announced = true;
  }
}

never announced && !found;
