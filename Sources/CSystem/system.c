// Here and not in the header: it changes what the system's own headers declare, and Swift refuses two forms of one type.
#define _GNU_SOURCE

#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int pawl_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int pawl_rename_exclusive(const char *from, const char *to) {
    return pawl_rename_exclusive_at(AT_FDCWD, from, AT_FDCWD, to);
}

int pawl_rename_exclusive_at(int from_directory, const char *from, int to_directory, const char *to) {
    return renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE);
}

int pawl_syncfs(int descriptor) { return syncfs(descriptor); }

int pawl_await_write_back(int descriptor) { return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE); }

int pawl_preallocate(int descriptor, int64_t offset, int64_t length) {
    return fallocate(descriptor, 0, offset, length);
}

int pawl_reserve_beyond(int descriptor, int64_t offset, int64_t length) {
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, length);
}

int pawl_punch_hole(int descriptor, int64_t offset, int64_t length) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

int pawl_is_cached(int descriptor, int64_t offset) {
    char byte;
    struct iovec place = {.iov_base = &byte, .iov_len = 1};
    return preadv2(descriptor, &place, 1, offset, RWF_NOWAIT) == 1;
}

int pawl_unacknowledged(int descriptor, int *count) { return ioctl(descriptor, SIOCOUTQ, count); }

int pawl_open(const char *path, int flags, unsigned mode) { return open(path, flags | O_CLOEXEC, mode); }

int pawl_open_at(int directory, const char *name, int flags, unsigned mode) {
    return openat(directory, name, flags | O_CLOEXEC, mode);
}

int pawl_open_name_at(int directory, const char *name) { return openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC); }

int pawl_open_cached_at(int directory, const char *name, int flags) {
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC, .resolve = RESOLVE_CACHED};
    return (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
}

int pawl_lock_exclusive(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }

int pawl_unlock(int descriptor) { return flock(descriptor, LOCK_UN); }

const uint8_t *pawl_find(const uint8_t *text, size_t length, const uint8_t *needle, size_t needle_length) {
    return memmem(text, length, needle, needle_length);
}

void pawl_trim_heap(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void pawl_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
