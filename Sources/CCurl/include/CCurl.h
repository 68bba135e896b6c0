// The part of libcurl that HTTPClient calls, declared here so that no development package is needed to build.
//
// libcurl's binary interface has been stable since 7.16 (2006): numbers are never reused and structures only grow at their
// end. The names and values below are libcurl's own; a test compares each with <curl/curl.h> where that is installed.
// Every constant is written as `NAME = number`, one per line, because that test reads this file.
#ifndef PAWL_CCURL_H
#define PAWL_CCURL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct pawl_easy pawl_easy;    // CURL: one transfer
typedef struct pawl_multi pawl_multi;  // a CURLM, and what it waits for: a set of transfers driven by one thread
typedef struct pawl_share pawl_share;  // CURLSH: what the transfers of a set have in common
typedef struct pawl_list pawl_list;    // struct curl_slist: a list of strings

// Options of curl_easy_setopt: the type's base (0 long, 10000 pointer, 20000 function, 30000 curl_off_t) plus a number.
typedef enum {
    CURLOPT_WRITEDATA = 10001,
    CURLOPT_URL = 10002,
    CURLOPT_PROXY = 10004,
    CURLOPT_READDATA = 10009,
    CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_USERAGENT = 10018,
    CURLOPT_HTTPHEADER = 10023,
    CURLOPT_HEADERDATA = 10029,
    CURLOPT_SSLVERSION = 32,
    CURLOPT_CUSTOMREQUEST = 10036,
    CURLOPT_NOBODY = 44,
    CURLOPT_UPLOAD = 46,
    CURLOPT_POST = 47,
    CURLOPT_NETRC = 51,
    CURLOPT_FOLLOWLOCATION = 52,
    CURLOPT_SSL_VERIFYPEER = 64,
    CURLOPT_CAINFO = 10065,
    CURLOPT_HTTPGET = 80,
    CURLOPT_SSL_VERIFYHOST = 81,
    CURLOPT_HTTP_VERSION = 84,
    CURLOPT_DNS_CACHE_TIMEOUT = 92,
    CURLOPT_BUFFERSIZE = 98,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_ACCEPT_ENCODING = 10102,
    CURLOPT_PRIVATE = 10103,
    CURLOPT_INFILESIZE_LARGE = 30115,
    CURLOPT_POSTFIELDSIZE_LARGE = 30120,
    CURLOPT_TCP_NODELAY = 121,
    CURLOPT_FRESH_CONNECT = 74,
    CURLOPT_FORBID_REUSE = 75,
    CURLOPT_CONNECTTIMEOUT_MS = 156,
    CURLOPT_SHARE = 10100,
    CURLOPT_OPENSOCKETDATA = 10164,
    CURLOPT_COPYPOSTFIELDS = 10165,
    CURLOPT_SEEKDATA = 10168,
    CURLOPT_PROTOCOLS = 181,
    CURLOPT_TCP_KEEPALIVE = 213,
    CURLOPT_CLOSESOCKETDATA = 10209,
    CURLOPT_PATH_AS_IS = 234,
    CURLOPT_UPLOAD_BUFFERSIZE = 280,
    CURLOPT_HTTP09_ALLOWED = 285,
    CURLOPT_PREREQDATA = 10313,
    CURLOPT_PROTOCOLS_STR = 10318,
    CURLOPT_QUICK_EXIT = 322,
    CURLOPT_NOPROXY = 10177,
    CURLOPT_HEADEROPT = 229,
    CURLOPT_PROXY_CAINFO = 10246,
    CURLOPT_PROXY_SSLVERSION = 250,
    CURLOPT_SUPPRESS_CONNECT_HEADERS = 265,
} pawl_curl_option;

// Options that take a function; set by the wrappers that know its type.
enum {
    CURLOPT_WRITEFUNCTION = 20011,
    CURLOPT_READFUNCTION = 20012,
    CURLOPT_HEADERFUNCTION = 20079,
    CURLOPT_OPENSOCKETFUNCTION = 20163,
    CURLOPT_SEEKFUNCTION = 20167,
    CURLOPT_CLOSESOCKETFUNCTION = 20208,
    CURLOPT_PREREQFUNCTION = 20312,
};

// Options of curl_multi_setopt.
typedef enum {
    CURLMOPT_PIPELINING = 3,
    CURLMOPT_MAXCONNECTS = 6,
    CURLMOPT_SOCKETDATA = 10002,
    CURLMOPT_TIMERDATA = 10005,
    CURLMOPT_SOCKETFUNCTION = 20001,
    CURLMOPT_TIMERFUNCTION = 20004,
} pawl_curl_multi_option;

// Options of curl_share_setopt, and what can be shared.
enum {
    CURLSHOPT_SHARE = 1,
    CURL_LOCK_DATA_SSL_SESSION = 4,
};

// Questions of curl_easy_getinfo: 0x100000 string, 0x400000 list, plus a number.
enum {
    CURLINFO_HTTP_CONNECTCODE = 2097174,
    CURLINFO_PRIVATE = 1048597,
};

// Values of options.
enum {
    CURL_GLOBAL_DEFAULT = 3,
    CURL_HTTP_VERSION_1_1 = 2,
    CURL_HTTP_VERSION_2TLS = 4,
    CURL_SSLVERSION_TLSv1_2 = 6,
    CURL_NETRC_IGNORED = 0,
    CURLHEADER_SEPARATE = 1,
    CURLPIPE_NOTHING = 0,
    CURLPROTO_HTTP = 1,
    CURLPROTO_HTTPS = 2,
    CURL_ERROR_SIZE = 256,
    CURL_MAX_WRITE_SIZE = 16384,
    CURL_SOCKET_BAD = -1,
    CURL_SOCKET_TIMEOUT = -1,
    CURL_POLL_IN = 1,
    CURL_POLL_OUT = 2,
    CURL_POLL_REMOVE = 4,
    CURL_CSELECT_IN = 1,
    CURL_CSELECT_OUT = 2,
    CURL_CSELECT_ERR = 4,
    CURL_WRITEFUNC_PAUSE = 268435457,
    CURL_READFUNC_ABORT = 268435456,
    CURL_SEEKFUNC_OK = 0,
    CURL_SEEKFUNC_FAIL = 1,
    CURLPAUSE_CONT = 0,
    CURL_PREREQFUNC_OK = 0,
    CURL_PREREQFUNC_ABORT = 1,
    CURLMSG_DONE = 1,
    CURLM_OK = 0,
};

// Results of a transfer (CURLcode). Those that only other protocols produce are left out.
typedef enum {
    CURLE_OK = 0,
    CURLE_UNSUPPORTED_PROTOCOL = 1,
    CURLE_FAILED_INIT = 2,
    CURLE_URL_MALFORMAT = 3,
    CURLE_NOT_BUILT_IN = 4,
    CURLE_COULDNT_RESOLVE_PROXY = 5,
    CURLE_COULDNT_RESOLVE_HOST = 6,
    CURLE_COULDNT_CONNECT = 7,
    CURLE_WEIRD_SERVER_REPLY = 8,
    CURLE_HTTP2 = 16,
    CURLE_PARTIAL_FILE = 18,
    CURLE_HTTP_RETURNED_ERROR = 22,
    CURLE_WRITE_ERROR = 23,
    CURLE_READ_ERROR = 26,
    CURLE_OUT_OF_MEMORY = 27,
    CURLE_OPERATION_TIMEDOUT = 28,
    CURLE_RANGE_ERROR = 33,
    CURLE_SSL_CONNECT_ERROR = 35,
    CURLE_ABORTED_BY_CALLBACK = 42,
    CURLE_BAD_FUNCTION_ARGUMENT = 43,
    CURLE_INTERFACE_FAILED = 45,
    CURLE_TOO_MANY_REDIRECTS = 47,
    CURLE_UNKNOWN_OPTION = 48,
    CURLE_GOT_NOTHING = 52,
    CURLE_SSL_ENGINE_NOTFOUND = 53,
    CURLE_SSL_ENGINE_SETFAILED = 54,
    CURLE_SEND_ERROR = 55,
    CURLE_RECV_ERROR = 56,
    CURLE_SSL_CERTPROBLEM = 58,
    CURLE_SSL_CIPHER = 59,
    CURLE_PEER_FAILED_VERIFICATION = 60,
    CURLE_BAD_CONTENT_ENCODING = 61,
    CURLE_FILESIZE_EXCEEDED = 63,
    CURLE_USE_SSL_FAILED = 64,
    CURLE_SEND_FAIL_REWIND = 65,
    CURLE_SSL_ENGINE_INITFAILED = 66,
    CURLE_LOGIN_DENIED = 67,
    CURLE_SSL_CACERT_BADFILE = 77,
    CURLE_SSL_SHUTDOWN_FAILED = 80,
    CURLE_AGAIN = 81,
    CURLE_SSL_CRL_BADFILE = 82,
    CURLE_SSL_ISSUER_ERROR = 83,
    CURLE_NO_CONNECTION_AVAILABLE = 89,
    CURLE_SSL_PINNEDPUBKEYNOTMATCH = 90,
    CURLE_SSL_INVALIDCERTSTATUS = 91,
    CURLE_HTTP2_STREAM = 92,
    CURLE_RECURSIVE_API_CALL = 93,
    CURLE_HTTP3 = 95,
    CURLE_QUIC_CONNECT_ERROR = 96,
    CURLE_PROXY = 97,
    CURLE_SSL_CLIENTCERT = 98,
    CURLE_UNRECOVERABLE_POLL = 99,
} pawl_curl_code;

// struct curl_sockaddr: the address libcurl is about to connect to.
typedef struct {
    int family;
    int socktype;
    int protocol;
    unsigned int addrlen;
    struct sockaddr addr;
} pawl_curl_sockaddr;

// What curl_multi_info_read tells (struct CURLMsg), reduced to finished transfers.
typedef struct {
    pawl_easy *easy;  // null: nothing finished
    pawl_curl_code result;
} pawl_curl_done;

// Called with `size` 1 and `count` bytes; returning anything but `count` ends the transfer with CURLE_WRITE_ERROR,
// except CURL_WRITEFUNC_PAUSE: the bytes are kept, and handed over again after pawl_easy_continue.
typedef size_t (*pawl_curl_write)(char *bytes, size_t size, size_t count, void *context);
// Called with `size` 1 and a buffer of `count` bytes; returns how many it put there, 0 at the end, or CURL_READFUNC_ABORT.
typedef size_t (*pawl_curl_read)(char *bytes, size_t size, size_t count, void *context);
// Goes to an offset of what is read, since libcurl has to send it again; `origin` is SEEK_SET. Returns CURL_SEEKFUNC_OK or …_FAIL.
typedef int (*pawl_curl_seek)(void *context, int64_t offset, int origin);
// Returns a socket for the address, or CURL_SOCKET_BAD to refuse it.
typedef int (*pawl_curl_open_socket)(void *context, int purpose, pawl_curl_sockaddr *address);
// Closes a socket that pawl_curl_open_socket returned; 0 on success.
typedef int (*pawl_curl_close_socket)(void *context, int socket);
// Called when the connection, new or reused, is ready and before the request is sent on it.
typedef int (*pawl_curl_prerequest)(
    void *context, char *primary_address, char *local_address, int primary_port, int local_port);

// Loads libcurl by the name of its file, and calls curl_global_init(CURL_GLOBAL_DEFAULT). Must succeed before any other function is
// called. Returns the reason of a failure, or null.
const char *pawl_curl_load(const char *name);
// curl_easy_strerror. Never null.
const char *pawl_curl_message(pawl_curl_code code);

pawl_easy *pawl_easy_create(void);
void pawl_easy_destroy(pawl_easy *easy);
pawl_curl_code pawl_easy_set_long(pawl_easy *easy, pawl_curl_option option, long value);
pawl_curl_code pawl_easy_set_offset(pawl_easy *easy, pawl_curl_option option, int64_t value);
// libcurl copies the string.
pawl_curl_code pawl_easy_set_string(pawl_easy *easy, pawl_curl_option option, const char *value);
pawl_curl_code pawl_easy_set_pointer(pawl_easy *easy, pawl_curl_option option, void *value);
pawl_curl_code pawl_easy_set_share(pawl_easy *easy, pawl_share *share);
pawl_curl_code pawl_easy_set_list(pawl_easy *easy, pawl_curl_option option, pawl_list *list);
pawl_curl_code pawl_easy_set_write_function(pawl_easy *easy, pawl_curl_write function);
pawl_curl_code pawl_easy_set_read_function(pawl_easy *easy, pawl_curl_read function);
pawl_curl_code pawl_easy_set_seek_function(pawl_easy *easy, pawl_curl_seek function);
pawl_curl_code pawl_easy_set_header_function(pawl_easy *easy, pawl_curl_write function);
pawl_curl_code pawl_easy_set_open_socket_function(pawl_easy *easy, pawl_curl_open_socket function);
pawl_curl_code pawl_easy_set_close_socket_function(pawl_easy *easy, pawl_curl_close_socket function);
pawl_curl_code pawl_easy_set_prerequest_function(pawl_easy *easy, pawl_curl_prerequest function);
// curl_easy_pause(CURLPAUSE_CONT): goes on with a paused transfer; what was kept is handed over before it returns, and a failure of
// that ends here and not in pawl_multi_next_done.
pawl_curl_code pawl_easy_continue(pawl_easy *easy);
// What was set with CURLOPT_PRIVATE.
void *pawl_easy_private(pawl_easy *easy);
// The status with which a proxy has answered CONNECT; 0 if it has not.
long pawl_easy_connect_status(pawl_easy *easy);

// curl_slist_append: returns the list, new if `list` was null; null (and `list` untouched) without memory.
pawl_list *pawl_list_append(pawl_list *list, const char *string);
void pawl_list_destroy(pawl_list *list);

// A share of TLS sessions without locks: its easy handles belong to one thread. Null without memory.
pawl_share *pawl_share_create(void);
// Only after all its easy handles have been destroyed.
void pawl_share_destroy(pawl_share *share);

pawl_multi *pawl_multi_create(void);
void pawl_multi_destroy(pawl_multi *multi);
int pawl_multi_set_long(pawl_multi *multi, pawl_curl_multi_option option, long value);
int pawl_multi_add(pawl_multi *multi, pawl_easy *easy);
int pawl_multi_remove(pawl_multi *multi, pawl_easy *easy);
// Does the work of the last poll's events, and of libcurl's timers that have ended. Returns CURLM_OK, or what failed.
int pawl_multi_perform(pawl_multi *multi);
// Does the work of all transfers. libcurl before 8.5 may wait for neither a socket nor a timer before it connects to a host's next
// address.
int pawl_multi_perform_all(pawl_multi *multi);
// Waits for events of the transfers' sockets, a timer of libcurl, or a wake-up. 0 if it failed.
int pawl_multi_poll(pawl_multi *multi, int milliseconds);
// May be called by any thread.
void pawl_multi_wakeup(pawl_multi *multi);
// The next transfer that finished since the last call, if any.
pawl_curl_done pawl_multi_next_done(pawl_multi *multi);

// Whether an idle connection is open and has nothing to be read.
int pawl_socket_is_quiet(int socket);
// What the kernel knows of a connection's two directions: how many bytes have come since it was opened, and how many segments that were
// sent have not been acknowledged. 0 where the kernel does not tell.
int pawl_socket_figures(int socket, uint64_t *received, uint32_t *unacknowledged);

#endif
