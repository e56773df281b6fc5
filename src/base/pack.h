// Bytes packed for a file: one zstd frame with a checksum, which states the size of what it holds.
#ifndef KEEL_BASE_PACK_H_
#define KEEL_BASE_PACK_H_

#include "base/bytes.h"
#include "keel/status.h"

// Packs `bytes` into `*out`, which the caller frees with keel_free; `*out_size` may exceed
// `bytes.size` a little. Allocates about 220 KiB beside the output while it works. Any thread.
// Errors: KEEL_NO_MEMORY.
keel_status_t keel_pack(keel_bytes_t bytes, uint8_t **out, size_t *out_size);

// Unpacks what keel_pack made; the caller frees *out with keel_free. KEEL_CORRUPT if it is anything
// else, or says that it holds more than `limit` bytes.
keel_status_t keel_unpack(keel_bytes_t packed, uint64_t limit, uint8_t **out, size_t *out_size);

// Packs `bytes` for a reader that has `prefix` too: what both have costs a few bytes. The longer
// part of both must be below 1 GiB (KEEL_UNSUPPORTED).
keel_status_t keel_pack_against(keel_bytes_t bytes, keel_bytes_t prefix, uint8_t **out,
                                size_t *out_size);
// Unpacks that into `out`, which has room for just what was packed.
keel_status_t keel_unpack_against(keel_bytes_t packed, keel_bytes_t prefix, void *out, size_t size);

#endif // KEEL_BASE_PACK_H_
