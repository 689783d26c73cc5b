// What Swift's Glibc module hides because the C headers show it only under _GNU_SOURCE,
// or because the call is variadic.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include "CSystemJob.h"
#include "CSystemTerminal.h"

#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/types.h>

/// From now on the heap asks the system for each block of `size` bytes or more on its own, and gives it back when it is
/// freed (mallopt's M_MMAP_THRESHOLD).
void csystem_heap_returns_blocks(int size);

/// accept4 with SOCK_CLOEXEC: the accepted descriptor, or -1 and errno.
int csystem_accept(int listening, struct sockaddr *address, socklen_t *length);

/// open with O_CLOEXEC added to the flags: a descriptor, or -1 and errno.
int csystem_open(const char *path, int flags, mode_t mode);

/// A file in `folder` that has no name, open for reading and writing with O_CLOEXEC: a descriptor, or -1 and errno. Not
/// every file system can make one.
int csystem_open_unnamed(const char *folder);

/// A new file, open for reading and writing with O_CLOEXEC: a descriptor, or -1 and errno. The path ends with XXXXXX, in
/// the place of which its name is written.
int csystem_open_temporary(char *path);

/// openat for reading that waits for nothing (O_NONBLOCK), follows no link in the last part of the path and leaves
/// the access time alone (O_NOATIME): a descriptor, or -1 and errno.
int csystem_open_untouched(int folder, const char *path);

/// openat of one entry of a folder with O_CLOEXEC and O_NOFOLLOW added: a descriptor, or -1 and errno.
int csystem_open_entry(int folder, const char *name, int flags);

/// The name that ps, perf and debuggers show for the calling thread; its first 15 bytes.
void csystem_name_thread(const char *name);

/// Connects a stream socket of its own, which waits for nothing, to the local socket at `path`: a descriptor, or -1 and
/// errno.
int csystem_connect_local(const char *path);

/// A socket of rtnetlink that waits for nothing and is told of these groups' changes: a descriptor, or -1 and errno.
int csystem_open_route_socket(unsigned groups);

/// The next datagram that the kernel has sent there: its bytes, or -1 and errno. Those of other processes are passed over.
ssize_t csystem_receive_route(int descriptor, void *buffer, size_t size);

/// Gives the memory that is free, but kept by the allocator, back to the system.
void csystem_trim_memory(void);

#endif
