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
    for (size_t i = 0; i < rank; ++i)
        if (dims[i] <= 0) return 0;
    for (size_t i = 0; i < rank; ++i) {
        if (bits > (uint64_t)INT64_MAX / (uint64_t)dims[i]) return INT64_MAX;
        bits *= (uint64_t)dims[i];
    }
    return bits / 8 + (bits % 8 != 0);
}

uint64_t bytes_of_elements(PJRT_Buffer_Type type, const int64_t *dims, size_t rank) {
    return bytes_of(dims, rank, bits_of(type));
}

keel_status_t host_bytes(PJRT_Buffer_Type type, const int64_t *dims, size_t rank, size_t *out) {
    size_t element = element_bytes(type);
    uint64_t count = 1; // as if no dimension were 0: compilers count so, too
    bool is_empty = false;
    for (size_t i = 0; i < rank; ++i) {
        if (dims[i] < 0)
            return keel_status_make(KEEL_INVALID, "an array with a dimension of %lld",
                                    (long long)dims[i]);
        is_empty |= !dims[i];
        if (!dims[i]) continue;
        if (count > SIZE_MAX / 64 / (uint64_t)dims[i])
            return keel_status_make(KEEL_INVALID, "an array that is larger than any memory");
        count *= (uint64_t)dims[i];
    }
    *out = is_empty ? 0 : (size_t)count * element;
    return NULL;
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

// ---- unknown values ----------------------------------------------------------------------------

// 1 and NaN as bit patterns; a type without NaN has 0. Complex numbers have this real part.
// Source: IEEE 754, and the tables of 8- and 4-bit floats in xla/xla_data.proto.
typedef struct patterns_t {
    uint64_t one, nan;
} patterns_t;

static patterns_t patterns_of(PJRT_Buffer_Type type) {
    switch (type) {
        case PJRT_Buffer_Type_F16:
            return (patterns_t){0x3c00, 0x7e00};
        case PJRT_Buffer_Type_BF16:
            return (patterns_t){0x3f80, 0x7fc0};
        case PJRT_Buffer_Type_F32:
        case PJRT_Buffer_Type_C64:
            return (patterns_t){0x3f800000, 0x7fc00000};
        case PJRT_Buffer_Type_F64:
        case PJRT_Buffer_Type_C128:
            return (patterns_t){0x3ff0000000000000, 0x7ff8000000000000};
        case PJRT_Buffer_Type_F8E5M2:
            return (patterns_t){0x3c, 0x7e};
        case PJRT_Buffer_Type_F8E4M3FN:
            return (patterns_t){0x38, 0x7f};
        case PJRT_Buffer_Type_F8E4M3:
            return (patterns_t){0x38, 0x7c};
        case PJRT_Buffer_Type_F8E3M4:
            return (patterns_t){0x30, 0x78};
        case PJRT_Buffer_Type_F8E4M3B11FNUZ:
            return (patterns_t){0x58, 0x80};
        case PJRT_Buffer_Type_F8E5M2FNUZ:
        case PJRT_Buffer_Type_F8E4M3FNUZ:
            return (patterns_t){0x40, 0x80};
        case PJRT_Buffer_Type_F8E8M0FNU:
            return (patterns_t){0x7f, 0xff};
        case PJRT_Buffer_Type_F4E2M1FN:
            return (patterns_t){0x2, 0};
        default:
            return (patterns_t){1, 0};
    }
}

void fill_unknown(PJRT_Buffer_Type type, void *data, size_t size) {
    patterns_t patterns = patterns_of(type);
    uint64_t pattern = rehearsal.fill == KEEL_REHEARSE_FILL_ONES  ? patterns.one
                       : rehearsal.fill == KEEL_REHEARSE_FILL_NAN ? patterns.nan
                                                                  : 0;
    size_t element = element_bytes(type),
           used = element > sizeof pattern ? sizeof pattern : element;
    bool is_complex = type == PJRT_Buffer_Type_C64 || type == PJRT_Buffer_Type_C128;
    if (is_complex) used = element / 2;
    memset(data, 0, size);
    for (size_t at = 0; pattern && used && at + element <= size; at += element)
        memcpy((char *)data + at, &pattern, used); // little-endian
}
