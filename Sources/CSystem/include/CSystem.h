// The Linux system calls that Swift's Glibc module does not import, and what needs the compiler's intrinsics.
#ifndef PAWL_CSYSTEM_H
#define PAWL_CSYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "child.h"
#include "crash.h"
#include "digest.h"

// accept4(2) with SOCK_NONBLOCK | SOCK_CLOEXEC; -1 and errno on failure.
int pawl_accept(int listener, struct sockaddr *address, socklen_t *length);

// renameat2(2) with RENAME_NOREPLACE on names relative to directories: EEXIST if `to` exists.
int pawl_rename_exclusive_at(int from_directory, const char *from, int to_directory, const char *to);

// syncfs(2): writes back everything of the file system that holds the descriptor.
int pawl_syncfs(int descriptor);

// sync_file_range(2) of the whole file with SYNC_FILE_RANGE_WAIT_BEFORE.
int pawl_await_write_back(int descriptor);

// fallocate(2) with mode 0: reserves blocks and extends the file; EOPNOTSUPP where the file system cannot.
int pawl_preallocate(int descriptor, int64_t offset, int64_t length);

// fallocate(2) FALLOC_FL_KEEP_SIZE: reserves blocks, also behind the file's end, which stays where it is.
int pawl_reserve_beyond(int descriptor, int64_t offset, int64_t length);

// fallocate(2) FALLOC_FL_PUNCH_HOLE: gives blocks back; the file keeps its size, and reads as zeros there.
int pawl_punch_hole(int descriptor, int64_t offset, int64_t length);

// open(2) with a fixed argument list, since it is variadic: flags as given, with O_CLOEXEC added.
int pawl_open(const char *path, int flags, unsigned mode);

// openat(2) in the same way.
int pawl_open_at(int directory, const char *name, int flags, unsigned mode);

// openat(2) with O_PATH: keeps what bears the name, a link included, without access to its content.
int pawl_open_name_at(int directory, const char *name);

// openat2(2) with RESOLVE_CACHED, for reading: EAGAIN if the name isn't in the kernel's cache, so that finding it might have to wait
// for a disk; ENOSYS or EINVAL where the kernel can't tell.
int pawl_open_cached_at(int directory, const char *name, int flags);

// flock(2) LOCK_EX | LOCK_NB: EWOULDBLOCK if another process holds it.
int pawl_lock_exclusive(int descriptor);

// flock(2) LOCK_UN.
int pawl_unlock(int descriptor);

// preadv2(2) with RWF_NOWAIT of one byte: 1 if it is in memory, 0 if reading it might have to wait or the kernel can't tell.
int pawl_is_cached(int descriptor, int64_t offset);

// ioctl(2) SIOCOUTQ: bytes written to a TCP socket that the peer has not acknowledged.
int pawl_unacknowledged(int descriptor, int *count);

// sock_diag(7): how many bytes a TCP socket over IPv4 of this network namespace holds, of exactly these two ends (addresses in network
// byte order, ports in the host's). `unread`: received and not read by the program; `unacknowledged`: written and not acknowledged by the
// peer. 0: found; 1: there is no such socket; -1 and errno on failure.
int pawl_tcp_queues(
    uint32_t local_address, uint16_t local_port, uint32_t remote_address, uint16_t remote_port, uint32_t *unread,
    uint32_t *unacknowledged);

// memmem(3): where `needle` begins in `text` for the first time; NULL: nowhere.
const uint8_t *pawl_find(const uint8_t *text, size_t length, const uint8_t *needle, size_t needle_length);

// malloc_trim(3), where the C library has it: gives whole free pages of every arena back to the system.
void pawl_trim_heap(void);

// pthread_setname_np(3) for the calling thread: 15 bytes at most.
void pawl_name_thread(const char *name);

#endif
