#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "crash.h"

static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
enum { count = sizeof numbers / sizeof numbers[0] };

static struct sigaction before[count];
static atomic_int marked = -1;
static atomic_llong place;
static atomic_flag isInstalled = ATOMIC_FLAG_INIT;

// Makes only calls that are safe in a signal handler (signal-safety(7)).
static void mark(int number, siginfo_t *info, void *context) {
    (void)context;
    int descriptor = atomic_load(&marked);
    if (descriptor >= 0 && pwrite(descriptor, "!", 1, (off_t)atomic_load(&place)) < 0) { /* The error cannot be reported. */
    }
    for (int index = 0; index < count; index++) {
        if (numbers[index] != number) continue;
        sigaction(number, &before[index], NULL);
        // A fault recurs as soon as this returns, and the next handler then sees its address. A signal that was sent
        // has to be raised again.
        if (before[index].sa_handler == SIG_DFL || info->si_code <= 0) raise(number);
    }
}

void pawl_mark_crash(int descriptor, int64_t offset) {
    atomic_store(&place, offset);
    atomic_store(&marked, descriptor);
    if (descriptor < 0 || atomic_flag_test_and_set(&isInstalled)) return;
    for (int index = 0; index < count; index++) {
        struct sigaction action = {.sa_sigaction = mark, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        sigaction(numbers[index], NULL, &before[index]);
        sigaction(numbers[index], &action, NULL);
    }
}
