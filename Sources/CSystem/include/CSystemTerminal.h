// A terminal's size, its restoration when the process dies, and a terminal of one's own for tests.
#ifndef CSYSTEM_TERMINAL_H
#define CSYSTEM_TERMINAL_H

#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

/// Most bytes csystem_terminal_guard takes.
#define CSYSTEM_TERMINAL_LEAVE_LIMIT 32768

/// Columns, rows, and the window's pixels (0 where the terminal does not tell): 0, or -1 and errno.
int csystem_terminal_size(int terminal, unsigned short size[4]);

/// From now on a deadly signal (every one that ends a program by default, crashes included) first writes `leave` to
/// the terminal and sets its modes to `original`; then it does what it did before (the Swift runtime's
/// backtrace is printed to the restored terminal). So does exit(). Signals that are ignored stay
/// ignored. SIGTSTP, SIGCONT and SIGWINCH are reported (see csystem_terminal_signals) and do nothing
/// else. Called again, it replaces terminal and bytes, safely also while a signal arrives.
/// 0, or -1 and errno.
int csystem_terminal_guard(int terminal, const struct termios *original, const void *leave, size_t length);

/// Ends what csystem_terminal_guard began.
void csystem_terminal_unguard(void);

/// A descriptor that becomes readable with one byte, the signal's number, for each SIGTSTP, SIGCONT
/// and SIGWINCH between guard and unguard; the same for the whole process. Reading does not block.
/// -1 and errno on failure.
int csystem_terminal_signals(void);

/// Stops the process group, as Ctrl-Z does, and returns when it goes on; the SIGCONT is reported. To be
/// called without a guard. Where SIGTSTP is ignored, or nobody could make the group go on (it is
/// orphaned), it does not stop.
void csystem_terminal_stop(void);

/// Puts bytes back as if they had just been typed: 0, or -1 and errno, as where the kernel allows that to nobody.
int csystem_terminal_type(int terminal, const void *bytes, size_t length);

/// Opens a pseudoterminal's controlling side and sets its size: a descriptor, or -1 and errno.
/// `path` receives the name of the other side.
int csystem_pty_open(unsigned short columns, unsigned short rows, char *path, size_t length);

/// Sets a terminal's size, which sends SIGWINCH to its foreground processes: 0, or -1 and errno.
int csystem_pty_resize(int terminal, unsigned short columns, unsigned short rows);

/// Starts a program as the leader of a new session with `path` as its controlling terminal and as its
/// descriptors 0, 1 and 2, all signals at their defaults: its id, or -1 and errno.
pid_t csystem_pty_spawn(const char *path, char *const arguments[], char *const environment[]);

/// Waits for a child's end, or only asks (`options` as in waitpid): the child's id, 0 or -1. `outcome`
/// receives its exit code, or 1000 and the signal that ended it.
pid_t csystem_pty_wait(pid_t child, int options, int *outcome);

/// A descriptor that becomes readable when a child has ended, or -1 and errno.
int csystem_pty_exit_descriptor(pid_t child);

#endif
