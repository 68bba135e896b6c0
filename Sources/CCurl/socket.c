#include "CCurl.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#ifdef __linux__
// The kernel's own header: in the C library's, the structure ends before the newer figures.
#include <linux/tcp.h>
#endif

int pawl_socket_is_quiet(int socket) {
    char byte;
    ssize_t count;
    do {
        count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

int pawl_socket_figures(int socket, uint64_t *received, uint32_t *unacknowledged) {
#ifdef __linux__
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return 0;
    // A kernel that counts no bytes, such as an emulated one, tells nothing.
    if (length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) return 0;
    if (info.tcpi_bytes_received == 0) return 0;
    *received = info.tcpi_bytes_received;
    *unacknowledged = info.tcpi_unacked;
    return 1;
#else
    return 0;
#endif
}
