#define _GNU_SOURCE
#include "CSystem.h"

#include <fcntl.h>

int csystem_accept(int listening, struct sockaddr *address, socklen_t *length) {
    return accept4(listening, address, length, SOCK_CLOEXEC);
}

int csystem_open(const char *path, int flags, mode_t mode) {
    return open(path, flags | O_CLOEXEC, mode);
}
