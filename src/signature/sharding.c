// Shardings in each spelling that clients use: HLO's text (the attribute mhlo.sharding), Shardy's
// attribute, and the OpSharding of HLO programs. All of them become an OpSharding.
//
// Source: xla/xla_data.proto (OpSharding), the grammar of HLO's text (xla/hlo/parser), and
// openxla/shardy's attributes.
#include "signature/axes.h"

// ---- HLO's text --------------------------------------------------------------------------------

typedef struct text_t {
    keel_str_t rest;
} text_t;

static void skip_blanks(text_t *text) {
    while (text->rest.size && (*text->rest.data == ' ' || *text->rest.data == ',')) {
        ++text->rest.data;
        --text->rest.size;
    }
}

static bool take(text_t *text, const char *word) {
    skip_blanks(text);
    keel_str_t wanted = keel_str(word);
    if (!keel_str_starts(text->rest, wanted)) return false;
    text->rest.data += wanted.size;
    text->rest.size -= wanted.size;
    return true;
}

static bool take_number(text_t *text, int64_t *out) {
    skip_blanks(text);
    size_t at = 0;
    int64_t value = 0;
    for (; at < text->rest.size && keel_is_digit(text->rest.data[at]) && value < INT32_MAX; ++at)
        value = value * 10 + (text->rest.data[at] - '0');
    if (!at) return false;
    text->rest.data += at;
    text->rest.size -= at;
    *out = value;
    return true;
}

static keel_status_t take_numbers(text_t *text, numbers_t *out) {
    int64_t number;
    while (take_number(text, &number))
        KEEL_TRY(numbers_push(out, number));
    return NULL;
}

// "[2,1]<=[2]", "[2,1,4]<=[2,4]T(1,0)" or "[2,2]0,1,2,3", after "devices=".
static keel_status_t take_tiles(text_t *text, keel_buffer_t *out, bool *out_ok) {
    numbers_t dims = {.count = 0}, reshape = {.count = 0}, transpose = {.count = 0};
    *out_ok = take(text, "[");
    KEEL_TRY(take_numbers(text, &dims));
    *out_ok = *out_ok && take(text, "]");
    sharding_put_packed(out, SHARDING_TILE_DIMS, dims.items, dims.count);
    if (take(text, "<=[")) {
        KEEL_TRY(take_numbers(text, &reshape));
        *out_ok = *out_ok && take(text, "]");
        if (take(text, "T(")) {
            KEEL_TRY(take_numbers(text, &transpose));
            *out_ok = *out_ok && take(text, ")");
        }
        if (!transpose.count)
            for (uint32_t i = 0; i < reshape.count; ++i)
                KEEL_TRY(numbers_push(&transpose, i));
        sharding_put_packed(out, SHARDING_IOTA_RESHAPE, reshape.items, reshape.count);
        sharding_put_packed(out, SHARDING_IOTA_TRANSPOSE, transpose.items, transpose.count);
        return NULL;
    }
    size_t opened = keel_proto_open(out, SHARDING_TILE_DEVICES);
    int64_t device;
    while (take_number(text, &device))
        keel_proto_put_varint(out, (uint64_t)device);
    keel_proto_close(out, opened);
    return NULL;
}

// "last_tile_dims={manual, replicated}", after the brace.
static bool take_last_dims(text_t *text, keel_buffer_t *out) {
    numbers_t types = {.count = 0};
    while (!take(text, "}")) {
        int64_t type = take(text, "replicated")  ? IS_REPLICATED
                       : take(text, "manual")    ? IS_MANUAL
                       : take(text, "unreduced") ? IS_UNREDUCED
                                                 : -1;
        if (type < 0 || types.count == AXES_MOST) return false;
        types.items[types.count++] = type;
    }
    sharding_put_packed(out, SHARDING_LAST_DIMS, types.items, types.count);
    return true;
}

static keel_status_t parse(text_t *text, keel_buffer_t *out, bool *out_ok) {
    int64_t device;
    *out_ok = take(text, "{");
    if (take(text, "replicated")) {
        sharding_put_type(out, IS_REPLICATED);
    } else if (take(text, "manual")) {
        sharding_put_type(out, IS_MANUAL);
    } else if (take(text, "unreduced")) {
        sharding_put_type(out, IS_UNREDUCED);
    } else if (take(text, "maximal device=")) {
        *out_ok = *out_ok && take_number(text, &device);
        sharding_put_type(out, IS_MAXIMAL);
        if (*out_ok) sharding_put_packed(out, SHARDING_TILE_DEVICES, &device, 1);
    } else if (take(text, "devices=")) {
        sharding_put_type(out, IS_OTHER);
        KEEL_TRY(take_tiles(text, out, out_ok));
        if (take(text, "last_tile_dim_replicate"))
            keel_proto_put_number(out, SHARDING_REPLICATE_LAST, KEEL_WIRE_VARINT, 1);
        else if (take(text, "last_tile_dims={"))
            *out_ok = *out_ok && take_last_dims(text, out);
    } else {
        *out_ok = false;
    }
    *out_ok = *out_ok && take(text, "}") && !text->rest.size;
    return NULL;
}

keel_status_t keel_sharding_parse(keel_str_t text, keel_buffer_t *out) {
    text_t rest = {text};
    bool ok;
    KEEL_TRY(parse(&rest, out, &ok));
    if (ok) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED, "the sharding %.*s is not understood",
                            KEEL_STR_ARGS(text));
}

// ---- HLO's messages ----------------------------------------------------------------------------

static keel_attr_id_t field(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    return keel_program_dict_find(program, dict, name);
}

static keel_ints_t ints_of(const keel_program_t *program, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(program, id);
    return keel_program_ints(program, attr->kind == KEEL_ATTR_INTS ? attr->b : KEEL_NONE);
}

static keel_status_t write_hlo(const keel_program_t *program, keel_attr_id_t message,
                               keel_buffer_t *out) {
    static const struct {
        const char *name;
        uint32_t number;
    } lists[] = {{"tile_assignment_dimensions", SHARDING_TILE_DIMS},
                 {"tile_assignment_devices", SHARDING_TILE_DEVICES},
                 {"iota_reshape_dims", SHARDING_IOTA_RESHAPE},
                 {"iota_transpose_perm", SHARDING_IOTA_TRANSPOSE}};
    if (field(program, message, "named_sharding") != KEEL_NONE ||
        field(program, message, "last_tile_dims") != KEEL_NONE)
        return keel_status_make(KEEL_UNSUPPORTED, "a sharding of named axes in HLO");
    const keel_attr_t *type = keel_program_attr(program, field(program, message, "type"));
    sharding_put_type(out, type->kind == KEEL_ATTR_ENUM ? type->a : IS_REPLICATED);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        keel_ints_t items = ints_of(program, field(program, message, lists[i].name));
        sharding_put_packed(out, lists[i].number, items.items, items.count);
    }
    const keel_attr_t *last =
        keel_program_attr(program, field(program, message, "replicate_on_last_tile_dim"));
    if (last->kind == KEEL_ATTR_BOOL && last->a)
        keel_proto_put_number(out, SHARDING_REPLICATE_LAST, KEEL_WIRE_VARINT, 1);
    return NULL;
}

keel_status_t keel_sharding_write(const keel_program_t *program, keel_attr_id_t attribute,
                                  keel_buffer_t *out) {
    const keel_attr_t *attr = keel_program_attr(program, attribute);
    if (attr->kind == KEEL_ATTR_DICT && attr->klass == KEEL_RECORD_SDY_SHARDING) {
        axes_t axes;
        KEEL_TRY(named_read_sdy(program, attribute, &axes));
        return axes_write(&axes, out);
    }
    if (attr->kind == KEEL_ATTR_DICT && attr->klass == KEEL_RECORD_HLO_MESSAGE)
        return write_hlo(program, attribute, out);
    return keel_sharding_parse(
        keel_program_str(program, attr->kind == KEEL_ATTR_STRING ? attr->a : KEEL_NONE), out);
}

// ---- tiles -------------------------------------------------------------------------------------

static keel_status_t write_named(keel_bytes_t named, uint32_t rank, keel_buffer_t *out) {
    axes_t axes;
    int64_t *devices;
    keel_status_t status = named_read_proto(named, &axes, &devices);
    if (axes.rank < rank) axes.rank = rank; // it may leave out dimensions that it does not cut
    if (!status) status = axes_write(&axes, out);
    keel_free(devices);
    return status;
}

keel_status_t keel_sharding_tiles(keel_bytes_t sharding, uint32_t rank, keel_buffer_t *out) {
    keel_cursor_t cursor = keel_cursor(sharding);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field))
        if (field.number == SHARDING_NAMED && field.wire == KEEL_WIRE_BYTES)
            return write_named(field.bytes, rank, out);
    if (cursor.failed) return keel_status_make(KEEL_UNSUPPORTED, "a sharding that is damaged");
    keel_buffer_append(out, sharding.data, sharding.size);
    if (!sharding.size) sharding_put_type(out, IS_REPLICATED);
    return keel_buffer_status(out);
}

// ---- parts -------------------------------------------------------------------------------------

typedef struct read_sharding_t {
    uint64_t type;
    numbers_t tiles, last, reshape, transpose;
    keel_bytes_t devices; // packed
    bool replicates;
} read_sharding_t;

static bool read_sharding(keel_bytes_t sharding, read_sharding_t *out) {
    keel_cursor_t cursor = keel_cursor(sharding);
    keel_proto_field_t field;
    bool ok = true;
    *out = (read_sharding_t){.type = IS_REPLICATED};
    while (keel_proto_next(&cursor, &field)) {
        switch (field.number) {
            case SHARDING_TYPE:
                out->type = field.value;
                break;
            case SHARDING_TILE_DIMS:
                ok = numbers_take(&field, &out->tiles) && ok;
                break;
            case SHARDING_TILE_DEVICES:
                ok = ok && field.wire == KEEL_WIRE_BYTES;
                out->devices = field.bytes;
                break;
            case SHARDING_REPLICATE_LAST:
                out->replicates = field.value != 0;
                break;
            case SHARDING_LAST_DIMS:
                ok = numbers_take(&field, &out->last) && ok;
                break;
            case SHARDING_IOTA_RESHAPE:
                ok = numbers_take(&field, &out->reshape) && ok;
                break;
            case SHARDING_IOTA_TRANSPOSE:
                ok = numbers_take(&field, &out->transpose) && ok;
                break;
            default:
                break;
        }
    }
    return ok && !cursor.failed;
}

static keel_status_t unfit(uint32_t rank) {
    return keel_status_make(KEEL_UNSUPPORTED,
                            "a sharding that does not fit an array of %u dimensions", rank);
}

keel_status_t keel_sharding_parts(keel_bytes_t sharding, uint32_t rank, int64_t *out_parts) {
    read_sharding_t read;
    bool ok = read_sharding(sharding, &read);
    for (uint32_t i = 0; i < rank; ++i)
        out_parts[i] = 1;
    if (ok && read.type != IS_OTHER && read.type != IS_TUPLE) return NULL;
    uint32_t more = read.last.count + (read.replicates ? 1 : 0);
    ok = ok && read.type == IS_OTHER && read.tiles.count == rank + more;
    for (uint32_t i = 0; i < rank && ok; ++i) {
        ok = read.tiles.items[i] > 0 && read.tiles.items[i] <= INT32_MAX;
        out_parts[i] = read.tiles.items[i];
    }
    return ok ? NULL : unfit(rank);
}

static bool has_unreduced(const read_sharding_t *read) {
    bool found = read->type == IS_UNREDUCED;
    for (uint32_t i = 0; i < read->last.count; ++i)
        found = found || read->last.items[i] == IS_UNREDUCED;
    return found;
}

bool keel_sharding_is_unreduced(keel_bytes_t sharding) {
    read_sharding_t read;
    return read_sharding(sharding, &read) && has_unreduced(&read);
}

// ---- places ------------------------------------------------------------------------------------

static bool place_tiles(const read_sharding_t *read, uint32_t rank, uint32_t partitions,
                        int64_t *out) {
    iota_t iota;
    int64_t at[AXES_MOST] = {0};
    uint32_t placed = 0;
    keel_cursor_t devices = keel_cursor(read->devices);
    bool is_listed = read->devices.size != 0;
    if (!iota_begin(&read->reshape, &read->transpose, &iota)) return false;
    for (uint32_t tile = 0; tile < partitions; ++tile) {
        int64_t device = is_listed ? (int64_t)keel_proto_varint(&devices) : iota_next(&iota);
        if (devices.failed || device < 0 || device >= partitions) return false;
        for (uint32_t i = 0; i < rank; ++i)
            out[(size_t)device * rank + i] = at[i];
        ++placed;
        for (uint32_t i = read->tiles.count; i--;) {
            if (++at[i] < read->tiles.items[i]) break;
            at[i] = 0;
        }
    }
    return placed == partitions;
}

keel_status_t keel_sharding_places(keel_bytes_t sharding, uint32_t rank, uint32_t partitions,
                                   int64_t *out_places) {
    read_sharding_t read;
    bool ok = read_sharding(sharding, &read);
    for (size_t i = 0; i < (size_t)rank * partitions; ++i)
        out_places[i] = 0;
    bool is_whole = read.type == IS_REPLICATED || read.type == IS_UNREDUCED;
    if (ok && (is_whole || !rank)) return NULL;
    int64_t tiles = 1;
    for (uint32_t i = 0; i < read.tiles.count; ++i)
        ok = ok && devices_multiply(&tiles, read.tiles.items[i]);
    ok = ok && read.type == IS_OTHER && read.tiles.count >= rank && tiles == partitions;
    return ok && place_tiles(&read, rank, partitions, out_places) ? NULL : unfit(rank);
}
