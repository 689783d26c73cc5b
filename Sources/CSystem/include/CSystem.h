// What Swift's Glibc module hides because the C headers show it only under _GNU_SOURCE,
// or because the call is variadic.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/// accept4 with SOCK_CLOEXEC: the accepted descriptor, or -1 and errno.
int csystem_accept(int listening, struct sockaddr *address, socklen_t *length);

/// open with O_CLOEXEC added to the flags: a descriptor, or -1 and errno.
int csystem_open(const char *path, int flags, mode_t mode);

#endif
