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

// "{1,0:T(8,128)(2,1)}": the first tile covers the minor dimensions; those behind it cut that tile
// further and pad nothing. A tile of more dimensions than the array pads it as if it had more, of
// size 1.
uint64_t bytes_on_device(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                         const char *layout) {
    int64_t order[RANK_MOST], tile[RANK_MOST], physical[RANK_MOST];
    static const char mark[] = ":T(";
    uint64_t bits = bits_of(type), dense = bytes_of(dims, rank, bits);
    const char *tiles = strstr(layout, mark);
    if (!dense || !tiles || layout_order(layout, order, RANK_MOST) != rank) return dense;
    for (size_t i = 0; i < rank; ++i) {
        if (order[i] < 0 || (size_t)order[i] >= rank) return dense;
        physical[i] = dims[order[i]]; // the minor one first
    }
    size_t count = layout_order(tiles + sizeof mark - 1, tile, RANK_MOST);
    for (size_t i = rank; i < count; ++i)
        physical[i] = 1;
    if (count > rank) rank = count;
    for (size_t i = 0; i < count; ++i) {
        int64_t size = tile[count - 1 - i];
        if (size > 0) physical[i] = (physical[i] + size - 1) / size * size;
    }
    return bytes_of(physical, rank, bits);
}
