// source: lines of one of the user's files, as the run read them.
//
// For the files of this room. One file is kept at a time.
#ifndef KEEL_WHY_SOURCE_H_
#define KEEL_WHY_SOURCE_H_

#include "base/base.h"

// All zero: none yet.
typedef struct keel_source_t {
    char *file;
    uint8_t *data; // NULL: it cannot be read, or is not as the run read it
    size_t size;
} keel_source_t;

// False unless the file is as the run read it (host/source.h).
bool keel_source_open(keel_source_t *source, const char *file, const keel_map_t *read);
void keel_source_close(keel_source_t *source);
// A line, counted from 1; empty if there is none. Valid until the next open.
keel_str_t keel_source_line(const keel_source_t *source, uint32_t number);

#endif // KEEL_WHY_SOURCE_H_
