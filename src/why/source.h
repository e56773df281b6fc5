// source: lines of one of the user's files, as the run read them: from the file itself or, if it
// was edited since, from what the run's analysis kept (analysis/sources.h).
//
// For the files of this room. One file is kept at a time.
#ifndef KEEL_WHY_SOURCE_H_
#define KEEL_WHY_SOURCE_H_

#include "run/run.h"

// All zero: none yet.
typedef struct keel_source_t {
    char *file;
    uint8_t *data; // NULL: it is not known as the run read it
    size_t size;
} keel_source_t;

// False unless it is known what the run read there (host/source.h).
bool keel_source_open(keel_source_t *source, const char *file, const keel_run_t *run);
void keel_source_close(keel_source_t *source);
// A line, counted from 1; empty if there is none. Valid until the next open.
keel_str_t keel_source_line(const keel_source_t *source, uint32_t number);

#endif // KEEL_WHY_SOURCE_H_
