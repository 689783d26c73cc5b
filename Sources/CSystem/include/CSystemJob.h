// A process of its own that goes on when this one ends, and a lock that it keeps.
#ifndef CSYSTEM_JOB_H
#define CSYSTEM_JOB_H

#include <sys/types.h>

/// Starts a program as the leader of a new session without a terminal, in the folder `/`, all signals at their defaults.
/// The `count` descriptors become its 0, 1, 2, ...; it gets no others. Its id, or -1 and errno.
pid_t csystem_spawn_session(
    const char *path, char *const arguments[], char *const environment[], const int descriptors[], int count);

/// Waits for the end of a child that nobody asks about.
void csystem_reap(pid_t child);

/// Locks a file for this open file description and its copies, in other processes too (F_OFD_SETLK): 0, or -1 and errno,
/// which is EAGAIN where another has it.
int csystem_lock_whole(int file);

/// Gives up that lock, for the copies too.
void csystem_unlock_whole(int file);

/// Whether another open file description has the file locked. Takes no lock itself. 0 or 1, or -1 and errno.
int csystem_is_locked(int file);

#endif
