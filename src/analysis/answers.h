// answers: the file that keeps a run's answers.
#ifndef KEEL_ANALYSIS_ANSWERS_H_
#define KEEL_ANALYSIS_ANSWERS_H_

#include "base/base.h"

// What a file of answers covers.
typedef struct answers_t {
    uint64_t bytes;     // of the journal
    uint64_t asked;     // ask events
    keel_bytes_t lines; // the answers, in `data`
    uint8_t *data;
} answers_t;

// Covers nothing if there is no such file, or another Keel made it. Free it afterwards.
keel_status_t answers_read(const char *run_dir, const char *id, answers_t *out) KEEL_MUST_CHECK;
void answers_free(answers_t *answers);

// Makes a file beside the one to be replaced, with what is already known; the caller frees the
// path. Removes what dead processes left.
keel_status_t answers_begin(const char *run_dir, const char *id, const answers_t *known,
                            char **out_path) KEEL_MUST_CHECK;
// Puts it in place.
keel_status_t answers_end(const char *run_dir, const char *id, const char *path, uint64_t bytes,
                          uint64_t asked) KEEL_MUST_CHECK;

#endif // KEEL_ANALYSIS_ANSWERS_H_
