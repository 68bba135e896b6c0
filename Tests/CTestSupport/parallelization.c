#include <stdlib.h>

// Limits how many tests run at once, before Swift Testing reads the limit. Without one, all of them start at once on
// as many threads as the machine has processors. Each then waits for all others, and time limits of the services
// under test end healthy work. A value from outside wins.
__attribute__((constructor)) static void limit_parallel_tests(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "16", 0);
}
