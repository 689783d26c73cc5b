// A process that continues after this one ends.
#ifndef CSYSTEM_JOB_H
#define CSYSTEM_JOB_H

#include <sys/types.h>

/// Starts a program as the leader of a new session without a terminal, in the folder `/`, with default signal handling.
/// It inherits only the `count` descriptors, as its 0, 1, 2, ...: its process id, or -1 and errno.
pid_t csystem_spawn_session(
    const char *path, char *const arguments[], char *const environment[], const int descriptors[], int count);

/// Waits for the end of a child and drops its exit status.
void csystem_reap(pid_t child);

#endif
