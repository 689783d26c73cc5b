// Libraries of the system, opened at run time.
#ifndef CSYSTEM_LIBRARY_H
#define CSYSTEM_LIBRARY_H

#include <stddef.h>

/// A function of a library, and the pointer that gets its address.
struct csystem_function {
    const char *name;
    void *pointer;
};

/// Opens a library and finds its functions: its handle, or NULL with one line in `reason`.
void *csystem_open_library(const char *library, const struct csystem_function *functions, size_t count, char *reason, size_t reason_size);

#endif
