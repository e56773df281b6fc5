// Room-internal: a journal, or the explanations of one, as a pack has it.
#ifndef KEEL_PACK_JOURNAL_H_
#define KEEL_PACK_JOURNAL_H_

#include "pack/names.h"
#include "pack/pack.h"

typedef struct journal_strip_t {
    const keel_pack_settings_t *settings;
    names_t *names;
    const keel_map_t *moved; // digest of a program in hex -> index in `digests`
    const keel_digest_t *digests;
    uint64_t journal_bytes; // of the journal that is written; for its explanations
} journal_strip_t;

// Appends the events without what the settings leave out. Lines that are not events are left out.
keel_status_t journal_strip(const journal_strip_t *strip, keel_bytes_t lines,
                            keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_PACK_JOURNAL_H_
