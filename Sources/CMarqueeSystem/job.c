#define _GNU_SOURCE
#include "CSystemJob.h"
#include "spawn_leader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DESCRIPTOR_LIMIT = 8 };

pid_t csystem_spawn_session(
    const char *path, char *const arguments[], char *const environment[], const int descriptors[], int count) {
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    int copies[DESCRIPTOR_LIMIT];
    int made = 0;
    int failure = count <= DESCRIPTOR_LIMIT ? 0 : EINVAL;
    // Copy above all targets first: dup2 in order must not overwrite a later source.
    for (; failure == 0 && made < count; made++) {
        copies[made] = fcntl(descriptors[made], F_DUPFD_CLOEXEC, DESCRIPTOR_LIMIT);
        if (copies[made] < 0) {
            failure = errno;
            break;
        }
    }
    if (failure == 0) failure = posix_spawn_file_actions_init(&actions);
    if (failure == 0) {
        for (int target = 0; target < count; target++) {
            posix_spawn_file_actions_adddup2(&actions, copies[target], target);
        }
        posix_spawn_file_actions_addclosefrom_np(&actions, count);
        posix_spawn_file_actions_addchdir_np(&actions, "/");
        failure = spawn_leader(&child, path, &actions, arguments, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    while (made > 0) close(copies[--made]);
    if (failure != 0) {
        errno = failure;
        return -1;
    }
    return child;
}

void csystem_reap(pid_t child) {
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
}
