// Leaves a mark in a file when the process crashes.
#ifndef PAWL_CRASH_H
#define PAWL_CRASH_H

#include <stdint.h>

// From now on a signal that ends a faulty program (SIGSEGV, SIGABRT and the like, not SIGKILL) has `!` written at the offset of the file
// first; then it does what it did before. A negative descriptor: nothing is written any more.
void pawl_mark_crash(int descriptor, int64_t offset);

#endif
