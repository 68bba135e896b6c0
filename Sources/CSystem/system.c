// Defined here and not in the header: it changes declarations of the system's headers, and Swift refuses two forms of
// one type.
#define _GNU_SOURCE

#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

// The numbers from which on descriptors of files and of connections are refused.
static int file_share = INT_MAX, connection_share = INT_MAX;

void pawl_share_descriptors(int files, int connections) {
    file_share = files;
    connection_share = connections;
}

// The system gives the lowest free number, so a number below the share shows that the share is not used up.
static int within(int share, int descriptor) {
    if (descriptor < share) return descriptor;
    close(descriptor);
    errno = EMFILE;
    return -1;
}

static bool is_free(int share) {
    int probe = within(share, fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    if (probe >= 0) close(probe);
    return probe >= 0 || (errno != EMFILE && errno != ENFILE);
}

bool pawl_has_descriptors(void) { return is_free(file_share); }

int pawl_socket(int family, int type, int protocol) {
    return within(file_share, socket(family, type | SOCK_CLOEXEC, protocol));
}

int pawl_accept(int listener, struct sockaddr *address, socklen_t *length) {
    static _Atomic int last;
    // Half of the reserve is for libraries, the other half for connections that are refused, and for probes.
    int hard = connection_share + (connection_share - file_share) / 2;
    // A connection that is not accepted waits. One that is accepted and closed is lost, so descriptors are looked at before
    // they are few.
    if (last >= file_share && !is_free(hard)) return -1;
    int descriptor = within(hard, accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (descriptor >= 0) last = descriptor;
    return descriptor;
}

bool pawl_is_reserved(int descriptor) { return descriptor >= connection_share; }

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

int pawl_set_modified(int descriptor, int64_t seconds) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)seconds}};
    return futimens(descriptor, times);
}

int pawl_is_cached(int descriptor, int64_t offset) {
    char byte;
    struct iovec place = {.iov_base = &byte, .iov_len = 1};
    return preadv2(descriptor, &place, 1, offset, RWF_NOWAIT) == 1;
}

int pawl_unacknowledged(int descriptor, int *count) { return ioctl(descriptor, SIOCOUTQ, count); }

int pawl_tcp_queues(
    uint32_t local_address, uint16_t local_port, uint32_t remote_address, uint16_t remote_port, uint32_t *unread,
    uint32_t *unacknowledged) {
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 query;
    } request = {
        .header = {.nlmsg_len = sizeof request, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .query = {
            .sdiag_family = AF_INET,
            .sdiag_protocol = IPPROTO_TCP,
            .idiag_states = ~0u,
            .id = {
                .idiag_sport = htons(local_port),
                .idiag_dport = htons(remote_port),
                .idiag_src = {local_address},
                .idiag_dst = {remote_address},
                .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE},
            },
        },
    };
    _Alignas(struct nlmsghdr) char reply[4096];
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (netlink < 0) return -1;
    // The kernel handles the request within send(2): the reply is ready when send returns, so recv need not wait.
    ssize_t count = send(netlink, &request, sizeof request, 0);
    if (count >= 0) count = recv(netlink, reply, sizeof reply, MSG_DONTWAIT);
    int error = errno;
    close(netlink);
    errno = error;
    if (count < 0) return -1;
    const struct nlmsghdr *header = (const struct nlmsghdr *)reply;
    if (!NLMSG_OK(header, (size_t)count)) {
        errno = EBADMSG;
        return -1;
    }
    if (header->nlmsg_type == NLMSG_ERROR && header->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        errno = -((const struct nlmsgerr *)NLMSG_DATA(header))->error;
        return errno == ENOENT ? 1 : -1;
    }
    if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY || header->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg))) {
        errno = EBADMSG;
        return -1;
    }
    const struct inet_diag_msg *found = NLMSG_DATA(header);
    // If the connection does not exist, the kernel returns the socket that listens on the port.
    if (found->id.idiag_dport != request.query.id.idiag_dport) return 1;
    *unread = found->idiag_rqueue;
    *unacknowledged = found->idiag_wqueue;
    return 0;
}

int pawl_open(const char *path, int flags, unsigned mode) { return pawl_open_at(AT_FDCWD, path, flags, mode); }

int pawl_open_at(int directory, const char *name, int flags, unsigned mode) {
    int opened = openat(directory, name, flags | O_CLOEXEC, mode);
    int descriptor = within(file_share, opened);
    // The refused call has created the file.
    if (opened >= 0 && descriptor < 0 && (flags & O_EXCL)) unlinkat(directory, name, 0);
    return descriptor;
}

int pawl_open_unnamed_at(int directory, unsigned mode) {
    return within(file_share, openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
}

int pawl_set_attribute(int descriptor, const char *name, const char *value) {
    return fsetxattr(descriptor, name, value, strlen(value), 0);
}

bool pawl_has_attribute(int descriptor, const char *name, const char *value) {
    char found[256];
    ssize_t length = fgetxattr(descriptor, name, found, sizeof found);
    return length >= 0 && (size_t)length == strlen(value) && memcmp(found, value, (size_t)length) == 0;
}

int pawl_birth_time(int descriptor, int64_t *nanoseconds) {
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return -1;
    if (!(status.stx_mask & STATX_BTIME)) {
        errno = ENOTSUP;
        return -1;
    }
    *nanoseconds = (int64_t)((uint64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec);
    return 0;
}

int pawl_open_name_at(int directory, const char *name) {
    return within(file_share, openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

int pawl_open_cached_at(int directory, const char *name, int flags) {
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC, .resolve = RESOLVE_CACHED};
    return within(file_share, (int)syscall(SYS_openat2, directory, name, &how, sizeof how));
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

void pawl_map_large_blocks(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void pawl_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
