#include "CCurl.h"
#include "library.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// The sockets of all transfers are in one epoll set, so that a pass costs what its events cost, and not what all transfers do:
// curl_multi_perform and curl_multi_poll look at each of them, each time.
struct pawl_multi {
    void *curl;
    int poller;
    int bell;           // an eventfd
    int64_t due;        // when libcurl's timer ends, in microseconds of the monotonic clock; negative: never
    int count;          // of the events below
    struct epoll_event events[64];
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

// Called by libcurl with the events that it waits for at a socket. `known` is what curl_multi_assign has set.
static int watch(void *easy, int socket, int what, void *context, void *known) {
    (void)easy;
    pawl_multi *multi = context;
    if (what == CURL_POLL_REMOVE) {
        // Fails if the socket has been closed.
        epoll_ctl(multi->poller, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    struct epoll_event event = {.data.fd = socket};
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (known && epoll_ctl(multi->poller, EPOLL_CTL_MOD, socket, &event) == 0) return 0;
    pawl_libcurl.multi_assign(multi->curl, socket, multi);
    if (epoll_ctl(multi->poller, EPOLL_CTL_ADD, socket, &event) == 0) return 0;
    return errno == EEXIST ? epoll_ctl(multi->poller, EPOLL_CTL_MOD, socket, &event) : -1;
}

// Called by libcurl with the milliseconds until its next timer; -1: none.
static int set_timer(void *curl, long milliseconds, void *context) {
    (void)curl;
    pawl_multi *multi = context;
    multi->due = milliseconds < 0 ? -1 : now() + (int64_t)milliseconds * 1000;
    return 0;
}

pawl_multi *pawl_multi_create(void) {
    pawl_multi *multi = calloc(1, sizeof *multi);
    if (!multi) return NULL;
    multi->due = -1;
    multi->curl = pawl_libcurl.multi_init();
    multi->poller = epoll_create1(EPOLL_CLOEXEC);
    multi->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // Each ring is reported once, and need not be read.
    struct epoll_event ring = {.events = EPOLLIN | EPOLLET, .data.fd = multi->bell};
    if (multi->curl && multi->poller >= 0 && multi->bell >= 0
        && epoll_ctl(multi->poller, EPOLL_CTL_ADD, multi->bell, &ring) == 0
        && pawl_libcurl.multi_setopt(multi->curl, CURLMOPT_SOCKETFUNCTION, watch) == CURLM_OK
        && pawl_libcurl.multi_setopt(multi->curl, CURLMOPT_SOCKETDATA, multi) == CURLM_OK
        && pawl_libcurl.multi_setopt(multi->curl, CURLMOPT_TIMERFUNCTION, set_timer) == CURLM_OK
        && pawl_libcurl.multi_setopt(multi->curl, CURLMOPT_TIMERDATA, multi) == CURLM_OK)
        return multi;
    pawl_multi_destroy(multi);
    return NULL;
}

void pawl_multi_destroy(pawl_multi *multi) {
    if (multi->curl) pawl_libcurl.multi_cleanup(multi->curl);
    if (multi->poller >= 0) close(multi->poller);
    if (multi->bell >= 0) close(multi->bell);
    free(multi);
}

int pawl_multi_set_long(pawl_multi *multi, pawl_curl_multi_option option, long value) {
    return pawl_libcurl.multi_setopt(multi->curl, option, value);
}

int pawl_multi_add(pawl_multi *multi, pawl_easy *easy) { return pawl_libcurl.multi_add_handle(multi->curl, easy); }

int pawl_multi_remove(pawl_multi *multi, pawl_easy *easy) { return pawl_libcurl.multi_remove_handle(multi->curl, easy); }

int pawl_multi_perform(pawl_multi *multi) {
    int running, code = CURLM_OK;
    for (int index = 0; index < multi->count && code == CURLM_OK; index++) {
        struct epoll_event event = multi->events[index];
        if (event.data.fd == multi->bell) continue;
        int ready = 0;
        if (event.events & EPOLLIN) ready |= CURL_CSELECT_IN;
        if (event.events & EPOLLOUT) ready |= CURL_CSELECT_OUT;
        if (event.events & (EPOLLERR | EPOLLHUP)) ready |= CURL_CSELECT_ERR;
        code = pawl_libcurl.multi_socket_action(multi->curl, event.data.fd, ready, &running);
    }
    multi->count = 0;
    if (code != CURLM_OK || multi->due < 0 || now() < multi->due) return code;
    multi->due = -1;
    return pawl_libcurl.multi_socket_action(multi->curl, CURL_SOCKET_TIMEOUT, 0, &running);
}

int pawl_multi_perform_all(pawl_multi *multi) {
    int running;
    return pawl_libcurl.multi_socket_all(multi->curl, &running);
}

int pawl_multi_poll(pawl_multi *multi, int milliseconds) {
    if (multi->due >= 0) {
        int64_t left = (multi->due - now() + 999) / 1000;
        if (left < milliseconds) milliseconds = left > 0 ? (int)left : 0;
    }
    int count = epoll_wait(multi->poller, multi->events, sizeof multi->events / sizeof *multi->events, milliseconds);
    multi->count = count > 0 ? count : 0;
    return count >= 0 || errno == EINTR;
}

void pawl_multi_wakeup(pawl_multi *multi) {
    uint64_t one = 1;
    // Fails only if the counter is full, and the bell has rung then.
    if (write(multi->bell, &one, sizeof one) < 0) return;
}

pawl_curl_done pawl_multi_next_done(pawl_multi *multi) {
    pawl_curl_done done = {NULL, CURLE_OK};
    struct message *message;
    int remaining;
    while ((message = pawl_libcurl.multi_info_read(multi->curl, &remaining))) {
        if (message->kind == CURLMSG_DONE) {
            done.easy = message->easy;
            done.result = message->data.result;
            break;
        }
    }
    return done;
}
