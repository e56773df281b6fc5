#include "base/pack.h"

#include "base/memory.h"

#define ZSTD_STATIC_LINKING_ONLY // ZSTD_c_maxBlockSize
#include <zstd.h>

// Level 1 on executables of XLA CPU: eight times smaller, and unpacking costs less than reading and
// digesting the raw bytes would; higher levels gain little. Memory grows with the size of a block,
// not of the window: blocks of 32 KiB take as many bytes on disk as those of 128 KiB, in 360 KiB
// less memory. A zstd that does not know the parameter uses its own size of block.
enum { LEVEL = 1, BLOCK = 32 << 10, WINDOW_MOST = 30 };

// Finds what is far away too: only then a prefix helps that is larger than the usual window.
static void see(ZSTD_CCtx *context, keel_bytes_t prefix, size_t total) {
    int window = 20;
    while (window < WINDOW_MOST && (size_t)1 << window < total)
        ++window;
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window);
    ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
    ZSTD_CCtx_refPrefix(context, prefix.data, prefix.size);
}

static size_t compress(ZSTD_CCtx *context, uint8_t *out, size_t bound, keel_bytes_t bytes) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(context, ZSTD_c_maxBlockSize, BLOCK);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    return ZSTD_compress2(context, out, bound, bytes.data, bytes.size);
}

// Without a prefix (of no bytes), a small one.
static keel_status_t pack(keel_bytes_t bytes, keel_bytes_t prefix, uint8_t **out,
                          size_t *out_size) {
    size_t bound = ZSTD_compressBound(bytes.size);
    void *memory;
    KEEL_TRY(keel_alloc(bound, &memory));
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (context && prefix.size) see(context, prefix, bytes.size + prefix.size);
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

keel_status_t keel_pack(keel_bytes_t bytes, uint8_t **out, size_t *out_size) {
    return pack(bytes, keel_bytes("", 0), out, out_size);
}

keel_status_t keel_pack_against(keel_bytes_t bytes, keel_bytes_t prefix, uint8_t **out,
                                size_t *out_size) {
    if (bytes.size + prefix.size > (size_t)1 << WINDOW_MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "too large to be packed against another");
    return pack(bytes, prefix, out, out_size);
}

keel_status_t keel_unpack_against(keel_bytes_t packed, keel_bytes_t prefix, void *out,
                                  size_t size) {
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!context) return keel_status_make(KEEL_NO_MEMORY, "out of memory: unpacking");
    ZSTD_DCtx_refPrefix(context, prefix.data, prefix.size);
    size_t got = ZSTD_decompressDCtx(context, out, size, packed.data, packed.size);
    ZSTD_freeDCtx(context);
    if (!ZSTD_isError(got) && got == size) return NULL;
    return keel_status_make(KEEL_CORRUPT, "%s",
                            ZSTD_isError(got) ? ZSTD_getErrorName(got) : "truncated");
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
