// travel: plans (plan.h) that go from host to host, as one small object for each script: who had
// which programs, compiled for what, and under which keys. It is text, in sections, the newest
// first:
//
//   keel travel 1
//   script <name>                                    keel_host_script
//   time <16 hex digits>                             nanoseconds since 1970
//   component <digest> <name>\t<readable text>       of the client, for all its programs
//   program <program> <options> <assignment> <name> <operations> <time> <key>
//   end
//
// As in a plan, keys are no promise: a client computes its own, and asks for what it computed.
// Those of a section let somebody fetch entries who has no client yet.
//
// Ownership: a keel_travel_t owns its sections. Threads: no shared state.
#ifndef KEEL_STORE_TRAVEL_H_
#define KEEL_STORE_TRAVEL_H_

#include "store/plan.h"

enum {
    KEEL_TRAVEL_SECTIONS = 8, // of an object; older ones go
    KEEL_TRAVEL_COMPONENTS = 16,
    KEEL_TRAVEL_TEXT = 160,
    KEEL_TRAVEL_LIMIT = 4 << 20, // bytes
};

typedef struct keel_travel_component_t {
    keel_digest_t digest;
    char name[32], value[KEEL_TRAVEL_TEXT]; // cut
} keel_travel_component_t;

typedef struct keel_travel_section_t {
    char script[KEEL_TRAVEL_TEXT];
    uint64_t time;
    size_t component_count;
    keel_travel_component_t components[KEEL_TRAVEL_COMPONENTS];
    keel_plan_t plan;
    keel_digest_t keys[KEEL_PLAN_LIMIT];
} keel_travel_section_t;

typedef struct keel_travel_t {
    size_t count;
    keel_travel_section_t *sections;
} keel_travel_t;

void keel_travel_free(keel_travel_t *travel);
// KEEL_CORRUPT if the bytes are none; *out is empty then. Lines that are not known are skipped.
keel_status_t keel_travel_parse(keel_bytes_t bytes, keel_travel_t *out) KEEL_MUST_CHECK;
void keel_travel_write(const keel_travel_t *travel, keel_buffer_t *out);

// Puts the section first, in the place of one of the same script and client.
keel_status_t keel_travel_merge(keel_travel_t *travel,
                                const keel_travel_section_t *section) KEEL_MUST_CHECK;
// The newest section of that client, one of the script if there is one. If there is none, NULL, and
// *out_other is the first component that keeps the nearest one apart from the client: NULL only if
// there are no sections.
const keel_travel_section_t *keel_travel_find(const keel_travel_t *travel, const char *script,
                                              const keel_travel_section_t *client,
                                              const keel_travel_component_t **out_other,
                                              const keel_travel_component_t **out_own);
// For whoever has no client yet: the newest of the script, or else of any.
const keel_travel_section_t *keel_travel_newest(const keel_travel_t *travel, const char *script);

// What a script is called on every host: its name without the hash of its path, which follows "-".
keel_str_t keel_travel_label(const char *script);

// The section of a script on this machine, beside its plan. *out has at most one section.
keel_status_t keel_travel_read(const char *folder, const char *script,
                               keel_travel_t *out) KEEL_MUST_CHECK;
keel_status_t keel_travel_keep(const char *folder,
                               const keel_travel_section_t *section) KEEL_MUST_CHECK;

#endif // KEEL_STORE_TRAVEL_H_
