#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
void __VERIFIER_assume(_Bool);
int __VERIFIER_nondet_int(void);
void __VERIFIER_loop_begin(void);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(_Bool);
#define __VERIFIER_local_write(step) do { step; } while (0)
#define __VERIFIER_final_write(step) do { step; } while (0)
#define __VERIFIER_helped_CAS(step) do { step; } while (0)
#define __VERIFIER_helping_CAS(step) do { step; } while (0)
#define __VERIFIER_speculative_read(value) (value)
#define __VERIFIER_confirming_read(value) (value)
#define __VERIFIER_confirming_CAS(value) (value)
#define __VERIFIER_final_CAS(value) (value)
#define __VERIFIER_optional(step) do { } while (0)
