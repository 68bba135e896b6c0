// A mark in a file when the process crashes.
#ifndef PAWL_CRASH_H
#define PAWL_CRASH_H

#include <stdint.h>

// Makes a signal that ends a faulty program (SIGSEGV, SIGABRT and the like, not SIGKILL) write `!` at the offset of the
// file. The signal then has its previous effect. A negative descriptor removes the mark.
void pawl_mark_crash(int descriptor, int64_t offset);

#endif
