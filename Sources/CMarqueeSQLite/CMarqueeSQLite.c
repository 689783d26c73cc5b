#include "CMarqueeSQLite.h"
#include "CMarqueeSystem.h"

#include <stdatomic.h>

// Called by SQLite to free a value; -1 makes SQLite copy the value instead (SQLITE_TRANSIENT).
typedef void (*destructor)(void *);
#define TRANSIENT ((destructor)(intptr_t)-1)

enum { UTF8 = 1 };

// The functions of SQLite: result, name without `sqlite3_`, parameters.
#define FUNCTIONS(F) \
    F(const char *, libversion, (void)) \
    F(int, open_v2, (const char *, csqlite_db **, int, const char *)) \
    F(int, close_v2, (csqlite_db *)) \
    F(int, exec, (csqlite_db *, const char *, int (*)(void *, int, char **, char **), void *, char **)) \
    F(int, busy_timeout, (csqlite_db *, int)) \
    F(void, progress_handler, (csqlite_db *, int, int (*)(void *), void *)) \
    F(int, extended_errcode, (csqlite_db *)) \
    F(int, system_errno, (csqlite_db *)) \
    F(const char *, errmsg, (csqlite_db *)) \
    F(int, get_autocommit, (csqlite_db *)) \
    F(int, changes, (csqlite_db *)) \
    F(int64_t, last_insert_rowid, (csqlite_db *)) \
    F(int, prepare_v2, (csqlite_db *, const char *, int, csqlite_statement **, const char **)) \
    F(int, finalize, (csqlite_statement *)) \
    F(int, step, (csqlite_statement *)) \
    F(int, reset, (csqlite_statement *)) \
    F(int, clear_bindings, (csqlite_statement *)) \
    F(int, bind_null, (csqlite_statement *, int)) \
    F(int, bind_int64, (csqlite_statement *, int, int64_t)) \
    F(int, bind_double, (csqlite_statement *, int, double)) \
    F(int, bind_text64, (csqlite_statement *, int, const char *, uint64_t, destructor, unsigned char)) \
    F(int, bind_blob64, (csqlite_statement *, int, const void *, uint64_t, destructor)) \
    F(int, column_type, (csqlite_statement *, int)) \
    F(int64_t, column_int64, (csqlite_statement *, int)) \
    F(double, column_double, (csqlite_statement *, int)) \
    F(const void *, column_blob, (csqlite_statement *, int)) \
    F(int, column_bytes, (csqlite_statement *, int)) \
    F(int, blob_open, (csqlite_db *, const char *, const char *, const char *, int64_t, int, csqlite_blob **)) \
    F(int, blob_reopen, (csqlite_blob *, int64_t)) \
    F(int, blob_bytes, (csqlite_blob *)) \
    F(int, blob_close, (csqlite_blob *)) \
    F(int, file_control, (csqlite_db *, const char *, int, void *))

#define POINTER(result, name, parameters) result(*name) parameters;
static struct { FUNCTIONS(POINTER) } sqlite;

#define ENTRY(result, name, parameters) {"sqlite3_" #name, &sqlite.name},

int csqlite_open_library(const char *library, char *reason, size_t reason_size) {
    const struct csystem_function functions[] = {FUNCTIONS(ENTRY)};
    size_t count = sizeof functions / sizeof functions[0];
    return csystem_open_library(library, functions, count, reason, reason_size) == NULL ? -1 : 0;
}

const char *csqlite_version(void) { return sqlite.libversion(); }

int csqlite_open(const char *path, csqlite_db **db, int flags) {
    return sqlite.open_v2(path, db, flags, NULL);
}
void csqlite_close(csqlite_db *db) { (void)sqlite.close_v2(db); }
int csqlite_exec(csqlite_db *db, const char *sql) { return sqlite.exec(db, sql, NULL, NULL, NULL); }
int csqlite_busy_timeout(csqlite_db *db, int milliseconds) { return sqlite.busy_timeout(db, milliseconds); }
void csqlite_progress(csqlite_db *db, int steps, int (*is_over)(void *)) {
    sqlite.progress_handler(db, steps, is_over, NULL);
}
int csqlite_error(csqlite_db *db) { return sqlite.extended_errcode(db); }
int csqlite_system_error(csqlite_db *db) { return sqlite.system_errno(db); }
const char *csqlite_message(csqlite_db *db) { return sqlite.errmsg(db); }
int csqlite_in_autocommit(csqlite_db *db) { return sqlite.get_autocommit(db); }
int csqlite_changes(csqlite_db *db) { return sqlite.changes(db); }
int64_t csqlite_last_row(csqlite_db *db) { return sqlite.last_insert_rowid(db); }

int csqlite_prepare(csqlite_db *db, const char *sql, csqlite_statement **statement) {
    return sqlite.prepare_v2(db, sql, -1, statement, NULL);
}
void csqlite_finalize(csqlite_statement *statement) { (void)sqlite.finalize(statement); }
int csqlite_step(csqlite_statement *statement) { return sqlite.step(statement); }
void csqlite_reset(csqlite_statement *statement) {
    // Both return the result of the last step, which the caller knows.
    (void)sqlite.reset(statement);
    (void)sqlite.clear_bindings(statement);
}

int csqlite_bind_null(csqlite_statement *statement, int index) { return sqlite.bind_null(statement, index); }
int csqlite_bind_integer(csqlite_statement *statement, int index, int64_t value) {
    return sqlite.bind_int64(statement, index, value);
}
int csqlite_bind_real(csqlite_statement *statement, int index, double value) {
    return sqlite.bind_double(statement, index, value);
}
// The pointer to an empty value may be null, which would bind NULL.
int csqlite_bind_text(csqlite_statement *statement, int index, const void *bytes, size_t count) {
    return sqlite.bind_text64(statement, index, count > 0 ? bytes : "", count, TRANSIENT, UTF8);
}
int csqlite_bind_blob(csqlite_statement *statement, int index, const void *bytes, size_t count) {
    return sqlite.bind_blob64(statement, index, count > 0 ? bytes : "", count, TRANSIENT);
}

int csqlite_column_kind(csqlite_statement *statement, int column) { return sqlite.column_type(statement, column); }
int64_t csqlite_column_integer(csqlite_statement *statement, int column) {
    return sqlite.column_int64(statement, column);
}
double csqlite_column_real(csqlite_statement *statement, int column) {
    return sqlite.column_double(statement, column);
}
const void *csqlite_column_bytes(csqlite_statement *statement, int column, size_t *count) {
    const void *bytes = sqlite.column_blob(statement, column);
    *count = bytes != NULL ? (size_t)sqlite.column_bytes(statement, column) : 0;
    return bytes;
}

int csqlite_value_open(csqlite_db *db, const char *table, const char *column, int64_t row, csqlite_blob **value) {
    return sqlite.blob_open(db, "main", table, column, row, 0, value);
}
int csqlite_value_move(csqlite_blob *value, int64_t row) { return sqlite.blob_reopen(value, row); }
int csqlite_value_size(csqlite_blob *value) { return sqlite.blob_bytes(value); }
void csqlite_value_close(csqlite_blob *value) { (void)sqlite.blob_close(value); }

// An open file and its methods (sqlite3_io_methods, https://www.sqlite.org/c3ref/io_methods.html). Only the last one here
// is called.
struct file {
    const struct {
        int version;
        void (*first_version[12])(void);
        int (*shm_map)(struct file *, int region, int size, int extend, void volatile **);
    } *methods;
};

// SQLITE_FCNTL_FILE_POINTER, and the size of a region of the log's index.
enum { FILE_POINTER = 7, REGION_SIZE = 32768 };

int csqlite_log_head_find(csqlite_db *db, csqlite_log_head *head) {
    *head = (csqlite_log_head){0};
    struct file *file = NULL;
    if (sqlite.file_control(db, "main", FILE_POINTER, &file) != CSQLITE_OK || file == NULL || file->methods == NULL ||
        file->methods->version < 2 || file->methods->shm_map == NULL) {
        return -1;
    }
    void volatile *region = NULL;
    if (file->methods->shm_map(file, 0, REGION_SIZE, 0, &region) != CSQLITE_OK || region == NULL) return -1;
    head->head = region;
    return 0;
}

int csqlite_log_head_has_changed(csqlite_log_head *head) {
    // What a process writes before it answers is seen by whoever has its answer.
    atomic_thread_fence(memory_order_acquire);
    int has_changed = 0;
    for (size_t i = 0; i < sizeof head->seen / sizeof head->seen[0]; i++) {
        uint64_t word = head->head[i];
        has_changed |= word != head->seen[i];
        head->seen[i] = word;
    }
    atomic_thread_fence(memory_order_acquire);
    return has_changed;
}
