// eager: operations of JAX's that ran by themselves, outside any jitted function, each a program of
// its own. Initializing a model or preparing data compiles many of them once. That is expected, so
// they are shown as a sum. If new ones keep coming until the run ends, they are recompiles.
#ifndef KEEL_WHY_EAGER_H_
#define KEEL_WHY_EAGER_H_

#include "run/run.h"

// All that ran at one line.
typedef struct keel_eager_line_t {
    const char *shown; // "train.py:13"; "" if unknown
    keel_took_t took;
} keel_eager_line_t;

typedef struct keel_eager_list_t {
    keel_eager_line_t *lines; // the most expensive first, after keel_eager_settle
    size_t count;
} keel_eager_list_t;

typedef struct keel_eager_lines_t {
    keel_eager_list_t sites, calls; // the lines that ran them, and the lines that called those
    keel_took_t took;
} keel_eager_lines_t;

// A compile of such an operation. Texts are the run's.
keel_status_t keel_eager_add(keel_eager_lines_t *lines,
                             const keel_run_request_t *request) KEEL_MUST_CHECK;
// Counts the programs of that line as recompiles.
void keel_eager_forget(keel_eager_lines_t *lines, const char *shown);
void keel_eager_settle(keel_eager_lines_t *lines);
void keel_eager_deinitialize(keel_eager_lines_t *lines);

// The line where most of them ran; "" if unknown.
const char *keel_eager_line(const keel_eager_lines_t *lines);
// True if they are worth a line, given all compiles of the run.
bool keel_eager_is_told(const keel_eager_lines_t *lines, const keel_took_t *compiles);
#endif // KEEL_WHY_EAGER_H_
