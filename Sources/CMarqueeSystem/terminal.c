#define _GNU_SOURCE
#include "CSystemTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int csystem_terminal_size(int terminal, unsigned short size[4]) {
    struct winsize window;
    if (ioctl(terminal, TIOCGWINSZ, &window) != 0) return -1;
    size[0] = window.ws_col;
    size[1] = window.ws_row;
    size[2] = window.ws_xpixel;
    size[3] = window.ws_ypixel;
    return 0;
}

void csystem_terminal_set_cbreak(struct termios *settings) {
    settings->c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL);
    settings->c_cc[VMIN] = 1;
    settings->c_cc[VTIME] = 0;
}

int csystem_terminal_push_input(int terminal, const void *bytes, size_t length) {
    for (size_t index = 0; index < length; index += 1) {
        if (ioctl(terminal, TIOCSTI, (const char *)bytes + index) != 0) return -1;
    }
    return 0;
}

// The data of the signal handler. There are two copies: the handler reads the one in use, which is never written. A
// change goes to the other copy, which then becomes the one in use by one atomic store. Callers of guard and unguard
// take turns.
struct restoration {
    int terminal;
    struct termios original;
    size_t length;
    char leave[CSYSTEM_TERMINAL_LEAVE_LIMIT];
};

static struct restoration restorations[2];
static _Atomic(struct restoration *) in_use;
// Set for good when the process ends. The copy that was in use then stays as it is, although none is in use any more.
static atomic_bool is_ending;

// The actions before ours, and whether ours are installed. By signal number.
static struct sigaction before[NSIG];
static bool is_installed[NSIG];

static void install(int signal, const struct sigaction *action, bool unless_ignored) {
    if (is_installed[signal] || sigaction(signal, NULL, &before[signal]) != 0) return;
    if (unless_ignored && before[signal].sa_handler == SIG_IGN) return;
    is_installed[signal] = sigaction(signal, action, NULL) == 0;
}

static void uninstall(int signal) {
    if (is_installed[signal]) sigaction(signal, &before[signal], NULL);
    is_installed[signal] = false;
}

// Whether the signal's default action ends the process (signal(7)). The C library keeps the first real-time signals for
// itself.
static bool is_deadly(int signal) {
    switch (signal) {
    case SIGKILL:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCONT:
    case SIGCHLD:
    case SIGURG:
    case SIGWINCH: return false;
    default: return signal < __SIGRTMIN || signal >= SIGRTMIN;
    }
}

// From here to the end of die: only async-signal-safe functions (signal-safety(7)).
static void write_all(int descriptor, const char *bytes, size_t length) {
    // A terminal that accepts nothing must not hold up a dying process.
    int patience = 100;
    while (length > 0) {
        ssize_t written = write(descriptor, bytes, length);
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        } else if ((errno != EINTR && errno != EAGAIN) || --patience == 0) {
            return;
        }
    }
}

// Takes the terminal from the program's other threads, which run on until the process ends and may be drawing: what
// they write from now on goes into a pipe that nobody reads. A write that has begun ends first, because the kernel lets
// one write at a time into a terminal. Returns another descriptor of the terminal; the same one, and takes nothing, if
// the system has no descriptors left.
static int take_terminal(int terminal) {
    int nowhere[2];
    int own = fcntl(terminal, F_DUPFD_CLOEXEC, 0);
    if (own < 0 || pipe2(nowhere, O_CLOEXEC) != 0) return terminal;
    dup2(nowhere[1], terminal);
    return own;
}

static void restore(void) {
    // Before the copy is taken: guard, which sees that none is in use, then sees this too.
    atomic_store(&is_ending, true);
    // Two threads may crash at once: the first restores.
    struct restoration *mine = atomic_exchange(&in_use, NULL);
    if (mine == NULL) return;
    int terminal = take_terminal(mine->terminal);
    write_all(terminal, mine->leave, mine->length);
    tcsetattr(terminal, TCSANOW, &mine->original);
}

static void die(int signal) {
    int saved = errno;
    // All signals are blocked here, SIGTTOU too, so this works in the background.
    restore();
    // SIGQUIT is no crash: the Swift runtime would ask on the terminal for a debugger command.
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(signal, signal == SIGQUIT ? &standard : &before[signal], NULL);
    // Pending until the handler returns; then the previous action runs.
    raise(signal);
    errno = saved;
}

enum { own_stack_size = 64 * 1024 };
static pthread_key_t own_stack;

static void free_own_stack(void *memory) {
    stack_t none = {.ss_flags = SS_DISABLE};
    if (sigaltstack(&none, NULL) == 0) munmap(memory, own_stack_size);
}

// After a stack overflow the handler needs another stack. Two threads may overflow at once, so each that guards has its
// own, until it ends.
static void use_own_stack(void) {
    stack_t now;
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
    static bool has_key;
    if (!has_key && pthread_key_create(&own_stack, free_own_stack) != 0) return;
    has_key = true;
    void *memory = mmap(NULL, own_stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t own = {.ss_sp = memory, .ss_size = own_stack_size};
    if (pthread_setspecific(own_stack, memory) == 0) {
        sigaltstack(&own, NULL);
    } else {
        munmap(memory, own_stack_size);
    }
}

static void begin_guarding(void) {
    use_own_stack();
    struct sigaction action = {.sa_handler = die, .sa_flags = SA_ONSTACK};
    sigfillset(&action.sa_mask);
    for (int signal = 1; signal < NSIG; signal++) {
        if (is_deadly(signal)) install(signal, &action, true);
    }
}

static int signal_pipe[2] = {-1, -1};
static sem_t continued;
static atomic_bool is_stopping;

static void report(int signal) {
    int saved = errno;
    unsigned char number = (unsigned char)signal;
    // A full pipe wakes the reader already.
    if (write(signal_pipe[1], &number, 1) < 0) errno = saved;
    if (signal == SIGCONT && atomic_exchange(&is_stopping, false)) sem_post(&continued);
    errno = saved;
}

static void begin_reporting(int signal) {
    struct sigaction action = {.sa_handler = report, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    // Nobody could continue a program that was started with SIGTSTP ignored.
    install(signal, &action, signal == SIGTSTP);
}

int csystem_terminal_signals(void) {
    if (signal_pipe[0] >= 0) return signal_pipe[0];
    if (sem_init(&continued, 0, 0) != 0) return -1;
    if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    return signal_pipe[0];
}

void csystem_terminal_stop(void) {
    struct sigaction stopping;
    if (csystem_terminal_signals() < 0) return;
    if (sigaction(SIGTSTP, NULL, &stopping) != 0 || stopping.sa_handler == SIG_IGN) return;
    begin_reporting(SIGCONT);
    atomic_store(&is_stopping, true);
    kill(0, SIGTSTP);
    // The stop takes effect when a thread of ours takes the signal, which may be after kill returns: only SIGCONT marks
    // its end. The kernel drops the signal for an orphaned group, so the wait has a deadline. The clock of a stopped
    // process runs on, so a real stop ends the wait too.
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 1;
    while (sem_timedwait(&continued, &deadline) != 0 && errno == EINTR) {
    }
    // A SIGCONT that arrived at the deadline must not count for the next stop.
    atomic_store(&is_stopping, false);
    while (sem_trywait(&continued) == 0) {
    }
    uninstall(SIGCONT);
}

int csystem_terminal_guard(int terminal, const struct termios *original, const void *leave, size_t length) {
    if (length > CSYSTEM_TERMINAL_LEAVE_LIMIT) {
        errno = EINVAL;
        return -1;
    }
    if (csystem_terminal_signals() < 0) return -1;
    struct restoration *other = &restorations[atomic_load(&in_use) == &restorations[0] ? 1 : 0];
    if (atomic_load(&is_ending)) return 0;
    other->terminal = terminal;
    other->original = *original;
    other->length = length;
    memcpy(other->leave, leave, length);
    atomic_store(&in_use, other);
    begin_guarding();
    begin_reporting(SIGTSTP);
    begin_reporting(SIGCONT);
    begin_reporting(SIGWINCH);
    // For an exit with the guard on; after unguard it does nothing.
    static bool is_registered;
    if (!is_registered) is_registered = atexit(restore) == 0;
    return 0;
}

void csystem_terminal_unguard(void) {
    atomic_store(&in_use, NULL);
    for (int signal = 1; signal < NSIG; signal++) uninstall(signal);
}
