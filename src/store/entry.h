// entry: the grammar of an entry file, above its codec.
//
//   envelope, 96 bytes, the same in every version, integers little-endian
//      0   8  magic  89 'K' 'E' 'E' 'L' 0d 0a 1a
//      8   4  version of the writer
//     12   4  the oldest version that can read it
//     16   8  bytes of the header: envelope and fields
//     24   8  bytes of the payload as stored
//     32  32  BLAKE2b-256 over the header less these 32 bytes
//     64  32  a digest of the payload as stored: BLAKE2b-256; from version 2 on,
//             keel_content_digest, because large payloads take too long otherwise
//   fields, up to the end of the header: tag (4), size (4), bytes
//   payload, up to the end of the file, in the codec that a field names
//
// The header's digest covers the payload's, so together they cover every byte except the first
// digest itself. It is checked before anything else, so damage is not mistaken for another version.
// Fields with unknown tags are skipped: a newer Keel may add some without shutting out older ones;
// if readers must understand a field, it raises the oldest version that can read the file. Every
// known field occurs exactly once, except for those that version 1 did not have.
// Entries are of version 1, so that older Keels read them, except for those that have a large
// payload or none, or one that version 1 does not know. A large payload that hardly packs is stored
// as it is, and a reader keeps the file instead of a copy. Digests detect accidents, not forgery:
// anyone who can write to the folder can write an entry. A signature (seal.h) detects forgery.
//
// Threads: no shared state.
#ifndef KEEL_STORE_ENTRY_H_
#define KEEL_STORE_ENTRY_H_

#include "store/store.h"

enum {
    KEEL_ENTRY_VERSION = 2,
    KEEL_ENTRY_OLDEST = 1, // the oldest version that this one reads
    KEEL_ENTRY_ENVELOPE = 96,
    KEEL_ENTRY_HEADER_LIMIT = 4 << 20,
    KEEL_ENTRY_LARGE = 4 << 20, // bytes of payload
};
#define KEEL_ENTRY_PAYLOAD_LIMIT (4ull << 30)
#define KEEL_ENTRY_FILE_LIMIT (KEEL_ENTRY_PAYLOAD_LIMIT + KEEL_ENTRY_HEADER_LIMIT)

// tag, name, bytes (0: any number)
#define KEEL_ENTRY_FIELDS(X)                                                                       \
    X(1, KEY, 32)                                                                                  \
    X(2, PROGRAM, 32)                                                                              \
    X(3, COMPONENTS, 0)                                                                            \
    X(4, NAME, 0)                                                                                  \
    X(5, WRITER, 0)                                                                                \
    X(6, CREATED, 8)                                                                               \
    X(7, COMPILE_SECONDS, 8) /* an IEEE double */                                                  \
    X(8, CODEC, 4)                                                                                 \
    X(9, PAYLOAD_SIZE, 8)  /* uncompressed */                                                      \
    X(10, LOAD_SECONDS, 8) /* an IEEE double; absent if unknown */                                 \
    X(11, SIGNATURE, 128)  /* the last one, if it is signed (seal.h) */

typedef enum keel_codec {
    KEEL_CODEC_RAW,
    KEEL_CODEC_ZSTD,
} keel_codec_t;

// The bytes of an entry file; freed with keel_free. KEEL_INVALID if a part is over its limit.
keel_status_t keel_entry_encode(const keel_entry_t *entry, uint8_t **out,
                                size_t *out_size) KEEL_MUST_CHECK;

// The same in two parts, so that a large payload is not copied: what comes before the payload, and
// the payload as stored, which is the entry's own if it was not packed.
typedef struct keel_entry_file_t {
    keel_bytes_t head, stored;
    uint8_t *owned_head, *owned_stored;
} keel_entry_file_t;
keel_status_t keel_entry_encode_parts(const keel_entry_t *entry,
                                      keel_entry_file_t *out) KEEL_MUST_CHECK;
void keel_entry_file_release(keel_entry_file_t *file);

// KEEL_CORRUPT if any byte has changed, KEEL_UNSUPPORTED if this version cannot read the entry's.
// `file` is the whole file.
keel_status_t keel_entry_decode(keel_bytes_t file, keel_entry_t *out) KEEL_MUST_CHECK;
// The same of a file that others use too: a payload that is stored as it is stays part of it.
keel_status_t keel_entry_decode_shared(keel_shared_t *file, keel_entry_t *out) KEEL_MUST_CHECK;

// Decodes the header alone: everything but the payload, whose stored bytes are neither needed nor
// checked. `head` is the file's start. If it is too short for the header, *out_needed is the size
// needed (and the status is NULL); otherwise it is 0.
keel_status_t keel_entry_decode_header(keel_bytes_t head, uint64_t file_size, keel_entry_t *out,
                                       size_t *out_needed) KEEL_MUST_CHECK;

// The digest that belongs at byte 32 of an entry file whose header has `header` bytes (at least the
// envelope's).
keel_digest_t keel_entry_header_digest(const uint8_t *file, size_t header);

// A copy; without the payload if `payload` is false. A shared payload is not copied.
keel_status_t keel_entry_copy(const keel_entry_t *entry, bool payload,
                              keel_entry_t *out) KEEL_MUST_CHECK;

#endif // KEEL_STORE_ENTRY_H_
