typedef unsigned long pthread_t;
extern int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
extern int pthread_join(pthread_t, void **);
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
int counter, rounds;

static void step(void) {
  ENTER;
  counter++;
  LEAVE;
}

void *worker(void *unused) {
  for (int i = 0; i < 2; i++) step();
  if (__VERIFIER_nondet_int() > 0) rounds = 1;
  return 0;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, worker, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  if (counter != 4 || rounds > 1) reach_error();
  return 0;
}
