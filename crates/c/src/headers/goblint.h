void __goblint_check(_Bool);
void __goblint_assume(_Bool);
void __goblint_assert(_Bool);
void __goblint_globalize(void *);
void __goblint_split_begin(int);
void __goblint_split_end(int);
void __goblint_bounded(unsigned long long);
void __goblint_assume_join();
