// source: lines of a file of the user's, as they stood when the run wrote of them.
//
// For the files of this room. One file is kept at a time.
#ifndef KEEL_REPORT_SOURCE_H_
#define KEEL_REPORT_SOURCE_H_

#include "base/base.h"

// All zero: none yet.
typedef struct keel_source_t {
    char *file;
    uint8_t *data; // NULL: it cannot be read
    size_t size;
    double modified;
} keel_source_t;

// False where the file is not there, is none of Python's, or has changed since `t`.
bool keel_source_open(keel_source_t *source, const char *file, double t);
void keel_source_close(keel_source_t *source);
// A line, from 1; empty where there is none. Valid until the next open.
keel_str_t keel_source_line(const keel_source_t *source, uint32_t number);

#endif // KEEL_REPORT_SOURCE_H_
