#include "CCurl.h"
#include "library.h"

#include <dlfcn.h>

struct pawl_libcurl pawl_libcurl;

const char *pawl_curl_load(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
#define FUNCTION(result, name, parameters) \
    if (!(pawl_libcurl.name = (result(*) parameters)dlsym(library, "curl_" #name))) return dlerror();
    FUNCTIONS
#undef FUNCTION
    int code = pawl_libcurl.global_init(CURL_GLOBAL_DEFAULT);
    return code ? pawl_curl_message(code) : NULL;
}

const char *pawl_curl_message(pawl_curl_code code) {
    const char *message = pawl_libcurl.easy_strerror(code);
    return message ? message : "";
}

pawl_easy *pawl_easy_create(void) { return pawl_libcurl.easy_init(); }

void pawl_easy_destroy(pawl_easy *easy) { pawl_libcurl.easy_cleanup(easy); }

pawl_curl_code pawl_easy_set_long(pawl_easy *easy, pawl_curl_option option, long value) {
    return pawl_libcurl.easy_setopt(easy, option, value);
}

pawl_curl_code pawl_easy_set_offset(pawl_easy *easy, pawl_curl_option option, int64_t value) {
    return pawl_libcurl.easy_setopt(easy, option, value);
}

pawl_curl_code pawl_easy_set_string(pawl_easy *easy, pawl_curl_option option, const char *value) {
    return pawl_libcurl.easy_setopt(easy, option, value);
}

pawl_curl_code pawl_easy_set_pointer(pawl_easy *easy, pawl_curl_option option, void *value) {
    return pawl_libcurl.easy_setopt(easy, option, value);
}

pawl_curl_code pawl_easy_set_share(pawl_easy *easy, pawl_share *share) {
    return pawl_libcurl.easy_setopt(easy, CURLOPT_SHARE, share);
}

pawl_curl_code pawl_easy_set_list(pawl_easy *easy, pawl_curl_option option, pawl_list *list) {
    return pawl_libcurl.easy_setopt(easy, option, list);
}

pawl_curl_code pawl_easy_set_write_function(pawl_easy *easy, pawl_curl_write function) {
    return pawl_libcurl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
}

pawl_curl_code pawl_easy_set_read_function(pawl_easy *easy, pawl_curl_read function) {
    return pawl_libcurl.easy_setopt(easy, CURLOPT_READFUNCTION, function);
}

pawl_curl_code pawl_easy_set_seek_function(pawl_easy *easy, pawl_curl_seek function) {
    return pawl_libcurl.easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}

pawl_curl_code pawl_easy_set_header_function(pawl_easy *easy, pawl_curl_write function) {
    return pawl_libcurl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, function);
}

pawl_curl_code pawl_easy_set_open_socket_function(pawl_easy *easy, pawl_curl_open_socket function) {
    return pawl_libcurl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

pawl_curl_code pawl_easy_set_close_socket_function(pawl_easy *easy, pawl_curl_close_socket function) {
    return pawl_libcurl.easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}

pawl_curl_code pawl_easy_set_prerequest_function(pawl_easy *easy, pawl_curl_prerequest function) {
    return pawl_libcurl.easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

pawl_curl_code pawl_easy_continue(pawl_easy *easy) { return pawl_libcurl.easy_pause(easy, CURLPAUSE_CONT); }

void *pawl_easy_private(pawl_easy *easy) {
    void *value = NULL;
    pawl_libcurl.easy_getinfo(easy, CURLINFO_PRIVATE, &value);
    return value;
}

long pawl_easy_connect_status(pawl_easy *easy) {
    long status = 0;
    pawl_libcurl.easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status;
}

pawl_list *pawl_list_append(pawl_list *list, const char *string) { return pawl_libcurl.slist_append(list, string); }

void pawl_list_destroy(pawl_list *list) { pawl_libcurl.slist_free_all(list); }

pawl_share *pawl_share_create(void) {
    void *share = pawl_libcurl.share_init();
    if (share && pawl_libcurl.share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) != 0) {
        pawl_libcurl.share_cleanup(share);
        return NULL;
    }
    return share;
}

void pawl_share_destroy(pawl_share *share) { pawl_libcurl.share_cleanup(share); }
