// remotes: sentences and JSON about what remotes answered in a run (run/remotes.h).
#ifndef KEEL_TEXT_REMOTES_H_
#define KEEL_TEXT_REMOTES_H_

#include "run/run.h"
#include "text/text.h"

// "file:///mnt/keel: 3 found (1.2 MB in 0.2 s, the slowest 0.1 s), 1 not there; 2 untrusted: an
// entry is not signed"
void keel_remote_sentence(const keel_remote_use_t *use, keel_buffer_t *out);
// "3 from memory, 1 from file:///mnt/keel"; nothing if there were no loads.
void keel_tiers_sentence(const keel_run_t *run, keel_buffer_t *out);
// "from disk", "file:///mnt/keel: untrusted"; nothing if it was compiled and no remote is to blame.
void keel_program_tier(const keel_run_t *run, const keel_run_program_t *program,
                       keel_buffer_t *out);
// The same of a program that was asked for.
void keel_asked_tier(const keel_run_t *run, const keel_run_entry_t *entry, keel_buffer_t *out);
// Field "tier", or "unused" {"remote", "got"}, of a program that has this key; neither if it was
// compiled and no remote is to blame.
void keel_tier_json(const keel_run_t *run, const char *tier, const char *key, keel_json_t *json);
// Paragraphs for `keel why`, if there are remotes.
void keel_remotes_tell(const keel_run_t *run, unsigned width, keel_buffer_t *out);
// Fields "tiers" and "remotes".
void keel_remotes_json(const keel_run_t *run, keel_json_t *json);

#endif // KEEL_TEXT_REMOTES_H_
