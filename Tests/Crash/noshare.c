// Makes a file system look like a share: no hard links, no renaming that replaces nothing, no flush of directories, and no
// reserved room. For LD_PRELOAD. With PAWL_SHARE_DIES, the process ends just before the next file is renamed into files/.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int link(const char *from, const char *to) { errno = EOPNOTSUPP; return -1; }

int linkat(int a, const char *from, int b, const char *to, int flags) { errno = EOPNOTSUPP; return -1; }

int renameat2(int a, const char *from, int b, const char *to, unsigned flags) { errno = EINVAL; return -1; }

int fallocate(int file, int mode, off_t offset, off_t length) { errno = EOPNOTSUPP; return -1; }

int fallocate64(int file, int mode, off64_t offset, off64_t length) { errno = EOPNOTSUPP; return -1; }

int renameat(int a, const char *from, int b, const char *to) {
    static int (*real)(int, const char *, int, const char *);
    if (!real) real = (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
    const char *suffix = strrchr(to, '.');
    if (getenv("PAWL_SHARE_DIES") && a != b && suffix && !strcmp(suffix, ".bin")) kill(getpid(), SIGKILL);
    return real(a, from, b, to);
}

int fsync(int file) {
    static int (*real)(int);
    struct stat status;
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    if (!fstat(file, &status) && S_ISDIR(status.st_mode)) { errno = EINVAL; return -1; }
    return real(file);
}
