// The functions of libcurl, which curl.c loads.

// struct CURLMsg of <curl/multi.h>
struct message {
    int kind;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};

// The functions of libcurl that are called, as <curl/curl.h> declares them: FUNCTION(result, name, parameters). CURL and CURLM are void
// there, the enums are int in the ABI.
#define FUNCTIONS \
    FUNCTION(int, global_init, (long flags)) \
    FUNCTION(const char *, easy_strerror, (int code)) \
    FUNCTION(void *, easy_init, (void)) \
    FUNCTION(void, easy_cleanup, (void *easy)) \
    FUNCTION(int, easy_setopt, (void *easy, int option, ...)) \
    FUNCTION(int, easy_pause, (void *easy, int directions)) \
    FUNCTION(int, easy_getinfo, (void *easy, int info, ...)) \
    FUNCTION(void *, slist_append, (void *list, const char *string)) \
    FUNCTION(void, slist_free_all, (void *list)) \
    FUNCTION(void *, share_init, (void)) \
    FUNCTION(int, share_setopt, (void *share, int option, ...)) \
    FUNCTION(int, share_cleanup, (void *share)) \
    FUNCTION(void *, multi_init, (void)) \
    FUNCTION(int, multi_cleanup, (void *multi)) \
    FUNCTION(int, multi_setopt, (void *multi, int option, ...)) \
    FUNCTION(int, multi_add_handle, (void *multi, void *easy)) \
    FUNCTION(int, multi_remove_handle, (void *multi, void *easy)) \
    FUNCTION(int, multi_socket_action, (void *multi, int socket, int events, int *running)) \
    FUNCTION(int, multi_socket_all, (void *multi, int *running)) \
    FUNCTION(int, multi_assign, (void *multi, int socket, void *value)) \
    FUNCTION(struct message *, multi_info_read, (void *multi, int *remaining))

// Where they are, once libcurl is loaded.
#define FUNCTION(result, name, parameters) result(*name) parameters;
struct pawl_libcurl { FUNCTIONS };
#undef FUNCTION
extern struct pawl_libcurl pawl_libcurl;
