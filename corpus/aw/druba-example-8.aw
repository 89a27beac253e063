// DrUBA, Example 8: three threads move a shared state; round robin reaches 2 only after two delays
//! verdict: unsafe
//! violation: never
//! switches: 0

shared 0..2 g;

thread t0 { loop { atomic { await g == 0; g = 1; } } }
thread t1 { loop { atomic { await g == 0; g = 1; } } }
thread t2 { loop { atomic { await g == 0; g = 2; } } }

never g == 2;
