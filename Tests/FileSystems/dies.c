// Ends the process just after a file ending in .bin has got its name in files/, before any record has it. For LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REAL(name, ...) ((int (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

static int ends(int result, const char *to) {
    const char *suffix = strrchr(to, '.');
    if (!result && suffix && !strcmp(suffix, ".bin")) kill(getpid(), SIGKILL);
    return result;
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
    return ends(REAL(linkat, int, const char *, int, const char *, int)(a, from, b, to, flags), to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    return ends(REAL(renameat2, int, const char *, int, const char *, unsigned)(a, from, b, to, flags), to);
}

int renameat(int a, const char *from, int b, const char *to) {
    return ends(REAL(renameat, int, const char *, int, const char *)(a, from, b, to), to);
}
