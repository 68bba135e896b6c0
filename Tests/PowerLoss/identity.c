/* Lets the files of a state have the inode numbers of those that they stand for, as the service may have recorded them: POWER_INODES is
   "here=there,...". Loaded before the C library. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct { unsigned long long here, there; } pairs[512];
static int count;

__attribute__((constructor)) static void read_pairs(void) {
    char *text = getenv("POWER_INODES");
    while (text && *text && count < 512) {
        pairs[count].here = strtoull(text, &text, 10);
        pairs[count++].there = strtoull(text + 1, &text, 10);
        if (*text) text++;
    }
}

static unsigned long long there(unsigned long long here) {
    for (int i = 0; i < count; i++)
        if (pairs[i].here == here) return pairs[i].there;
    return here;
}

int fstatat(int directory, const char *path, struct stat *status, int flags) {
    int result = syscall(SYS_newfstatat, directory, path, status, flags);
    if (result == 0) status->st_ino = there(status->st_ino);
    return result;
}

int statx(int directory, const char *path, int flags, unsigned mask, struct statx *status) {
    int result = syscall(SYS_statx, directory, path, flags, mask, status);
    if (result == 0) status->stx_ino = there(status->stx_ino);
    return result;
}

int stat(const char *path, struct stat *status) { return fstatat(AT_FDCWD, path, status, 0); }
int lstat(const char *path, struct stat *status) { return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW); }
int fstat(int file, struct stat *status) { return fstatat(file, "", status, AT_EMPTY_PATH); }
int fstatat64(int directory, const char *path, struct stat64 *status, int flags) {
    return fstatat(directory, path, (struct stat *)status, flags);
}
int stat64(const char *path, struct stat64 *status) { return stat(path, (struct stat *)status); }
int lstat64(const char *path, struct stat64 *status) { return lstat(path, (struct stat *)status); }
int fstat64(int file, struct stat64 *status) { return fstat(file, (struct stat *)status); }
