// Makes a file system look like a share: no hard links, no renaming that replaces nothing, no flush of directories, and no
// reserved room. For LD_PRELOAD. With PAWL_SHARE_DIES, the process ends just before the next file is renamed into files/; with
// PAWL_SHARE_KEEPS, nothing is renamed over a file of another directory; with PAWL_SHARE_MODES, files get no other modes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
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
    struct stat status;
    if (getenv("PAWL_SHARE_KEEPS") && a != b && !fstatat(b, to, &status, AT_SYMLINK_NOFOLLOW)) { errno = EPERM; return -1; }
    return real(a, from, b, to);
}

int fchmod(int file, mode_t mode) {
    static int (*real)(int, mode_t);
    if (!real) real = (int (*)(int, mode_t))dlsym(RTLD_NEXT, "fchmod");
    // The records are on another file system.
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (getenv("PAWL_SHARE_MODES") && length > 0 && (path[length] = 0, strstr(path, "/incomplete/"))) { errno = EPERM; return -1; }
    return real(file, mode);
}

int fsync(int file) {
    static int (*real)(int);
    struct stat status;
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    if (!fstat(file, &status) && S_ISDIR(status.st_mode)) { errno = EINVAL; return -1; }
    return real(file);
}
