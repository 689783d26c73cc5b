#define _GNU_SOURCE
#include "CMarqueeSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

void csystem_set_mmap_threshold(int size) {
    mallopt(M_MMAP_THRESHOLD, size);
}

ssize_t csystem_send_two(int socket, const void *first, size_t first_size, const void *second, size_t second_size) {
    struct iovec blocks[2] = {{(void *)first, first_size}, {(void *)second, second_size}};
    struct msghdr message = {.msg_iov = blocks, .msg_iovlen = 2};
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

int csystem_accept(int listening, struct sockaddr *address, socklen_t *length) {
    return accept4(listening, address, length, SOCK_CLOEXEC);
}

int csystem_open(const char *path, int flags, mode_t mode) {
    return open(path, flags | O_CLOEXEC, mode);
}

int csystem_open_unnamed(const char *folder) {
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int csystem_open_temporary(char *path) { return mkostemp(path, O_CLOEXEC); }

int csystem_open_noatime(int folder, const char *path) {
    return openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOATIME);
}

void csystem_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

int csystem_connect_local(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    close(descriptor);
    return -1;
}

int csystem_open_route_socket(unsigned groups) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (descriptor >= 0 && bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int reason = errno;
        close(descriptor);
        errno = reason;
        return -1;
    }
    return descriptor;
}

void csystem_trim_memory(void) {
#ifdef __GLIBC__
    // Where another allocator stands in for glibc's (a sanitizer's, jemalloc), the first call to malloc_trim
    // sets glibc's up, and a second one at the same time would read it half made: one at a time.
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    malloc_trim(0);
    pthread_mutex_unlock(&lock);
#endif
}
