#include "base/pack.h"

#include "base/memory.h"

#define ZSTD_STATIC_LINKING_ONLY // ZSTD_c_maxBlockSize
#include <zstd.h>

// Level 1 on executables of XLA CPU: eight times smaller, and unpacking costs less than reading and
// digesting the raw bytes would; higher levels gain little. Memory grows with the size of a block,
// not of the window: blocks of 32 KiB take as many bytes on disk as those of 128 KiB, in 360 KiB
// less memory. A zstd that does not know the parameter uses its own size of block.
enum { LEVEL = 1, BLOCK = 32 << 10 };

static size_t compress(ZSTD_CCtx *context, uint8_t *out, size_t bound, keel_bytes_t bytes) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(context, ZSTD_c_maxBlockSize, BLOCK);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    return ZSTD_compress2(context, out, bound, bytes.data, bytes.size);
}

keel_status_t keel_pack(keel_bytes_t bytes, uint8_t **out, size_t *out_size) {
    size_t bound = ZSTD_compressBound(bytes.size);
    void *memory;
    KEEL_TRY(keel_alloc(bound, &memory));
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t size = context ? compress(context, memory, bound, bytes) : 0;
    ZSTD_freeCCtx(context);
    if (!context || ZSTD_isError(size)) {
        keel_free(memory);
        return keel_status_make(KEEL_NO_MEMORY, "out of memory: compressing %zu bytes", bytes.size);
    }
    *out = memory;
    *out_size = size;
    return NULL;
}

keel_status_t keel_unpack(keel_bytes_t packed, uint64_t limit, uint8_t **out, size_t *out_size) {
    unsigned long long size = ZSTD_getFrameContentSize(packed.data, packed.size);
    if (size == ZSTD_CONTENTSIZE_ERROR) return keel_status_make(KEEL_CORRUPT, "not a zstd file");
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size > limit)
        return keel_status_make(KEEL_CORRUPT, "its size is missing or too large");
    void *memory;
    KEEL_TRY(keel_alloc((size_t)size, &memory));
    size_t got = ZSTD_decompress(memory, (size_t)size, packed.data, packed.size);
    if (ZSTD_isError(got) || got != size) {
        keel_free(memory);
        return keel_status_make(KEEL_CORRUPT, "%s",
                                ZSTD_isError(got) ? ZSTD_getErrorName(got) : "truncated");
    }
    *out = memory;
    *out_size = got;
    return NULL;
}
