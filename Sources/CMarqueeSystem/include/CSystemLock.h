// Locks that end with their process (fcntl(2), open file description locks).
#ifndef CSYSTEM_LOCK_H
#define CSYSTEM_LOCK_H

#include <sys/types.h>

/// Locks `count` bytes of a file from `start` on, even beyond its end, for this open file description, which copies in other
/// processes share: 0, or -1 and errno (EAGAIN if another description has one of the bytes). A count of 0 means all bytes
/// from `start` on.
int csystem_lock_bytes(int file, off_t start, off_t count);

/// Releases that lock, for the copies too.
void csystem_unlock_bytes(int file, off_t start, off_t count);

/// Whether another open file description has the lock: 0 or 1, or -1 and errno. Takes no lock.
int csystem_is_locked(int file);

/// Whether the file is on a network file system: 0 or 1, or -1 and errno.
int csystem_is_remote(int file);

#endif
