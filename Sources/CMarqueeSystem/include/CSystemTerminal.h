// A terminal's size, its restoration when the process dies, and pseudoterminals for tests.
#ifndef CSYSTEM_TERMINAL_H
#define CSYSTEM_TERMINAL_H

#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

/// The most bytes that csystem_terminal_guard accepts.
#define CSYSTEM_TERMINAL_LEAVE_LIMIT 32768

/// Columns, rows, and the window's width and height in pixels (0 if the terminal does not tell): 0, or -1 and errno.
int csystem_terminal_size(int terminal, unsigned short size[4]);

/// Restores the terminal when the process ends by exit() or by a fatal signal (every one that ends a process by
/// default, crashes included): writes `leave` and sets the modes to `original`. Nothing that other threads write to
/// `terminal` comes after that: the descriptor then leads to a pipe that nobody reads. The signal's previous action
/// follows, so the Swift runtime prints its backtrace to the restored terminal. Ignored signals stay ignored. SIGTSTP,
/// SIGCONT and SIGWINCH are only reported (see csystem_terminal_signals). A second call replaces terminal and bytes; it
/// is safe while a signal arrives. Returns 0, or -1 and errno.
int csystem_terminal_guard(int terminal, const struct termios *original, const void *leave, size_t length);

/// Undoes csystem_terminal_guard.
void csystem_terminal_unguard(void);

/// A non-blocking descriptor for the whole process, or -1 and errno. It gives one byte, the signal's number, for each
/// SIGTSTP, SIGCONT and SIGWINCH between guard and unguard.
int csystem_terminal_signals(void);

/// Stops the process group, as Ctrl-Z does, and returns when it continues; SIGCONT is reported. Call it without a
/// guard. It does not stop if SIGTSTP is ignored or the group is orphaned, because nobody could continue it.
void csystem_terminal_stop(void);

/// Sets cbreak mode without echo: input byte by byte; signal keys and output stay as they are.
void csystem_terminal_set_cbreak(struct termios *settings);

/// Pushes bytes into the terminal's input as if typed (TIOCSTI): 0, or -1 and errno. Many kernels forbid it.
int csystem_terminal_push_input(int terminal, const void *bytes, size_t length);

/// Opens the controlling side of a pseudoterminal and sets its size: a descriptor, or -1 and errno. `path` receives the
/// name of the other side.
int csystem_pty_open(unsigned short columns, unsigned short rows, char *path, size_t length);

/// Sets a terminal's size, which sends SIGWINCH to its foreground processes: 0, or -1 and errno.
int csystem_pty_resize(int terminal, unsigned short columns, unsigned short rows);

/// Starts a program as the leader of a new session, with `path` as its controlling terminal and as its descriptors 0, 1
/// and 2, and default signal handling: its process id, or -1 and errno.
pid_t csystem_pty_spawn(const char *path, char *const arguments[], char *const environment[]);

/// Waits for the end of a child, or polls it (`options` as in waitpid): the child's id, 0 or -1. `outcome` receives the
/// exit code, or 1000 plus the number of the signal that ended it.
pid_t csystem_pty_wait(pid_t child, int options, int *outcome);

/// A descriptor (pidfd) that becomes readable when the child ends, or -1 and errno.
int csystem_pty_exit_descriptor(pid_t child);

#endif
