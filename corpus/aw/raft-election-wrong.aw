// Raft's election where a server that hears of a later term votes, and forgets that it has
//! verdict: unsafe
//! violation: never

const N = 3, TERMS = 2;
enum Role { follower, candidate, leader }
struct Server {
  Role role;
  0..TERMS term;
  bool voted;
}
shared Server servers[N];
shared bool votes[N][N];

thread server[N] {
  0..N - 1 peer;
  loop {
    choose {
      atomic {
        await servers[self].role != leader && servers[self].term < TERMS;
        fetch_add(servers[self].term, 1);
        servers[self].role, servers[self].voted = candidate, true;
        for i in 0..N - 1 { votes[self][i] = i == self; }
      }
    } or {
      peer = *;
      atomic {
        await servers[peer].role == candidate && servers[peer].term >= servers[self].term;
        if (servers[peer].term > servers[self].term) {
          servers[self].role, servers[self].voted = follower, false;
          servers[self].term = servers[peer].term;
        }
        if (!servers[self].voted) { votes[peer][self] = true; }
      }
    } or {
      atomic {
        await servers[self].role == candidate && 2 * (count i in 0..N - 1: votes[self][i]) > N;
        servers[self].role = leader;
      }
    }
  }
}

never two: exists t in 1..TERMS: (count i in 0..N - 1: servers[i].role == leader && servers[i].term == t) >= 2;
