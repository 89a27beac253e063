// The sleeping barber: two chairs, three customers; the barber sleeps only if nobody sits, and nobody is forgotten
//! verdict: safe
//! property: deadlock

shared 0..2 waiting;
shared bool asleep, ready, cut;

thread barber {
  loop {
    choose {
      atomic { await waiting > 0; waiting = waiting - 1; ready = true; }
    } or {
      atomic { await waiting == 0; asleep = true; }
      await !asleep;
      atomic { await waiting > 0; waiting = waiting - 1; ready = true; }
    }
    await !ready;
    chair: cut = true;
    await !cut;
  }
}

thread customer[3] {
  bool stays;
  loop {
    atomic {
      stays = waiting < 2;
      if (stays) {
        waiting = waiting + 1;
        asleep = false;
      }
    }
    if (stays) {
      atomic { await ready; ready = false; }
      atomic { await cut; cut = false; }
    }
  }
}

never asleep && waiting > 0;
never cut && at(chair) >= 1;
