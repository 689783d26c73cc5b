// SQLite, opened at run time. Every machine with Swift's package manager has its shared library, but not its headers.
// The prototypes and numbers below are the part of its published ABI that Marquee uses; the ABI has been stable since
// SQLite 3.0 (so.0). Numbers: https://www.sqlite.org/rescode.html and https://www.sqlite.org/c3ref/constlist.html
#ifndef CSQLITE_H
#define CSQLITE_H

#include <stddef.h>
#include <stdint.h>

/// A connection (sqlite3 *), a prepared statement (sqlite3_stmt *), and an open value (sqlite3_blob *).
typedef struct csqlite_db csqlite_db;
typedef struct csqlite_statement csqlite_statement;
typedef struct csqlite_blob csqlite_blob;

/// Result codes; extended ones have more detail in their higher bytes.
enum {
    CSQLITE_OK = 0,
    CSQLITE_PERM = 3,
    CSQLITE_BUSY = 5,
    CSQLITE_LOCKED = 6,
    CSQLITE_READONLY = 8,
    CSQLITE_IOERR = 10,
    CSQLITE_CORRUPT = 11,
    CSQLITE_FULL = 13,
    CSQLITE_CANTOPEN = 14,
    CSQLITE_NOTADB = 26,
    CSQLITE_ROW = 100,
    CSQLITE_DONE = 101,
};

/// Flags for opening a database.
enum {
    CSQLITE_OPEN_READONLY = 0x1,
    CSQLITE_OPEN_READWRITE = 0x2,
    CSQLITE_OPEN_CREATE = 0x4,
    CSQLITE_OPEN_URI = 0x40,
    CSQLITE_OPEN_NOMUTEX = 0x8000,
};

/// The type of a missing value.
enum {
    CSQLITE_NULL = 5,
};

/// Opens `library` and looks up its functions: 0, or -1 with the reason in `reason`. Call it once, before any other
/// function here.
int csqlite_open_library(const char *library, char *reason, size_t reason_size);
/// The version of the opened library, such as "3.40.1".
const char *csqlite_version(void);

int csqlite_open(const char *path, csqlite_db **db, int flags);
void csqlite_close(csqlite_db *db);
/// Runs statements without parameters and results.
int csqlite_exec(csqlite_db *db, const char *sql);
int csqlite_busy_timeout(csqlite_db *db, int milliseconds);
/// Calls `is_over` after about so many steps of the virtual machine, on the thread of the statement. If it returns other
/// than 0, the statement ends with an error.
void csqlite_progress(csqlite_db *db, int steps, int (*is_over)(void *));
int csqlite_error(csqlite_db *db);
int csqlite_system_error(csqlite_db *db);
const char *csqlite_message(csqlite_db *db);
/// Whether no transaction is open.
int csqlite_in_autocommit(csqlite_db *db);
/// The number of rows that the last statement changed.
int csqlite_changes(csqlite_db *db);
int64_t csqlite_last_row(csqlite_db *db);

int csqlite_prepare(csqlite_db *db, const char *sql, csqlite_statement **statement);
void csqlite_finalize(csqlite_statement *statement);
int csqlite_step(csqlite_statement *statement);
/// Ends the execution that `step` began, and clears all parameters.
void csqlite_reset(csqlite_statement *statement);

/// Bind the value of a parameter, counted from 1. Texts (UTF-8) and blobs are copied.
int csqlite_bind_null(csqlite_statement *statement, int index);
int csqlite_bind_integer(csqlite_statement *statement, int index, int64_t value);
int csqlite_bind_real(csqlite_statement *statement, int index, double value);
int csqlite_bind_text(csqlite_statement *statement, int index, const void *bytes, size_t count);
int csqlite_bind_blob(csqlite_statement *statement, int index, const void *bytes, size_t count);

/// The values of the current row, by column from 0. Bytes live until the next step or reset.
int csqlite_column_kind(csqlite_statement *statement, int column);
int64_t csqlite_column_integer(csqlite_statement *statement, int column);
double csqlite_column_real(csqlite_statement *statement, int column);
const void *csqlite_column_bytes(csqlite_statement *statement, int column, size_t *count);

/// Opens a text or blob for its size, without reading it: `length` in SQL reads a text completely. The value must be
/// closed, also after an error. `move` goes on to the same column of another row.
int csqlite_value_open(csqlite_db *db, const char *table, const char *column, int64_t row, csqlite_blob **value);
int csqlite_value_move(csqlite_blob *value, int64_t row);
/// The size in bytes.
int csqlite_value_size(csqlite_blob *value);
/// Closes the value; null does nothing.
void csqlite_value_close(csqlite_blob *value);

/// The head of the index of a database's write-ahead log, in memory that all processes share. Every transaction of any
/// process changes it (https://sqlite.org/walformat.html section 2.1: two copies of 48 bytes, with a counter).
typedef struct {
    const volatile uint64_t *head;
    uint64_t seen[12];
} csqlite_log_head;

/// Finds the head for a connection in the journal mode WAL: 0; or -1 where there is none. It is valid as long as the
/// connection.
int csqlite_log_head_find(csqlite_db *db, csqlite_log_head *head);
/// Whether the head differs from the last call; also true at the first one. No call to the system.
int csqlite_log_head_has_changed(csqlite_log_head *head);

#endif
