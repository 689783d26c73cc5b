#define _GNU_SOURCE
#include "CSystemTerminal.h"
#include "spawn_leader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int csystem_pty_resize(int terminal, unsigned short columns, unsigned short rows) {
    struct winsize window = {.ws_col = columns, .ws_row = rows};
    return ioctl(terminal, TIOCSWINSZ, &window);
}

int csystem_pty_open(unsigned short columns, unsigned short rows, char *path, size_t length) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return -1;
    if (grantpt(terminal) != 0 || unlockpt(terminal) != 0 || ptsname_r(terminal, path, length) != 0
        || csystem_pty_resize(terminal, columns, rows) != 0) {
        int saved = errno;
        close(terminal);
        errno = saved;
        return -1;
    }
    return terminal;
}

pid_t csystem_pty_spawn(const char *path, char *const arguments[], char *const environment[]) {
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    if ((errno = posix_spawn_file_actions_init(&actions)) != 0) return -1;
    // The first terminal that the leader of a session opens becomes its controlling terminal.
    posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&actions, 0, 1);
    posix_spawn_file_actions_adddup2(&actions, 0, 2);
    int failure = spawn_leader(&child, arguments[0], &actions, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) {
        errno = failure;
        return -1;
    }
    return child;
}

pid_t csystem_pty_wait(pid_t child, int options, int *outcome) {
    int status = 0;
    pid_t changed;
    do {
        changed = waitpid(child, &status, options);
    } while (changed < 0 && errno == EINTR);
    if (changed <= 0) return changed;
    *outcome = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    return changed;
}

int csystem_pty_exit_descriptor(pid_t child) {
    return (int)syscall(SYS_pidfd_open, child, 0);
}
