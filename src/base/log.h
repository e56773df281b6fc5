// What Keel says on stderr from inside someone else's process: lines that begin with "keel: ". Any
// thread.
#ifndef KEEL_BASE_LOG_H_
#define KEEL_BASE_LOG_H_

#include "keel/status.h"

// Prints the line unless this process already printed one of the same `topic`, which is a literal.
// KEEL_QUIET=1 in the environment silences everything.
void keel_log_once(const char *topic, const char *format, ...) KEEL_PRINTF(2, 3);
// Prints the line each time, for callers that count by themselves.
void keel_log_line(const char *format, ...) KEEL_PRINTF(1, 2);

#endif // KEEL_BASE_LOG_H_
