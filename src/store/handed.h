// handed: the programs of executables that clients serialized. Whoever loads such bytes later, in
// any process, from the client's own cache or a pickle, asks for that program.
//
//   handed/<digest of the bytes>.program    "keel handed 1\n"; the sizes, as u64, of the format,
//                                           the compile options and the program (base/pack.h);
//                                           these three; the digest of all that
//
// Ownership: a record that was read owns its memory. Threads: no shared state; processes replace a
// file as a whole.
#ifndef KEEL_STORE_HANDED_H_
#define KEEL_STORE_HANDED_H_

#include "base/base.h"

enum {
    KEEL_HANDED_LIMIT = 32 << 20, // bytes of a packed program; larger ones are not kept
    KEEL_HANDED_MOST = 4096,      // files; the oldest are removed
};

typedef struct keel_handed_t {
    keel_str_t format; // "mlir", "hlo"
    keel_bytes_t options;
    keel_bytes_t packed; // the program
    uint8_t *memory_;
} keel_handed_t;

// `bytes`: the digest of what the client got.
keel_status_t keel_handed_write(const char *folder, const keel_digest_t *bytes,
                                const keel_handed_t *handed) KEEL_MUST_CHECK;
// KEEL_NOT_FOUND if these bytes are not known, KEEL_CORRUPT if the file is damaged. Free *out with
// keel_handed_release.
keel_status_t keel_handed_read(const char *folder, const keel_digest_t *bytes, bool is_shared,
                               keel_handed_t *out) KEEL_MUST_CHECK;
void keel_handed_release(keel_handed_t *handed);

// Removes files that were last used more than `age` nanoseconds ago (0: all), and temporary files
// whose writer died.
keel_status_t keel_handed_remove(const char *folder, uint64_t age) KEEL_MUST_CHECK;
// Removes the oldest while there are more than `most`.
keel_status_t keel_handed_limit(const char *folder, size_t most) KEEL_MUST_CHECK;

#endif // KEEL_STORE_HANDED_H_
