#ifndef SPAWN_LEADER_H
#define SPAWN_LEADER_H

#include <spawn.h>
#include <sys/types.h>

/// Starts a program as the leader of a new session with default signal handling: 0, or an error number.
int spawn_leader(
    pid_t *child, const char *path, const posix_spawn_file_actions_t *actions, char *const arguments[],
    char *const environment[]);

#endif
