#define _GNU_SOURCE
#include "spawn_leader.h"

#include <signal.h>

int spawn_leader(
    pid_t *child, const char *path, const posix_spawn_file_actions_t *actions, char *const arguments[],
    char *const environment[]) {
    posix_spawnattr_t attributes;
    sigset_t signals;
    int failure = posix_spawnattr_init(&attributes);
    if (failure != 0) return failure;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    failure = posix_spawn(child, path, actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    return failure;
}
