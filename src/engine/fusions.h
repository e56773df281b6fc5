// fusions: compile options for a plugin that is older than its client. See fusions.c.
#ifndef KEEL_ENGINE_FUSIONS_H_
#define KEEL_ENGINE_FUSIONS_H_

#include "base/buffer.h"
#include "pjrt/pjrt.h"

// Whether this plugin complains about kinds of library fusions that newer clients allow.
bool fusions_are_unknown(const char *platform, const PJRT_Api *api);
// Appends the options without the kinds that it does not know. Appends nothing if there are none,
// or if the options cannot be read.
keel_status_t fusions_without_unknown(keel_bytes_t options, keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_FUSIONS_H_
