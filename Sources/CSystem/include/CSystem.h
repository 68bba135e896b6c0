// Linux system calls that Swift's Glibc module does not import, and code that needs compiler intrinsics.
#ifndef PAWL_CSYSTEM_H
#define PAWL_CSYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "crash.h"
#include "digest.h"

// Limits the numbers of new descriptors: `files` of files and of sockets to origins, `connections` of accepted ones. A call
// that gets a higher number closes it and fails with EMFILE. The rest is left to libraries:
// libdispatch ends the process if it gets no descriptor. Must be called before other threads open files.
void pawl_share_descriptors(int files, int connections);

// Whether a new file would get a descriptor.
bool pawl_has_descriptors(void);

// socket(2) with SOCK_CLOEXEC.
int pawl_socket(int family, int type, int protocol);

// accept4(2) with SOCK_NONBLOCK | SOCK_CLOEXEC; -1 and errno on failure.
int pawl_accept(int listener, struct sockaddr *address, socklen_t *length);

// Whether an accepted connection has a descriptor of the reserve.
bool pawl_is_reserved(int descriptor);

// renameat2(2) with RENAME_NOREPLACE on names relative to directories: EEXIST if `to` exists.
int pawl_rename_exclusive_at(int from_directory, const char *from, int to_directory, const char *to);

// syncfs(2): writes back all of the file system that contains the descriptor.
int pawl_syncfs(int descriptor);

// sync_file_range(2) of the whole file with SYNC_FILE_RANGE_WAIT_BEFORE.
int pawl_await_write_back(int descriptor);

// fallocate(2) with mode 0: reserves blocks and extends the file; EOPNOTSUPP where the file system cannot.
int pawl_preallocate(int descriptor, int64_t offset, int64_t length);

// fallocate(2) FALLOC_FL_KEEP_SIZE: reserves blocks, also after the file's end, without changing the size.
int pawl_reserve_beyond(int descriptor, int64_t offset, int64_t length);

// fallocate(2) FALLOC_FL_PUNCH_HOLE: frees the blocks of a range, which then reads as zeros. The size stays.
int pawl_punch_hole(int descriptor, int64_t offset, int64_t length);

// futimens(2): sets the modification time in seconds since 1970, and keeps the time of access.
int pawl_set_modified(int descriptor, int64_t seconds);

// open(2) without variadic arguments, which Swift cannot call. Adds O_CLOEXEC to the flags.
int pawl_open(const char *path, int flags, unsigned mode);

// openat(2) without variadic arguments. Adds O_CLOEXEC to the flags.
int pawl_open_at(int directory, const char *name, int flags, unsigned mode);

// openat(2) with O_TMPFILE, for reading and writing. EOPNOTSUPP where the file system has no files without a name.
int pawl_open_unnamed_at(int directory, unsigned mode);

// fsetxattr(2) with a text as the value.
int pawl_set_attribute(int descriptor, const char *name, const char *value);

// fgetxattr(2): whether there is such an attribute with this value of at most 255 bytes.
bool pawl_has_attribute(int descriptor, const char *name, const char *value);

// statx(2): the time at which the file was made, in nanoseconds since 1970. ENOTSUP where the file system has none.
int pawl_birth_time(int descriptor, int64_t *nanoseconds);

// openat(2) with O_PATH: opens an entry, or the link itself, without access to its content.
int pawl_open_name_at(int directory, const char *name);

// openat2(2) with RESOLVE_CACHED, for reading. EAGAIN if the name is not in the kernel's cache and might require a disk
// access. ENOSYS or EINVAL if the kernel lacks the flag.
int pawl_open_cached_at(int directory, const char *name, int flags);

// flock(2) LOCK_EX | LOCK_NB: EWOULDBLOCK if another open file holds the lock.
int pawl_lock_exclusive(int descriptor);

// flock(2) LOCK_UN.
int pawl_unlock(int descriptor);

// preadv2(2) with RWF_NOWAIT of one byte: 1 if it is in memory. 0 if a read might wait, or if the kernel lacks the
// flag.
int pawl_is_cached(int descriptor, int64_t offset);

// ioctl(2) SIOCOUTQ: bytes written to a TCP socket that the peer has not acknowledged.
int pawl_unacknowledged(int descriptor, int *count);

// sock_diag(7): the bytes in the queues of one TCP socket over IPv4 in this network namespace. Addresses are in network
// byte order, ports in the host's. `unread`: bytes received that the program has not read. `unacknowledged`: bytes
// written that the peer has not acknowledged. Returns 0 if the socket was found, 1 if there is none, and -1 with errno
// on failure.
int pawl_tcp_queues(
    uint32_t local_address, uint16_t local_port, uint32_t remote_address, uint16_t remote_port, uint32_t *unread,
    uint32_t *unacknowledged);

// memmem(3): the first occurrence of `needle` in `text`; NULL if there is none.
const uint8_t *pawl_find(const uint8_t *text, size_t length, const uint8_t *needle, size_t needle_length);

// malloc_trim(3), where the C library has it: returns free whole pages of all arenas to the system.
void pawl_trim_heap(void);

// mallopt(3): maps each block of 1 MiB or more separately, so that it returns to the system once it is freed. By default, the C
// library raises this limit with each such block, and keeps later ones.
void pawl_map_large_blocks(void);

// pthread_setname_np(3) for the calling thread: 15 bytes at most.
void pawl_name_thread(const char *name);

#endif
