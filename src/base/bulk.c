// BLAKE3 (as its specification says, without a key): a tree over chunks of 1 KiB, so that LANES of
// them are hashed at once, each in one element of the processor's vectors.
#include <string.h>

#include "base/hash.h"

enum {
    WORDS = 16,
    BLOCK = 64,
    CHUNK = 1024,
    CHAIN = KEEL_DIGEST_SIZE, // bytes of a chaining value
    LANES = 8,
    PIECE = 256, // chunks that are reduced to one chaining value; a power of two, 256 KiB
    DEPTH = 64,
};

enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };

static const uint32_t start[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                  0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};

static const uint8_t schedule[7][WORDS] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8},
    {3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1},
    {10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6},
    {12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4},
    {9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7},
    {11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13},
};

#define ROTATE(x, by) ((x) >> (by) | (x) << (32 - (by)))
#define MIX(v, a, b, c, d, x, y)                                                                   \
    do {                                                                                           \
        v[a] = v[a] + v[b] + (x);                                                                  \
        v[d] = ROTATE(v[d] ^ v[a], 16);                                                            \
        v[c] = v[c] + v[d];                                                                        \
        v[b] = ROTATE(v[b] ^ v[c], 12);                                                            \
        v[a] = v[a] + v[b] + (y);                                                                  \
        v[d] = ROTATE(v[d] ^ v[a], 8);                                                             \
        v[c] = v[c] + v[d];                                                                        \
        v[b] = ROTATE(v[b] ^ v[c], 7);                                                             \
    } while (0)
#define ROUND(v, m, s)                                                                             \
    do {                                                                                           \
        MIX(v, 0, 4, 8, 12, m[(s)[0]], m[(s)[1]]);                                                 \
        MIX(v, 1, 5, 9, 13, m[(s)[2]], m[(s)[3]]);                                                 \
        MIX(v, 2, 6, 10, 14, m[(s)[4]], m[(s)[5]]);                                                \
        MIX(v, 3, 7, 11, 15, m[(s)[6]], m[(s)[7]]);                                                \
        MIX(v, 0, 5, 10, 15, m[(s)[8]], m[(s)[9]]);                                                \
        MIX(v, 1, 6, 11, 12, m[(s)[10]], m[(s)[11]]);                                              \
        MIX(v, 2, 7, 8, 13, m[(s)[12]], m[(s)[13]]);                                               \
        MIX(v, 3, 4, 9, 14, m[(s)[14]], m[(s)[15]]);                                               \
    } while (0)

static uint32_t read_word(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void write_words(const uint32_t words[8], uint8_t out[CHAIN]) {
    for (int i = 0; i < CHAIN; ++i)
        out[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
}

// ---- one block ---------------------------------------------------------------------------------

static void compress(uint32_t chain[8], const uint8_t block[BLOCK], uint32_t size, uint64_t counter,
                     uint32_t flags) {
    uint32_t m[WORDS], v[WORDS];
    for (int i = 0; i < WORDS; ++i)
        m[i] = read_word(block + 4 * (size_t)i);
    memcpy(v, chain, 8 * sizeof *v);
    memcpy(v + 8, start, 4 * sizeof *v);
    v[12] = (uint32_t)counter;
    v[13] = (uint32_t)(counter >> 32);
    v[14] = size;
    v[15] = flags;
    for (int round = 0; round < 7; ++round)
        ROUND(v, m, schedule[round]);
    for (int i = 0; i < 8; ++i)
        chain[i] = v[i] ^ v[i + 8];
}

// A chunk of at most 1 KiB; `flags`: ROOT if it is all there is.
static void hash_chunk(const uint8_t *at, size_t size, uint64_t number, uint32_t flags,
                       uint8_t out[CHAIN]) {
    uint32_t chain[8], first = CHUNK_START;
    memcpy(chain, start, sizeof chain);
    for (; size > BLOCK; at += BLOCK, size -= BLOCK, first = 0)
        compress(chain, at, BLOCK, number, first);
    uint8_t last[BLOCK] = {0};
    if (size) memcpy(last, at, size);
    compress(chain, last, (uint32_t)size, number, first | CHUNK_END | flags);
    write_words(chain, out);
}

// Of two chaining values, one behind the other; `out` may be the first.
static void hash_parent(const uint8_t pair[BLOCK], uint32_t flags, uint8_t out[CHAIN]) {
    uint32_t chain[8];
    memcpy(chain, start, sizeof chain);
    compress(chain, pair, BLOCK, 0, PARENT | flags);
    write_words(chain, out);
}

// ---- LANES at once -----------------------------------------------------------------------------

typedef uint32_t lanes_t __attribute__((vector_size(4 * LANES)));

// What LANES inputs of `blocks` blocks each are; the first block of one is `stride` bytes behind
// that of the one before.
typedef struct many_t {
    const uint8_t *at;
    size_t stride, blocks;
    uint64_t number; // of the first, if they are chunks
    bool are_chunks;
    uint8_t *out; // their chaining values; may be `at`
} many_t;

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (lanes_t){__VA_ARGS__})
#endif
#define LOW_WORDS(a, b) SHUFFLE(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH_WORDS(a, b) SHUFFLE(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOW_PAIRS(a, b) SHUFFLE(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH_PAIRS(a, b) SHUFFLE(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define LOW_FOURS(a, b) SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH_FOURS(a, b) SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15)

// Of LANES rows, one per lane, the columns: m[i] has word i of each.
#define TRANSPOSE(m)                                                                               \
    do {                                                                                           \
        lanes_t t_[LANES];                                                                         \
        for (int i_ = 0; i_ < LANES; i_ += 4) {                                                    \
            lanes_t a_ = LOW_WORDS((m)[i_], (m)[i_ + 1]), b_ = HIGH_WORDS((m)[i_], (m)[i_ + 1]);   \
            lanes_t c_ = LOW_WORDS((m)[i_ + 2], (m)[i_ + 3]);                                      \
            lanes_t d_ = HIGH_WORDS((m)[i_ + 2], (m)[i_ + 3]);                                     \
            t_[i_] = LOW_PAIRS(a_, c_);                                                            \
            t_[i_ + 1] = HIGH_PAIRS(a_, c_);                                                       \
            t_[i_ + 2] = LOW_PAIRS(b_, d_);                                                        \
            t_[i_ + 3] = HIGH_PAIRS(b_, d_);                                                       \
        }                                                                                          \
        for (int i_ = 0; i_ < 4; ++i_) {                                                           \
            (m)[i_] = LOW_FOURS(t_[i_], t_[i_ + 4]);                                               \
            (m)[i_ + 4] = HIGH_FOURS(t_[i_], t_[i_ + 4]);                                          \
        }                                                                                          \
    } while (0)

static inline __attribute__((always_inline)) void hash_many_as(const many_t *many) {
    const lanes_t zero = {0};
    lanes_t chain[8], low = zero, high = zero;
    for (int i = 0; i < 8; ++i)
        chain[i] = zero + start[i];
    for (uint32_t i = 0; i < LANES; ++i) {
        uint64_t number = many->are_chunks ? many->number + i : 0;
        low[i] = (uint32_t)number;
        high[i] = (uint32_t)(number >> 32);
    }
    for (size_t block = 0; block < many->blocks; ++block) {
        uint32_t flags = many->are_chunks ? 0 : PARENT;
        if (many->are_chunks && !block) flags |= CHUNK_START;
        if (many->are_chunks && block + 1 == many->blocks) flags |= CHUNK_END;
        lanes_t m[WORDS], v[WORDS] = {zero};
        for (size_t i = 0; i < LANES; ++i)
            memcpy(&m[i], many->at + i * many->stride + block * BLOCK, sizeof m[i]);
        for (size_t i = 0; i < LANES; ++i)
            memcpy(&m[LANES + i], many->at + i * many->stride + block * BLOCK + sizeof m[i],
                   sizeof m[i]);
        TRANSPOSE(m);
        TRANSPOSE(m + LANES);
        for (int i = 0; i < 8; ++i)
            v[i] = chain[i];
        for (int i = 0; i < 4; ++i)
            v[8 + i] = zero + start[i];
        v[12] = low;
        v[13] = high;
        v[14] = zero + (uint32_t)BLOCK;
        v[15] = zero + flags;
        ROUND(v, m, schedule[0]);
        ROUND(v, m, schedule[1]);
        ROUND(v, m, schedule[2]);
        ROUND(v, m, schedule[3]);
        ROUND(v, m, schedule[4]);
        ROUND(v, m, schedule[5]);
        ROUND(v, m, schedule[6]);
        for (int i = 0; i < 8; ++i)
            chain[i] = v[i] ^ v[i + 8];
    }
    for (int lane = 0; lane < LANES; ++lane) {
        uint32_t words[8];
        for (int i = 0; i < 8; ++i)
            words[i] = chain[i][lane];
        write_words(words, many->out + (size_t)CHAIN * (size_t)lane);
    }
}

static void hash_many_anywhere(const many_t *many) {
    hash_many_as(many);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void hash_many_avx2(const many_t *many) {
    hash_many_as(many);
}

__attribute__((target("avx512f,avx512vl"))) static void hash_many_avx512(const many_t *many) {
    hash_many_as(many);
}
#endif

typedef void (*hash_many_t)(const many_t *many);

static hash_many_t choose(keel_bulk_code_t code) {
#ifdef __x86_64__
    if (code == KEEL_BULK_FASTEST && __builtin_cpu_supports("avx512vl")) return hash_many_avx512;
    if (code != KEEL_BULK_ANYWHERE && __builtin_cpu_supports("avx2")) return hash_many_avx2;
#endif
    (void)code;
    return hash_many_anywhere;
}

// ---- the tree ----------------------------------------------------------------------------------

// The chaining values of neighbors are put together until one is left; an odd one waits at the end.
static void reduce(hash_many_t hash_many, uint8_t *chains, size_t count, uint32_t flags) {
    while (count > 1) {
        size_t pairs = count / 2, done = 0;
        for (; pairs - done >= LANES; done += LANES)
            hash_many(&(many_t){.at = chains + done * BLOCK,
                                .stride = BLOCK,
                                .blocks = 1,
                                .out = chains + done * CHAIN});
        for (; done < pairs; ++done)
            hash_parent(chains + done * BLOCK, count == 2 ? flags : 0, chains + done * CHAIN);
        if (count % 2) memmove(chains + pairs * CHAIN, chains + (count - 1) * CHAIN, CHAIN);
        count = pairs + count % 2;
    }
}

// At most PIECE chunks; `flags`: ROOT if they are all there is.
static void hash_piece(hash_many_t hash_many, keel_bytes_t bytes, uint64_t number, uint32_t flags,
                       uint8_t out[CHAIN]) {
    uint8_t chains[PIECE * CHAIN];
    size_t whole = bytes.size / CHUNK, count = 0;
    for (; whole - count >= LANES; count += LANES)
        hash_many(&(many_t){.at = bytes.data + count * CHUNK,
                            .stride = CHUNK,
                            .blocks = CHUNK / BLOCK,
                            .number = number + count,
                            .are_chunks = true,
                            .out = chains + count * CHAIN});
    for (size_t at = count * CHUNK; at < bytes.size || !count; at += CHUNK, ++count) {
        size_t left = bytes.size - at, size = left < CHUNK ? left : CHUNK;
        bool is_all = bytes.size <= CHUNK;
        hash_chunk(bytes.data + at, size, number + count, is_all ? flags : 0,
                   chains + count * CHAIN);
    }
    reduce(hash_many, chains, count, flags);
    memcpy(out, chains, CHAIN);
}

keel_digest_t keel_bulk_digest_by(keel_bulk_code_t code, keel_bytes_t bytes) {
    const size_t piece = (size_t)PIECE * CHUNK;
    hash_many_t hash_many = choose(code);
    uint8_t stack[DEPTH][CHAIN], pair[BLOCK];
    size_t depth = 0;
    uint64_t pieces = 0;
    bool is_small = bytes.size <= piece;
    // The last piece waits, because what is above it may be the root.
    while (bytes.size > piece) {
        uint8_t *chain = pair + CHAIN;
        hash_piece(hash_many, keel_bytes(bytes.data, piece), pieces * PIECE, 0, chain);
        bytes = keel_bytes(bytes.data + piece, bytes.size - piece);
        for (uint64_t full = ++pieces; !(full & 1); full >>= 1) {
            memcpy(pair, stack[--depth], CHAIN);
            hash_parent(pair, 0, chain);
        }
        memcpy(stack[depth++], chain, CHAIN);
    }
    hash_piece(hash_many, bytes, pieces * PIECE, is_small ? ROOT : 0, pair + CHAIN);
    while (depth) {
        memcpy(pair, stack[--depth], CHAIN);
        hash_parent(pair, depth ? 0 : ROOT, pair + CHAIN);
    }
    keel_digest_t digest;
    memcpy(digest.bytes, pair + CHAIN, CHAIN);
    return digest;
}

keel_digest_t keel_bulk_digest(keel_bytes_t bytes) {
    return keel_bulk_digest_by(KEEL_BULK_FASTEST, bytes);
}
