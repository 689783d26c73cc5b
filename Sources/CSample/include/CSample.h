// The sample catalogue inside the program: the files of sample-data that it needs.

#ifndef CSAMPLE_H
#define CSAMPLE_H

#include <stddef.h>

/// One file of the sample catalogue.
typedef struct {
    /// Its path in sample-data, in UTF-8: `movies.json`, `posters/faust.jpg`.
    const char *path;
    /// Its content, which stays valid while the program runs.
    const unsigned char *bytes;
    /// The number of bytes.
    size_t length;
} csample_file;

/// The number of files.
size_t csample_count(void);

/// The file with this number, from 0 to the number of files less one.
csample_file csample_at(size_t index);

#endif
