#define _GNU_SOURCE
#include "CMarqueeCurl.h"
#include "CMarqueeSystem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    GLOBAL_DEFAULT = 3,
    MULTI_SOCKET_FUNCTION = 20001,
    MULTI_SOCKET_DATA = 10002,
    MULTI_TIMER_FUNCTION = 20004,
    MULTI_TIMER_DATA = 10005,
    MULTI_MAX_CONNECTS = 6,
    MULTI_MAX_HOST_CONNECTIONS = 7,
    SOCKET_TIMEOUT = -1,
    MESSAGE_DONE = 1,
    PAUSE_NOTHING = 0,
};

// struct CURLMsg of multi.h.
struct message {
    int kind;
    ccurl_easy *easy;
    union {
        void *whatever;
        int result;
    } data;
};

// The functions of libcurl: result, name without `curl_`, parameters.
#define FUNCTIONS(F) \
    F(int, global_init, (long)) \
    F(char *, version, (void)) \
    F(ccurl_easy *, easy_init, (void)) \
    F(void, easy_cleanup, (ccurl_easy *)) \
    F(int, easy_setopt, (ccurl_easy *, int, ...)) \
    F(int, easy_getinfo, (ccurl_easy *, int, ...)) \
    F(int, easy_pause, (ccurl_easy *, int)) \
    F(const char *, easy_strerror, (int)) \
    F(ccurl_list *, slist_append, (ccurl_list *, const char *)) \
    F(void, slist_free_all, (ccurl_list *)) \
    F(ccurl_multi *, multi_init, (void)) \
    F(int, multi_cleanup, (ccurl_multi *)) \
    F(int, multi_setopt, (ccurl_multi *, int, ...)) \
    F(int, multi_add_handle, (ccurl_multi *, ccurl_easy *)) \
    F(int, multi_remove_handle, (ccurl_multi *, ccurl_easy *)) \
    F(int, multi_socket_action, (ccurl_multi *, int, int, int *)) \
    F(struct message *, multi_info_read, (ccurl_multi *, int *))

#define POINTER(result, name, parameters) result(*name) parameters;
static struct { FUNCTIONS(POINTER) } curl;

// Each thread in libcurl holds it for reading. Writers go first: the end of the process waits for the threads inside,
// and new ones do not enter.
static pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

// Runs before the TLS library frees its memory at the end of the process: see `start`.
static void shut_gate(void) {
    struct timespec latest;
    clock_gettime(CLOCK_REALTIME, &latest);
    // No call into libcurl takes nearly as long. The limit is for a callback that ends the process: it would wait for
    // itself.
    latest.tv_sec += 2;
    pthread_rwlock_timedwrlock(&gate, &latest);
}

void ccurl_enter(void) { pthread_rwlock_rdlock(&gate); }
void ccurl_leave(void) { pthread_rwlock_unlock(&gate); }

// Keeps OpenSSL, if libcurl uses it and it is not initialised yet, from registering its own exit handler. That handler
// would be registered during initialisation, so after ours, and would run before ours: a process that ends during
// initialisation would free memory still in use. OpenSSL's forks have the function and ignore the option.
static void keep_tls_at_exit(void *handle) {
    enum { NO_LOAD_CONFIG = 0x80, NO_ATEXIT = 0x80000 };
    int (*init)(uint64_t, const void *);
    *(void **)&init = dlsym(handle, "OPENSSL_init_crypto");
    if (init != NULL) (void)init(NO_LOAD_CONFIG | NO_ATEXIT, NULL);
}

// Initialises libcurl and its TLS library. The end of the process waits for it and for every later call. Exit handlers
// run in the reverse order of registration, so the handlers of others may free what they like afterwards.
static int start(void *handle) {
    keep_tls_at_exit(handle);
    // It fails only without memory; the process then ends as it would without the handler.
    (void)atexit(shut_gate);
    ccurl_enter();
    int result = curl.global_init(GLOBAL_DEFAULT);
    ccurl_leave();
    return result;
}

#define ENTRY(result, name, parameters) {"curl_" #name, &curl.name},

int ccurl_open(const char *library, char *reason, size_t reason_size) {
    const struct csystem_function functions[] = {FUNCTIONS(ENTRY)};
    void *handle = csystem_open_library(library, functions, sizeof functions / sizeof functions[0], reason, reason_size);
    if (handle == NULL) return -1;
    int result = start(handle);
    if (result != CCURLE_OK) {
        snprintf(reason, reason_size, "%s: %s", library, curl.easy_strerror(result));
        return -1;
    }
    return 0;
}

const char *ccurl_version(void) { return curl.version(); }

ccurl_easy *ccurl_easy_init(void) { return curl.easy_init(); }
void ccurl_easy_cleanup(ccurl_easy *easy) { curl.easy_cleanup(easy); }

int ccurl_easy_set_long(ccurl_easy *easy, int option, long value) {
    return curl.easy_setopt(easy, option, value);
}
int ccurl_easy_set_pointer(ccurl_easy *easy, int option, const void *value) {
    return curl.easy_setopt(easy, option, value);
}
int ccurl_easy_set_data_callback(ccurl_easy *easy, int option, ccurl_data_callback callback) {
    return curl.easy_setopt(easy, option, callback);
}
int ccurl_easy_set_seek_callback(ccurl_easy *easy, int option, ccurl_seek_callback callback) {
    return curl.easy_setopt(easy, option, callback);
}
int ccurl_easy_set_socket_callback(ccurl_easy *easy, int option, ccurl_open_socket_callback callback) {
    return curl.easy_setopt(easy, option, callback);
}
int ccurl_easy_set_request_callback(ccurl_easy *easy, int option, ccurl_request_callback callback) {
    return curl.easy_setopt(easy, option, callback);
}
int ccurl_easy_set_integer(ccurl_easy *easy, int option, int64_t value) {
    return curl.easy_setopt(easy, option, value);
}
int ccurl_easy_get_long(ccurl_easy *easy, int info, long *value) {
    return curl.easy_getinfo(easy, info, value);
}
int ccurl_easy_get_integer(ccurl_easy *easy, int info, int64_t *value) {
    return curl.easy_getinfo(easy, info, value);
}
int ccurl_easy_get_pointer(ccurl_easy *easy, int info, void **value) {
    return curl.easy_getinfo(easy, info, value);
}
int ccurl_easy_resume(ccurl_easy *easy) { return curl.easy_pause(easy, PAUSE_NOTHING); }
const char *ccurl_easy_strerror(int result) { return curl.easy_strerror(result); }

ccurl_list *ccurl_list_append(ccurl_list *list, const char *line) { return curl.slist_append(list, line); }
void ccurl_list_free(ccurl_list *list) { curl.slist_free_all(list); }

ccurl_multi *ccurl_multi_init(ccurl_socket_callback sockets, ccurl_timer_callback timer, void *context) {
    ccurl_multi *multi = curl.multi_init();
    if (multi == NULL) return NULL;
    curl.multi_setopt(multi, MULTI_SOCKET_FUNCTION, sockets);
    curl.multi_setopt(multi, MULTI_SOCKET_DATA, context);
    curl.multi_setopt(multi, MULTI_TIMER_FUNCTION, timer);
    curl.multi_setopt(multi, MULTI_TIMER_DATA, context);
    return multi;
}
void ccurl_multi_cleanup(ccurl_multi *multi) { curl.multi_cleanup(multi); }
int ccurl_multi_set_connection_cache(ccurl_multi *multi, long count) {
    return curl.multi_setopt(multi, MULTI_MAX_CONNECTS, count);
}
int ccurl_multi_set_host_connections(ccurl_multi *multi, long count) {
    return curl.multi_setopt(multi, MULTI_MAX_HOST_CONNECTIONS, count);
}
int ccurl_multi_add(ccurl_multi *multi, ccurl_easy *easy) { return curl.multi_add_handle(multi, easy); }
int ccurl_multi_remove(ccurl_multi *multi, ccurl_easy *easy) { return curl.multi_remove_handle(multi, easy); }
int ccurl_multi_ready(ccurl_multi *multi, int socket, int ready) {
    int running;
    return curl.multi_socket_action(multi, socket, ready, &running);
}
int ccurl_multi_timeout(ccurl_multi *multi) {
    int running;
    return curl.multi_socket_action(multi, SOCKET_TIMEOUT, 0, &running);
}
ccurl_easy *ccurl_multi_next_ended(ccurl_multi *multi, int *result) {
    struct message *message;
    int left;
    while ((message = curl.multi_info_read(multi, &left)) != NULL) {
        if (message->kind != MESSAGE_DONE) continue;
        *result = message->data.result;
        return message->easy;
    }
    return NULL;
}
