// Tiles of shardings that name axes.
//
// An axis is cut where a sharding uses a part of it. The pieces, outermost first, are the
// dimensions of the devices' numbers. The tiles are these dimensions in another order: those that
// cut the array's dimensions, then the rest.
#include "signature/axes.h"

typedef struct piece_t {
    uint32_t axis;
    int64_t before, size; // the product of the sizes of this axis's earlier pieces
    bool used;
} piece_t;

typedef struct pieces_t {
    piece_t items[AXES_MOST];
    uint32_t count;
} pieces_t;

keel_status_t numbers_push(numbers_t *list, int64_t item) {
    if (list->count == AXES_MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "a sharding of more than %d dimensions",
                                AXES_MOST);
    list->items[list->count++] = item;
    return NULL;
}

bool devices_multiply(int64_t *product, int64_t by) {
    if (by < 1 || *product > INT32_MAX / by) return false;
    *product *= by;
    return true;
}

bool numbers_take(const keel_proto_field_t *field, numbers_t *list) {
    keel_cursor_t cursor = keel_cursor(field->bytes);
    if (field->wire == KEEL_WIRE_VARINT && list->count < AXES_MOST) {
        list->items[list->count++] = (int64_t)field->value;
        return true;
    }
    if (field->wire != KEEL_WIRE_BYTES) return false;
    while (!cursor.failed && keel_cursor_left(&cursor) && list->count < AXES_MOST)
        list->items[list->count++] = (int64_t)keel_proto_varint(&cursor);
    return !cursor.failed && !keel_cursor_left(&cursor);
}

bool iota_begin(const numbers_t *dims, const numbers_t *order, iota_t *out) {
    int64_t strides[AXES_MOST];
    *out = (iota_t){.count = dims->count, .all = 1};
    if (order->count != dims->count) return false;
    for (uint32_t i = dims->count; i--;) {
        strides[i] = out->all;
        if (!devices_multiply(&out->all, dims->items[i])) return false;
    }
    for (uint32_t i = 0; i < out->count; ++i) {
        int64_t from = order->items[i];
        if (from < 0 || from >= out->count) return false;
        out->sizes[i] = dims->items[from];
        out->strides[i] = strides[from];
    }
    return true;
}

int64_t iota_next(iota_t *iota) {
    int64_t number = iota->next;
    for (uint32_t i = iota->count; i--;) {
        iota->next += iota->strides[i];
        if (++iota->at[i] < iota->sizes[i]) break;
        iota->next -= iota->strides[i] * iota->at[i];
        iota->at[i] = 0;
    }
    if (!iota->count) ++iota->next;
    return number;
}

void sharding_put_packed(keel_buffer_t *out, uint32_t field, const int64_t *items, size_t count) {
    if (!count) return;
    size_t opened = keel_proto_open(out, field);
    for (size_t i = 0; i < count; ++i)
        keel_proto_put_varint(out, (uint64_t)items[i]);
    keel_proto_close(out, opened);
}

void sharding_put_type(keel_buffer_t *out, uint64_t type) {
    keel_proto_put_number(out, SHARDING_TYPE, KEEL_WIRE_VARINT, type);
}

keel_status_t axes_use(axes_t *axes, axis_part_t part) {
    int64_t whole = axes->sizes.items[part.axis];
    if (!part.size) part = (axis_part_t){part.axis, part.use, 1, whole};
    bool is_part = part.before > 0 && part.size > 0 && part.before <= whole / part.size;
    if (!is_part) return keel_status_make(KEEL_UNSUPPORTED, "a sharding on no part of an axis");
    if (axes->part_count == AXES_MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "a sharding on more than %d parts of axes",
                                AXES_MOST);
    axes->parts[axes->part_count++] = part;
    return NULL;
}

// Cuts an axis behind its first `at` parts.
static keel_status_t cut(pieces_t *pieces, uint32_t axis, int64_t at) {
    for (uint32_t i = 0; i < pieces->count; ++i) {
        piece_t *piece = &pieces->items[i];
        if (piece->axis != axis || at <= piece->before || at >= piece->before * piece->size)
            continue;
        if (at % piece->before || piece->size % (at / piece->before))
            return keel_status_make(KEEL_UNSUPPORTED, "a mesh axis is cut in uneven parts");
        if (pieces->count == AXES_MOST)
            return keel_status_make(KEEL_UNSUPPORTED, "a mesh axis in more than %d parts",
                                    AXES_MOST);
        memmove(piece + 1, piece, (pieces->count - i) * sizeof *piece);
        ++pieces->count;
        piece->size = at / piece->before;
        piece[1].before = at;
        piece[1].size /= piece->size;
        return NULL;
    }
    return NULL;
}

static keel_status_t cut_all(const axes_t *axes, pieces_t *out) {
    int64_t all = 1;
    out->count = 0;
    for (uint32_t i = 0; i < axes->sizes.count; ++i) {
        int64_t size = axes->sizes.items[i];
        if (!devices_multiply(&all, size))
            return keel_status_make(KEEL_UNSUPPORTED, "a mesh axis of size %lld", (long long)size);
        out->items[out->count++] = (piece_t){.axis = i, .before = 1, .size = size};
    }
    for (uint32_t i = 0; i < axes->part_count; ++i) {
        const axis_part_t *part = &axes->parts[i];
        KEEL_TRY(cut(out, part->axis, part->before));
        KEEL_TRY(cut(out, part->axis, part->before * part->size));
    }
    return NULL;
}

// Appends the pieces with that use to `order`; *out_parts is the product of their sizes.
static keel_status_t use(const axes_t *axes, uint32_t wanted, pieces_t *pieces, numbers_t *order,
                         int64_t *out_parts) {
    *out_parts = 1;
    for (uint32_t i = 0; i < axes->part_count; ++i) {
        const axis_part_t *part = &axes->parts[i];
        for (uint32_t j = 0; part->use == wanted && j < pieces->count; ++j) {
            piece_t *piece = &pieces->items[j];
            bool inside = piece->axis == part->axis && piece->before >= part->before &&
                          piece->before * piece->size <= part->before * part->size;
            if (!inside) continue;
            if (piece->used && piece->size > 1)
                return keel_status_make(KEEL_UNSUPPORTED, "a sharding that uses an axis twice");
            if (piece->used) continue;
            piece->used = true;
            *out_parts *= piece->size;
            KEEL_TRY(numbers_push(order, j));
        }
    }
    return NULL;
}

// What is left over is replicated.
static keel_status_t use_rest(pieces_t *pieces, numbers_t *order, int64_t *out_parts) {
    *out_parts = 1;
    for (uint32_t i = 0; i < pieces->count; ++i) {
        if (pieces->items[i].used) continue;
        KEEL_TRY(numbers_push(order, i));
        *out_parts *= pieces->items[i].size;
    }
    return NULL;
}

static numbers_t sizes_of(const pieces_t *pieces) {
    numbers_t sizes = {.count = pieces->count};
    for (uint32_t i = 0; i < pieces->count; ++i)
        sizes.items[i] = pieces->items[i].size;
    return sizes;
}

// The devices, tile by tile: the mesh's own numbers, transposed. `order` has all pieces.
static keel_status_t put_devices(const axes_t *axes, const pieces_t *pieces, const numbers_t *order,
                                 keel_buffer_t *out) {
    const numbers_t sizes = sizes_of(pieces);
    iota_t iota;
    if (!iota_begin(&sizes, order, &iota) || (int64_t)axes->device_count != iota.all)
        return keel_status_make(KEEL_UNSUPPORTED, "a mesh of %lld devices that lists %zu",
                                (long long)iota.all, axes->device_count);
    size_t opened = keel_proto_open(out, SHARDING_TILE_DEVICES);
    for (int64_t written = 0; written < iota.all; ++written)
        keel_proto_put_varint(out, (uint64_t)axes->devices[iota_next(&iota)]);
    keel_proto_close(out, opened);
    return NULL;
}

static void put_iota(const pieces_t *pieces, const numbers_t *order, keel_buffer_t *out) {
    const numbers_t sizes = sizes_of(pieces);
    sharding_put_packed(out, SHARDING_IOTA_RESHAPE, sizes.items, sizes.count);
    sharding_put_packed(out, SHARDING_IOTA_TRANSPOSE, order->items, order->count);
}

// The last dimensions of the tiles are no dimensions of the array. One that is replicated alone has
// a spelling of its own.
static void put_last(const numbers_t *last, keel_buffer_t *out) {
    if (last->count == 1 && last->items[0] == IS_REPLICATED)
        keel_proto_put_number(out, SHARDING_REPLICATE_LAST, KEEL_WIRE_VARINT, 1);
    else
        sharding_put_packed(out, SHARDING_LAST_DIMS, last->items, last->count);
}

keel_status_t axes_write(const axes_t *axes, keel_buffer_t *out) {
    static const uint32_t others[][2] = {{USE_MANUAL, IS_MANUAL}, {USE_UNREDUCED, IS_UNREDUCED}};
    numbers_t tiles = {.count = 0}, order = {.count = 0}, last = {.count = 0};
    pieces_t pieces;
    int64_t parts, all = 1;
    if (!axes->sizes.count && axes->device_count == 1) { // all of the array is there
        sharding_put_type(out, IS_MAXIMAL);
        sharding_put_packed(out, SHARDING_TILE_DEVICES, axes->devices, 1);
        return NULL;
    }
    KEEL_TRY(cut_all(axes, &pieces));
    for (uint32_t i = 0; i < axes->rank; ++i) {
        KEEL_TRY(use(axes, i, &pieces, &order, &parts));
        KEEL_TRY(numbers_push(&tiles, parts));
        all *= parts;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        KEEL_TRY(use(axes, others[i][0], &pieces, &order, &parts));
        if (parts == 1) continue;
        KEEL_TRY(numbers_push(&tiles, parts));
        KEEL_TRY(numbers_push(&last, others[i][1]));
    }
    KEEL_TRY(use_rest(&pieces, &order, &parts));
    bool is_one = all == 1 && last.count + (parts > 1) <= 1;
    if (is_one) {
        sharding_put_type(out, last.count ? (uint64_t)last.items[0] : IS_REPLICATED);
        return NULL;
    }
    if (parts > 1) {
        KEEL_TRY(numbers_push(&tiles, parts));
        KEEL_TRY(numbers_push(&last, IS_REPLICATED));
    }
    sharding_put_type(out, IS_OTHER);
    sharding_put_packed(out, SHARDING_TILE_DIMS, tiles.items, tiles.count);
    if (axes->device_count) KEEL_TRY(put_devices(axes, &pieces, &order, out));
    put_last(&last, out);
    if (!axes->device_count) put_iota(&pieces, &order, out);
    return NULL;
}
