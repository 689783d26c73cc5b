// System calls that Swift's Glibc module hides: those that need _GNU_SOURCE, and variadic ones.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include "CSystemJob.h"
#include "CSystemLibrary.h"
#include "CSystemLock.h"
#include "CSystemTerminal.h"

#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/types.h>

/// Makes the allocator map each block of `size` bytes or more separately, and unmap it when it is freed (mallopt's
/// M_MMAP_THRESHOLD).
void csystem_set_mmap_threshold(int size);

/// accept4 with SOCK_CLOEXEC: the accepted descriptor, or -1 and errno.
int csystem_accept(int listening, struct sockaddr *address, socklen_t *length);

/// Sends two blocks of bytes to a socket in one call (sendmsg with MSG_NOSIGNAL): the number of bytes, or -1 and errno.
ssize_t csystem_send_two(int socket, const void *first, size_t first_size, const void *second, size_t second_size);

/// open with O_CLOEXEC added to the flags: a descriptor, or -1 and errno.
int csystem_open(const char *path, int flags, mode_t mode);

/// Creates a file without a name in `folder`, for reading and writing, with O_CLOEXEC: a descriptor, or -1 and errno.
/// Not every file system supports it.
int csystem_open_unnamed(const char *folder);

/// Creates a file for reading and writing, with O_CLOEXEC: a descriptor, or -1 and errno. Replaces the XXXXXX at the
/// end of the path.
int csystem_open_temporary(char *path);

/// openat for reading, without blocking (O_NONBLOCK), following a link in the last component or changing the access
/// time (O_NOATIME): a descriptor, or -1 and errno.
int csystem_open_noatime(int folder, const char *path);

/// Names the calling thread for ps, perf and debuggers; Linux keeps the first 15 bytes.
void csystem_name_thread(const char *name);

/// Connects a new non-blocking stream socket to the local socket at `path`: a descriptor, or -1 and errno.
int csystem_connect_local(const char *path);

/// Opens a non-blocking rtnetlink socket that receives these groups' changes: a descriptor, or -1 and errno.
int csystem_open_route_socket(unsigned groups);

/// Returns free memory that the allocator keeps to the system.
void csystem_trim_memory(void);

#endif
