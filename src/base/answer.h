// What another program says: its standard output, read within a time.
#ifndef KEEL_BASE_ANSWER_H_
#define KEEL_BASE_ANSWER_H_

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"

// Starts argv[0] (a path) with its output going to `descriptor`, its errors nowhere and no input.
// It has a process group of its own and the usual signals. The caller waits for it. 0 if it cannot
// be started.
pid_t keel_answer_start(char *const argv[], int descriptor);

// Reads until the end or, if it is not 0, until that byte. False if it does not come until that
// time of keel_clock_monotonic; what came before is in `out`. A full buffer (keel_buffer_status)
// ends it too.
bool keel_answer_read(int descriptor, char last, uint64_t until, keel_buffer_t *out);

// Starts the program, reads all it says, and ends it and what it started once that is done or the
// time is up. Its exit code, 0 if somebody else has waited for it; -1 without an answer in time, or
// if it was killed.
int keel_answer(char *const argv[], uint64_t until, keel_buffer_t *out);

#endif // KEEL_BASE_ANSWER_H_
