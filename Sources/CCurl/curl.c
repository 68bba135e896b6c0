#include "CCurl.h"

#include <string.h>

// libcurl's functions, as <curl/curl.h> declares them; CURL and CURLM are void there, the enums are int in the ABI.
int curl_global_init(long flags);
const char *curl_easy_strerror(int code);
void *curl_easy_init(void);
void curl_easy_cleanup(void *easy);
int curl_easy_setopt(void *easy, int option, ...);
int curl_easy_pause(void *easy, int directions);
int curl_easy_getinfo(void *easy, int info, ...);
void *curl_slist_append(void *list, const char *string);
void curl_slist_free_all(void *list);
void *curl_share_init(void);
int curl_share_setopt(void *share, int option, ...);
int curl_share_cleanup(void *share);

pawl_curl_code pawl_curl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

const char *pawl_curl_message(pawl_curl_code code) {
    const char *message = curl_easy_strerror(code);
    return message ? message : "";
}

pawl_easy *pawl_easy_create(void) { return curl_easy_init(); }

void pawl_easy_destroy(pawl_easy *easy) { curl_easy_cleanup(easy); }

pawl_curl_code pawl_easy_set_long(pawl_easy *easy, pawl_curl_option option, long value) {
    return curl_easy_setopt(easy, option, value);
}

pawl_curl_code pawl_easy_set_offset(pawl_easy *easy, pawl_curl_option option, int64_t value) {
    return curl_easy_setopt(easy, option, value);
}

pawl_curl_code pawl_easy_set_string(pawl_easy *easy, pawl_curl_option option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

pawl_curl_code pawl_easy_set_pointer(pawl_easy *easy, pawl_curl_option option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

pawl_curl_code pawl_easy_set_share(pawl_easy *easy, pawl_share *share) {
    return curl_easy_setopt(easy, CURLOPT_SHARE, share);
}

pawl_curl_code pawl_easy_set_list(pawl_easy *easy, pawl_curl_option option, pawl_list *list) {
    return curl_easy_setopt(easy, option, list);
}

pawl_curl_code pawl_easy_set_write_function(pawl_easy *easy, pawl_curl_write function) {
    return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, function);
}

pawl_curl_code pawl_easy_set_read_function(pawl_easy *easy, pawl_curl_read function) {
    return curl_easy_setopt(easy, CURLOPT_READFUNCTION, function);
}

pawl_curl_code pawl_easy_set_seek_function(pawl_easy *easy, pawl_curl_seek function) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}

pawl_curl_code pawl_easy_set_header_function(pawl_easy *easy, pawl_curl_write function) {
    return curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, function);
}

pawl_curl_code pawl_easy_set_open_socket_function(pawl_easy *easy, pawl_curl_open_socket function) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

pawl_curl_code pawl_easy_set_close_socket_function(pawl_easy *easy, pawl_curl_close_socket function) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}

pawl_curl_code pawl_easy_set_prerequest_function(pawl_easy *easy, pawl_curl_prerequest function) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

pawl_curl_code pawl_easy_continue(pawl_easy *easy) { return curl_easy_pause(easy, CURLPAUSE_CONT); }

void *pawl_easy_private(pawl_easy *easy) {
    void *value = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
    return value;
}

long pawl_easy_connect_status(pawl_easy *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status;
}

pawl_list *pawl_list_append(pawl_list *list, const char *string) { return curl_slist_append(list, string); }

void pawl_list_destroy(pawl_list *list) { curl_slist_free_all(list); }

pawl_share *pawl_share_create(void) {
    void *share = curl_share_init();
    if (share && curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) != 0) {
        curl_share_cleanup(share);
        return NULL;
    }
    return share;
}

void pawl_share_destroy(pawl_share *share) { curl_share_cleanup(share); }
