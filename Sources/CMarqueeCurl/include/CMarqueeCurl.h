// libcurl, opened at run time. Every machine with Swift's Foundation has its shared library, but not its headers. The
// prototypes and numbers below are the part of its published ABI that Marquee uses; the ABI has been stable since
// libcurl 7.16 (so.4). Numbers: https://curl.se/libcurl/c/symbols-in-versions.html
#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/// One transfer (CURL *) and a set of transfers that share connections (CURLM *).
typedef struct ccurl_easy ccurl_easy;
typedef struct ccurl_multi ccurl_multi;
/// A list of header lines (struct curl_slist *).
typedef struct ccurl_list ccurl_list;

/// Receives bytes of a body, or one header line, and returns how many it took; fewer than given stops the transfer. For
/// a request body it fills the buffer instead and returns the number of bytes.
typedef size_t (*ccurl_data_callback)(char *bytes, size_t size, size_t count, void *context);
/// Repositions the request body to `offset`; returns CCURL_SEEK_…. The origin is always SEEK_SET.
typedef int (*ccurl_seek_callback)(void *context, int64_t offset, int origin);
/// struct curl_sockaddr. `address` is longer than its type: it has `length` bytes.
typedef struct {
    int family;
    int kind;
    int protocol;
    unsigned int length;
    struct sockaddr address;
} ccurl_socket_address;
/// Opens a socket for a connection to an address that libcurl has looked up; CCURL_SOCKET_BAD refuses the address.
typedef int (*ccurl_open_socket_callback)(void *context, int purpose, ccurl_socket_address *address);
/// Told the addresses and ports of the connection, new or reused, just before a request is sent on it. Returns
/// CCURL_REQUEST_OK or CCURL_REQUEST_ABORT.
typedef int (*ccurl_request_callback)(void *context, char *remote, char *local, int remote_port, int local_port);
/// Told which socket to watch, and for which events (CCURL_POLL_…).
typedef int (*ccurl_socket_callback)(ccurl_easy *easy, int socket, int what, void *context, void *socket_context);
/// Told the time after which to call ccurl_multi_timeout; -1 for never.
typedef int (*ccurl_timer_callback)(ccurl_multi *multi, long milliseconds, void *context);

/// Options of a transfer, by libcurl's own names and numbers.
enum {
    CCURLOPT_WRITEDATA = 10001,
    CCURLOPT_READDATA = 10009,
    CCURLOPT_READFUNCTION = 20012,
    CCURLOPT_CUSTOMREQUEST = 10036,
    CCURLOPT_NOBODY = 44,
    CCURLOPT_UPLOAD = 46,
    CCURLOPT_FRESH_CONNECT = 74,
    CCURLOPT_SEEKFUNCTION = 20167,
    CCURLOPT_SEEKDATA = 10168,
    CCURLOPT_INFILESIZE_LARGE = 30115,
    CCURLOPT_URL = 10002,
    CCURLOPT_PROXY = 10004,
    CCURLOPT_WRITEFUNCTION = 20011,
    CCURLOPT_HTTPHEADER = 10023,
    CCURLOPT_HEADERDATA = 10029,
    CCURLOPT_NOSIGNAL = 99,
    CCURLOPT_BUFFERSIZE = 98,
    CCURLOPT_PRIVATE = 10103,
    CCURLOPT_HEADERFUNCTION = 20079,
    CCURLOPT_HTTP_VERSION = 84,
    CCURLOPT_CONNECTTIMEOUT_MS = 156,
    CCURLOPT_PROTOCOLS = 181,
    CCURLOPT_PIPEWAIT = 237,
    CCURLOPT_CONNECT_TO = 10243,
    CCURLOPT_QUICK_EXIT = 322,
    CCURLOPT_NOPROXY = 10177,
    CCURLOPT_SUPPRESS_CONNECT_HEADERS = 265,
    CCURLOPT_SSLVERSION = 32,
    CCURLOPT_SSL_VERIFYPEER = 64,
    CCURLOPT_SSL_VERIFYHOST = 81,
    CCURLOPT_CAINFO = 10065,
    CCURLOPT_CAPATH = 10097,
    CCURLOPT_SSL_CIPHER_LIST = 10083,
    CCURLOPT_PINNEDPUBLICKEY = 10230,
    CCURLOPT_SSLCERT = 10025,
    CCURLOPT_SSLKEY = 10087,
    CCURLOPT_KEYPASSWD = 10026,
    CCURLOPT_USERNAME = 10173,
    CCURLOPT_PASSWORD = 10174,
    CCURLOPT_AWS_SIGV4 = 10305,
    CCURLOPT_OPENSOCKETFUNCTION = 20163,
    CCURLOPT_OPENSOCKETDATA = 10164,
    CCURLOPT_PREREQFUNCTION = 20312,
    CCURLOPT_PREREQDATA = 10313,
};

/// Values of those options.
enum {
    CCURL_PROTOCOLS_HTTP_HTTPS = 3,
    CCURL_HTTP_VERSION_2TLS = 4,
    CCURL_SSLVERSION_TLSV1_0 = 4,
    CCURL_POLL_REMOVE = 4,
    CCURL_POLL_IN = 1,
    CCURL_POLL_OUT = 2,
    CCURL_READY_IN = 1,
    CCURL_READY_OUT = 2,
    CCURL_READY_ERROR = 4,
};

/// Return value of the callback for a body: keep these bytes, and read no more until ccurl_easy_resume.
enum {
    CCURL_WRITE_PAUSE = 0x10000001,
};

/// Return values of the callbacks for a request body.
enum {
    CCURL_READ_ABORT = 0x10000000,
    CCURL_SEEK_OK = 0,
    CCURL_SEEK_FAIL = 1,
};

/// Return values of the callbacks that check addresses.
enum {
    CCURL_SOCKET_BAD = -1,
    CCURL_REQUEST_OK = 0,
    CCURL_REQUEST_ABORT = 1,
};

/// Facts about a transfer.
enum {
    CCURLINFO_PRIVATE = 0x100015,
    CCURLINFO_HTTP_VERSION = 0x20002e,
    CCURLINFO_NUM_CONNECTS = 0x20001a,
    CCURLINFO_OS_ERRNO = 0x200019,
    CCURLINFO_NAMELOOKUP_TIME_T = 0x600033,
    CCURLINFO_CONNECT_TIME_T = 0x600034,
    CCURLINFO_PRETRANSFER_TIME_T = 0x600035,
    CCURLINFO_STARTTRANSFER_TIME_T = 0x600036,
    CCURLINFO_APPCONNECT_TIME_T = 0x600038,
};

/// Results of a transfer (CURLcode) that Marquee tells apart.
enum {
    CCURLE_OK = 0,
    CCURLE_URL_MALFORMAT = 3,
    CCURLE_COULDNT_RESOLVE_HOST = 6,
    CCURLE_COULDNT_CONNECT = 7,
    CCURLE_HTTP2 = 16,
    CCURLE_PARTIAL_FILE = 18,
    CCURLE_OUT_OF_MEMORY = 27,
    CCURLE_OPERATION_TIMEDOUT = 28,
    CCURLE_SSL_CONNECT_ERROR = 35,
    CCURLE_GOT_NOTHING = 52,
    CCURLE_SEND_ERROR = 55,
    CCURLE_RECV_ERROR = 56,
    CCURLE_SEND_FAIL_REWIND = 65,
    CCURLE_SSL_CERTPROBLEM = 58,
    CCURLE_SSL_CIPHER = 59,
    CCURLE_PEER_FAILED_VERIFICATION = 60,
    CCURLE_SSL_CACERT_BADFILE = 77,
    CCURLE_SSL_PINNEDPUBKEYNOTMATCH = 90,
    CCURLE_HTTP2_STREAM = 92,
};

/// Opens `library` and looks up its functions: 0, or -1 with the reason in `reason`. Call it once, before any other
/// function here.
int ccurl_open(const char *library, char *reason, size_t reason_size);
/// The version string of the opened library, such as "libcurl/7.88.1 OpenSSL/3.0.19".
const char *ccurl_version(void);

/// Enclose every use of easy and multi handles, but not waiting. When the process ends, exit handlers free the TLS
/// library's memory; from then on `ccurl_enter` does not return.
void ccurl_enter(void);
void ccurl_leave(void);

ccurl_easy *ccurl_easy_init(void);
void ccurl_easy_cleanup(ccurl_easy *easy);
int ccurl_easy_set_long(ccurl_easy *easy, int option, long value);
int ccurl_easy_set_pointer(ccurl_easy *easy, int option, const void *value);
int ccurl_easy_set_data_callback(ccurl_easy *easy, int option, ccurl_data_callback callback);
int ccurl_easy_set_seek_callback(ccurl_easy *easy, int option, ccurl_seek_callback callback);
int ccurl_easy_set_socket_callback(ccurl_easy *easy, int option, ccurl_open_socket_callback callback);
int ccurl_easy_set_request_callback(ccurl_easy *easy, int option, ccurl_request_callback callback);
int ccurl_easy_set_integer(ccurl_easy *easy, int option, int64_t value);
int ccurl_easy_get_long(ccurl_easy *easy, int info, long *value);
int ccurl_easy_get_integer(ccurl_easy *easy, int info, int64_t *value);
int ccurl_easy_get_pointer(ccurl_easy *easy, int info, void **value);
/// Continues a paused transfer. First gives the kept bytes to the callback, which may pause again. Not for callbacks.
int ccurl_easy_resume(ccurl_easy *easy);
const char *ccurl_easy_strerror(int result);

ccurl_list *ccurl_list_append(ccurl_list *list, const char *line);
void ccurl_list_free(ccurl_list *list);

ccurl_multi *ccurl_multi_init(ccurl_socket_callback sockets, ccurl_timer_callback timer, void *context);
void ccurl_multi_cleanup(ccurl_multi *multi);
/// Sets how many idle connections are kept for reuse.
int ccurl_multi_set_connection_cache(ccurl_multi *multi, long count);
/// The most connections to one host; further transfers wait. 0, the default: any number.
int ccurl_multi_set_host_connections(ccurl_multi *multi, long count);
int ccurl_multi_add(ccurl_multi *multi, ccurl_easy *easy);
int ccurl_multi_remove(ccurl_multi *multi, ccurl_easy *easy);
/// `socket` is ready for CCURL_READY_…
int ccurl_multi_ready(ccurl_multi *multi, int socket, int ready);
/// The time told to the timer callback has come.
int ccurl_multi_timeout(ccurl_multi *multi);
/// The next finished transfer and its result; NULL if there is none.
ccurl_easy *ccurl_multi_next_ended(ccurl_multi *multi, int *result);

#endif
