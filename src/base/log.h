// What Keel says on stderr from inside somebody else's process: one line, "keel: ...", and each
// thing only once. Any thread.
#ifndef KEEL_BASE_LOG_H_
#define KEEL_BASE_LOG_H_

#include "keel/status.h"

// Says the line unless a line of the same `topic` was said in this process. `topic` is a literal.
// KEEL_QUIET=1 in the environment keeps everything silent.
void keel_log_once(const char *topic, const char *format, ...) KEEL_PRINTF(2, 3);

#endif // KEEL_BASE_LOG_H_
