// How many bytes an array takes on the target's device: a TPU pads arrays to whole tiles.
#include "rehearse/objects.h"

enum { RANK_MOST = 64 };

static unsigned bits_of(PJRT_Buffer_Type type) {
    switch (type) {
#define TYPE_BITS(number, name, bits)                                                              \
    case PJRT_Buffer_Type_##name:                                                                  \
        return bits;
        KEEL_PRIMITIVES(TYPE_BITS)
#undef TYPE_BITS
        default:
            return 0;
    }
}

size_t element_bytes(PJRT_Buffer_Type type) {
    return (bits_of(type) + 7) / 8;
}

// The product, or as much as fits.
static uint64_t bytes_of(const int64_t *dims, size_t rank, uint64_t bits) {
    for (size_t i = 0; i < rank; ++i) {
        if (dims[i] <= 0) return 0;
        if (bits > (uint64_t)INT64_MAX / (uint64_t)dims[i]) return INT64_MAX;
        bits *= (uint64_t)dims[i];
    }
    return bits / 8 + (bits % 8 != 0);
}

// Reads numbers up to a mark that is none: "1,0" of "1,0:T(8,128)}".
static size_t take_numbers(keel_str_t *text, int64_t out[RANK_MOST]) {
    size_t count = 0;
    while (text->size && keel_is_digit(*text->data) && count < RANK_MOST) {
        int64_t number = 0;
        for (; text->size && keel_is_digit(*text->data); ++text->data, --text->size)
            number = number * 10 + (*text->data - '0');
        out[count++] = number;
        if (text->size && *text->data == ',') ++text->data, --text->size;
    }
    return count;
}

// "{1,0:T(8,128)(2,1)}": dimensions from the minor one to the major one, then tiles. The first tile
// covers the minor dimensions; those behind it cut that tile further and pad nothing. A tile of more
// dimensions than the array pads it as if it had more, of size 1.
static uint64_t tiled_bytes(keel_str_t layout, const int64_t *dims, size_t rank, uint64_t bits) {
    int64_t order[RANK_MOST], tile[RANK_MOST], physical[RANK_MOST];
    if (layout.size && *layout.data == '{') ++layout.data, --layout.size;
    if (take_numbers(&layout, order) != rank) return bytes_of(dims, rank, bits);
    for (size_t i = 0; i < rank; ++i) {
        if (order[i] < 0 || (size_t)order[i] >= rank) return bytes_of(dims, rank, bits);
        physical[i] = dims[order[i]]; // the minor one first
    }
    static const char mark[] = ":T(";
    if (!keel_str_starts(layout, keel_str(mark))) return bytes_of(dims, rank, bits);
    layout.data += sizeof mark - 1;
    layout.size -= sizeof mark - 1;
    size_t count = take_numbers(&layout, tile);
    for (size_t i = rank; i < count && i < RANK_MOST; ++i)
        physical[i] = 1;
    if (count > rank) rank = count;
    for (size_t i = 0; i < count; ++i) {
        int64_t size = tile[count - 1 - i];
        if (size > 0) physical[i] = (physical[i] + size - 1) / size * size;
    }
    return bytes_of(physical, rank, bits);
}

static keel_status_t measure(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                             uint64_t *out) {
    keel_arena_t arena;
    keel_str_t layout;
    keel_arena_initialize(&arena, 0);
    keel_status_t status = layout_of(type, dims, rank, &arena, &layout);
    if (!status) *out = tiled_bytes(layout, dims, rank, bits_of(type));
    keel_arena_deinitialize(&arena);
    return status;
}

uint64_t bytes_on_device(PJRT_Buffer_Type type, const int64_t *dims, size_t rank) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static keel_map_t known;
    static bool is_ready;
    int64_t key[RANK_MOST + 1] = {type};
    uint64_t bytes = bytes_of(dims, rank, bits_of(type));
    if (!layout_is_told() || rank > RANK_MOST || !bytes) return bytes;
    if (rank) memcpy(key + 1, dims, rank * sizeof *dims);
    keel_bytes_t name = keel_bytes(key, (rank + 1) * sizeof *key);
    pthread_mutex_lock(&lock);
    if (!is_ready) keel_map_initialize(&known);
    is_ready = true;
    const uint64_t *found = keel_map_find(&known, name);
    keel_status_t status = NULL;
    if (found) bytes = *found;
    if (!found) status = measure(type, dims, rank, &bytes);
    if (!found && !status) status = keel_map_put(&known, name, bytes);
    pthread_mutex_unlock(&lock);
    keel_status_ignore(status); // then without padding
    return bytes;
}
