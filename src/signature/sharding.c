// Shardings in each spelling that clients use: HLO's text (the attribute mhlo.sharding), Shardy's
// attribute, and the OpSharding of HLO programs. All of them become an OpSharding.
//
// Source: xla/xla_data.proto (OpSharding), the grammar of HLO's text (xla/hlo/parser), and
// openxla/shardy's attributes.
#include "signature/signature.h"

enum {
    TYPE = 1,
    TILE_DIMS = 3,
    TILE_DEVICES = 4,
    REPLICATE_LAST = 6,
    LAST_DIMS = 8,
    IOTA_RESHAPE = 9,
    IOTA_TRANSPOSE = 10,
};
enum { REPLICATED = 0, MAXIMAL = 1, TUPLE = 2, OTHER = 3, MANUAL = 4, UNKNOWN = 5 };
enum { MOST = 64 }; // dimensions of a tile assignment, and axes of a mesh

typedef struct numbers_t {
    int64_t items[MOST];
    uint32_t count;
} numbers_t;

static void put_packed(keel_buffer_t *out, uint32_t field, const int64_t *items, size_t count) {
    if (!count) return;
    size_t opened = keel_proto_open(out, field);
    for (size_t i = 0; i < count; ++i)
        keel_proto_put_varint(out, (uint64_t)items[i]);
    keel_proto_close(out, opened);
}

// Also for REPLICATED, which the wire could leave out, so that a sharding is never empty.
static void put_type(keel_buffer_t *out, uint64_t type) {
    keel_proto_put_number(out, TYPE, KEEL_WIRE_VARINT, type);
}

static keel_status_t push(numbers_t *list, int64_t item) {
    if (list->count == MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "a sharding of more than %d dimensions", MOST);
    list->items[list->count++] = item;
    return NULL;
}

// Multiplies what counts devices, which are not that many; false if the product is none.
static bool multiply(int64_t *product, int64_t by) {
    if (by < 1 || *product > INT32_MAX / by) return false;
    *product *= by;
    return true;
}

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
        KEEL_TRY(push(out, number));
    return NULL;
}

// "[2,1]<=[2]", "[2,1,4]<=[2,4]T(1,0)" or "[2,2]0,1,2,3", after "devices=".
static keel_status_t take_tiles(text_t *text, keel_buffer_t *out, bool *out_ok) {
    numbers_t dims = {.count = 0}, reshape = {.count = 0}, transpose = {.count = 0};
    *out_ok = take(text, "[");
    KEEL_TRY(take_numbers(text, &dims));
    *out_ok = *out_ok && take(text, "]");
    put_packed(out, TILE_DIMS, dims.items, dims.count);
    if (take(text, "<=[")) {
        KEEL_TRY(take_numbers(text, &reshape));
        *out_ok = *out_ok && take(text, "]");
        if (take(text, "T(")) {
            KEEL_TRY(take_numbers(text, &transpose));
            *out_ok = *out_ok && take(text, ")");
        }
        if (!transpose.count)
            for (uint32_t i = 0; i < reshape.count; ++i)
                KEEL_TRY(push(&transpose, i));
        put_packed(out, IOTA_RESHAPE, reshape.items, reshape.count);
        put_packed(out, IOTA_TRANSPOSE, transpose.items, transpose.count);
        return NULL;
    }
    size_t opened = keel_proto_open(out, TILE_DEVICES);
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
        int64_t type = take(text, "replicated") ? REPLICATED : take(text, "manual") ? MANUAL : -1;
        if (type < 0 || types.count == MOST) return false;
        types.items[types.count++] = type;
    }
    put_packed(out, LAST_DIMS, types.items, types.count);
    return true;
}

static keel_status_t parse(text_t *text, keel_buffer_t *out, bool *out_ok) {
    int64_t device;
    *out_ok = take(text, "{");
    if (take(text, "replicated")) {
        put_type(out, REPLICATED);
    } else if (take(text, "manual")) {
        put_type(out, MANUAL);
    } else if (take(text, "maximal device=")) {
        *out_ok = *out_ok && take_number(text, &device);
        put_type(out, MAXIMAL);
        if (*out_ok) put_packed(out, TILE_DEVICES, &device, 1);
    } else if (take(text, "devices=")) {
        put_type(out, OTHER);
        KEEL_TRY(take_tiles(text, out, out_ok));
        if (take(text, "last_tile_dim_replicate"))
            keel_proto_put_number(out, REPLICATE_LAST, KEEL_WIRE_VARINT, 1);
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

// ---- Shardy ------------------------------------------------------------------------------------

// A mesh axis is cut where a sharding uses a part of it: "x":(2)4 is the part of size 4 behind the
// first 2. The pieces, outermost first, are the dimensions of the devices' numbers.
typedef struct piece_t {
    uint32_t axis;
    int64_t before, size; // the product of the sizes of this axis's earlier pieces
    bool used;
} piece_t;

typedef struct mesh_t {
    const keel_program_t *program;
    keel_list_t axes; // SDY_MESH_AXIS
    keel_ints_t devices;
    piece_t pieces[MOST];
    uint32_t piece_count;
} mesh_t;

static keel_attr_id_t field(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    return keel_program_dict_find(program, dict, name);
}

static keel_ints_t ints_of(const keel_program_t *program, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(program, id);
    return keel_program_ints(program, attr->kind == KEEL_ATTR_INTS ? attr->b : KEEL_NONE);
}

static keel_str_t text_of(const keel_program_t *program, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(program, id);
    return keel_program_str(program, attr->kind == KEEL_ATTR_STRING ? attr->a : KEEL_NONE);
}

static bool is_operation(const keel_program_t *program, keel_op_id_t op, const char *dialect,
                         const char *name) {
    const keel_op_name_t *kind = keel_program_op_name(program, op);
    return keel_str_is(keel_program_str(program, kind->dialect), dialect) &&
           keel_str_is(keel_program_str(program, kind->name), name);
}

// The mesh that a sharding names or holds; NONE if there is none.
static keel_attr_id_t find_mesh(const keel_program_t *program, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(program, id);
    if (attr->kind != KEEL_ATTR_SYMBOL) return id;
    keel_str_t name = keel_program_str(program, attr->a);
    uint32_t count = keel_program_op_count(program);
    for (keel_op_id_t op = 0; op < count; op = keel_program_next(program, op)) {
        keel_attr_id_t attributes = program->operations.data[op].attributes;
        if (is_operation(program, op, "sdy", "mesh") &&
            keel_str_equal(text_of(program, field(program, attributes, "sym_name")), name))
            return field(program, attributes, "mesh");
    }
    return KEEL_NONE;
}

static keel_status_t no_mesh(void) {
    return keel_status_make(KEEL_UNSUPPORTED, "a sharding on a mesh that the program lacks");
}

static keel_status_t axis_of(const mesh_t *mesh, keel_str_t name, uint32_t *out) {
    for (uint32_t i = 0; i < mesh->axes.count; ++i) {
        keel_str_t own = text_of(mesh->program, field(mesh->program, mesh->axes.items[i], "name"));
        if (!keel_str_equal(own, name)) continue;
        *out = i;
        return NULL;
    }
    return keel_status_make(KEEL_UNSUPPORTED, "a sharding on axis %.*s, which its mesh lacks",
                            KEEL_STR_ARGS(name));
}

static int64_t number_of(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    return keel_program_number(program, field(program, dict, name), 0);
}

// Cuts an axis behind its first `at` parts.
static keel_status_t cut(mesh_t *mesh, uint32_t axis, int64_t at) {
    for (uint32_t i = 0; i < mesh->piece_count; ++i) {
        piece_t *piece = &mesh->pieces[i];
        if (piece->axis != axis || at <= piece->before || at >= piece->before * piece->size)
            continue;
        if (at % piece->before || piece->size % (at / piece->before))
            return keel_status_make(KEEL_UNSUPPORTED, "a mesh axis is cut in uneven parts");
        if (mesh->piece_count == MOST)
            return keel_status_make(KEEL_UNSUPPORTED, "a mesh axis in more than %d parts", MOST);
        memmove(piece + 1, piece, (mesh->piece_count - i) * sizeof *piece);
        ++mesh->piece_count;
        piece->size = at / piece->before;
        piece[1].before = at;
        piece[1].size /= piece->size;
        return NULL;
    }
    return NULL;
}

// The part of an axis that a reference means: behind `*out_before`, of size `*out_size`.
static keel_status_t part_of(const mesh_t *mesh, keel_attr_id_t reference, uint32_t *out_axis,
                             int64_t *out_before, int64_t *out_size) {
    const keel_program_t *program = mesh->program;
    KEEL_TRY(axis_of(mesh, text_of(program, field(program, reference, "name")), out_axis));
    keel_attr_id_t sub = KEEL_NONE;
    keel_list_t entries = keel_program_entries(program, reference);
    for (uint32_t i = 0; i + 1 < entries.count; i += 2)
        if (keel_program_attr(program, entries.items[i + 1])->klass == KEEL_RECORD_SDY_SUB_AXIS)
            sub = entries.items[i + 1];
    *out_before = 1;
    *out_size = number_of(program, mesh->axes.items[*out_axis], "size");
    if (sub == KEEL_NONE) return NULL;
    int64_t whole = *out_size;
    *out_before = number_of(program, sub, "pre_size");
    *out_size = number_of(program, sub, "size");
    bool is_part = *out_before > 0 && *out_size > 0 && *out_before <= whole / *out_size;
    return is_part ? NULL : keel_status_make(KEEL_UNSUPPORTED, "a sharding on no part of an axis");
}

static keel_status_t open_mesh(const keel_program_t *program, keel_attr_id_t sharding,
                               mesh_t *mesh) {
    keel_attr_id_t id = find_mesh(program, field(program, sharding, "mesh"));
    if (id == KEEL_NONE) return no_mesh();
    mesh->program = program;
    mesh->axes = keel_program_array(program, field(program, id, "axes"));
    mesh->devices = ints_of(program, field(program, id, "device_ids"));
    int64_t all = 1;
    if (mesh->axes.count > MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "a mesh of more than %d axes", MOST);
    for (uint32_t i = 0; i < mesh->axes.count; ++i) {
        int64_t size = number_of(program, mesh->axes.items[i], "size");
        if (!multiply(&all, size))
            return keel_status_make(KEEL_UNSUPPORTED, "a mesh axis of size %lld", (long long)size);
        mesh->pieces[mesh->piece_count++] = (piece_t){.axis = i, .before = 1, .size = size};
    }
    return NULL;
}

static keel_status_t cut_for(mesh_t *mesh, keel_list_t references) {
    for (uint32_t i = 0; i < references.count; ++i) {
        uint32_t axis;
        int64_t before, size;
        KEEL_TRY(part_of(mesh, references.items[i], &axis, &before, &size));
        KEEL_TRY(cut(mesh, axis, before));
        KEEL_TRY(cut(mesh, axis, before * size));
    }
    return NULL;
}

// Appends the pieces that the references mean to `order`; *out_parts is the product of their sizes.
static keel_status_t use(mesh_t *mesh, keel_list_t references, numbers_t *order,
                         int64_t *out_parts) {
    *out_parts = 1;
    for (uint32_t i = 0; i < references.count; ++i) {
        uint32_t axis;
        int64_t before, size;
        KEEL_TRY(part_of(mesh, references.items[i], &axis, &before, &size));
        for (uint32_t j = 0; j < mesh->piece_count; ++j) {
            piece_t *piece = &mesh->pieces[j];
            bool inside = piece->axis == axis && piece->before >= before &&
                          piece->before * piece->size <= before * size;
            if (!inside || piece->used) continue;
            piece->used = true;
            *out_parts *= piece->size;
            KEEL_TRY(push(order, j));
        }
    }
    return NULL;
}

// The devices, tile by tile: the mesh's own numbers, transposed.
static void put_devices(const mesh_t *mesh, const numbers_t *order, keel_buffer_t *out) {
    int64_t strides[MOST], stride = 1, at[MOST] = {0}, device = 0;
    for (uint32_t i = mesh->piece_count; i--; stride *= mesh->pieces[i].size)
        strides[i] = stride;
    if ((int64_t)mesh->devices.count != stride) return;
    size_t opened = keel_proto_open(out, TILE_DEVICES);
    for (int64_t written = 0; written < stride; ++written) {
        keel_proto_put_varint(out, (uint64_t)mesh->devices.items[device]);
        for (uint32_t i = order->count; i--;) {
            int64_t piece = order->items[i];
            device += strides[piece];
            if (++at[i] < mesh->pieces[piece].size) break;
            device -= strides[piece] * at[i];
            at[i] = 0;
        }
    }
    keel_proto_close(out, opened);
}

static keel_status_t write_tiles(mesh_t *mesh, keel_list_t dimensions, keel_buffer_t *out) {
    numbers_t tiles = {.count = 0}, order = {.count = 0}, sizes = {.count = 0};
    const keel_program_t *program = mesh->program;
    int64_t parts, all = 1, rest = 1;
    for (uint32_t i = 0; i < dimensions.count; ++i)
        KEEL_TRY(cut_for(mesh,
                         keel_program_array(program, field(program, dimensions.items[i], "axes"))));
    for (uint32_t i = 0; i < dimensions.count; ++i) {
        keel_list_t axes = keel_program_array(program, field(program, dimensions.items[i], "axes"));
        KEEL_TRY(use(mesh, axes, &order, &parts));
        KEEL_TRY(push(&tiles, parts));
        all *= parts;
    }
    if (all == 1) {
        put_type(out, REPLICATED);
        return NULL;
    }
    for (uint32_t i = 0; i < mesh->piece_count; ++i) {
        KEEL_TRY(push(&sizes, mesh->pieces[i].size));
        if (mesh->pieces[i].used) continue;
        KEEL_TRY(push(&order, i));
        rest *= mesh->pieces[i].size;
    }
    if (rest > 1) KEEL_TRY(push(&tiles, rest));
    put_type(out, OTHER);
    put_packed(out, TILE_DIMS, tiles.items, tiles.count);
    if (mesh->devices.count) put_devices(mesh, &order, out);
    if (rest > 1) keel_proto_put_number(out, REPLICATE_LAST, KEEL_WIRE_VARINT, 1);
    if (mesh->devices.count) return NULL;
    put_packed(out, IOTA_RESHAPE, sizes.items, sizes.count);
    put_packed(out, IOTA_TRANSPOSE, order.items, order.count);
    return NULL;
}

// A mesh without axes and with one device: all of the array is there.
static bool is_maximal(const mesh_t *mesh) {
    return !mesh->axes.count && mesh->devices.count == 1;
}

static keel_status_t write_sdy(const keel_program_t *program, keel_attr_id_t sharding,
                               keel_buffer_t *out) {
    mesh_t mesh = {.piece_count = 0};
    KEEL_TRY(open_mesh(program, sharding, &mesh));
    if (is_maximal(&mesh)) {
        put_type(out, MAXIMAL);
        put_packed(out, TILE_DEVICES, mesh.devices.items, 1);
        return NULL;
    }
    return write_tiles(&mesh, keel_program_array(program, field(program, sharding, "dimensions")),
                       out);
}

// ---- HLO's messages ----------------------------------------------------------------------------

static keel_status_t write_hlo(const keel_program_t *program, keel_attr_id_t message,
                               keel_buffer_t *out) {
    static const struct {
        const char *name;
        uint32_t number;
    } lists[] = {{"tile_assignment_dimensions", TILE_DIMS},
                 {"tile_assignment_devices", TILE_DEVICES},
                 {"iota_reshape_dims", IOTA_RESHAPE},
                 {"iota_transpose_perm", IOTA_TRANSPOSE}};
    if (field(program, message, "named_sharding") != KEEL_NONE ||
        field(program, message, "last_tile_dims") != KEEL_NONE)
        return keel_status_make(KEEL_UNSUPPORTED, "a sharding of named axes in HLO");
    const keel_attr_t *type = keel_program_attr(program, field(program, message, "type"));
    put_type(out, type->kind == KEEL_ATTR_ENUM ? type->a : REPLICATED);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        keel_ints_t items = ints_of(program, field(program, message, lists[i].name));
        put_packed(out, lists[i].number, items.items, items.count);
    }
    const keel_attr_t *last =
        keel_program_attr(program, field(program, message, "replicate_on_last_tile_dim"));
    if (last->kind == KEEL_ATTR_BOOL && last->a)
        keel_proto_put_number(out, REPLICATE_LAST, KEEL_WIRE_VARINT, 1);
    return NULL;
}

keel_status_t keel_sharding_write(const keel_program_t *program, keel_attr_id_t attribute,
                                  keel_buffer_t *out) {
    const keel_attr_t *attr = keel_program_attr(program, attribute);
    if (attr->kind == KEEL_ATTR_DICT && attr->klass == KEEL_RECORD_SDY_SHARDING)
        return write_sdy(program, attribute, out);
    if (attr->kind == KEEL_ATTR_DICT && attr->klass == KEEL_RECORD_HLO_MESSAGE)
        return write_hlo(program, attribute, out);
    return keel_sharding_parse(text_of(program, attribute), out);
}

// ---- parts -------------------------------------------------------------------------------------

// A repeated number, packed or not.
static bool take_packed(const keel_proto_field_t *field, numbers_t *out) {
    if (field->wire == KEEL_WIRE_VARINT) {
        if (out->count < MOST) out->items[out->count++] = (int64_t)field->value;
        return true;
    }
    if (field->wire != KEEL_WIRE_BYTES) return false;
    keel_cursor_t cursor = keel_cursor(field->bytes);
    while (!cursor.failed && keel_cursor_left(&cursor) && out->count < MOST)
        out->items[out->count++] = (int64_t)keel_proto_varint(&cursor);
    return !cursor.failed;
}

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
    *out = (read_sharding_t){.type = REPLICATED};
    while (keel_proto_next(&cursor, &field)) {
        switch (field.number) {
            case TYPE:
                out->type = field.value;
                break;
            case TILE_DIMS:
                ok = take_packed(&field, &out->tiles) && ok;
                break;
            case TILE_DEVICES:
                ok = ok && field.wire == KEEL_WIRE_BYTES;
                out->devices = field.bytes;
                break;
            case REPLICATE_LAST:
                out->replicates = field.value != 0;
                break;
            case LAST_DIMS:
                ok = take_packed(&field, &out->last) && ok;
                break;
            case IOTA_RESHAPE:
                ok = take_packed(&field, &out->reshape) && ok;
                break;
            case IOTA_TRANSPOSE:
                ok = take_packed(&field, &out->transpose) && ok;
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
    if (ok && read.type != OTHER && read.type != TUPLE) return NULL;
    uint32_t more = read.last.count + (read.replicates ? 1 : 0);
    ok = ok && read.type == OTHER && read.tiles.count == rank + more;
    for (uint32_t i = 0; i < rank && ok; ++i) {
        ok = read.tiles.items[i] > 0 && read.tiles.items[i] <= INT32_MAX;
        out_parts[i] = read.tiles.items[i];
    }
    return ok ? NULL : unfit(rank);
}

// ---- places ------------------------------------------------------------------------------------

// The devices of the tiles, in the order of the tiles: numbers from 0, reshaped and transposed. An
// iota that says nothing is the numbers themselves.
typedef struct iota_t {
    int64_t sizes[MOST], strides[MOST], at[MOST], device;
    uint32_t count;
} iota_t;

static bool begin_iota(const read_sharding_t *read, iota_t *out) {
    int64_t strides[MOST], stride = 1;
    *out = (iota_t){.count = read->reshape.count};
    if (read->transpose.count != read->reshape.count) return false;
    for (uint32_t i = read->reshape.count; i--;) {
        strides[i] = stride;
        if (!multiply(&stride, read->reshape.items[i])) return false;
    }
    for (uint32_t i = 0; i < out->count; ++i) {
        int64_t from = read->transpose.items[i];
        if (from < 0 || from >= out->count) return false;
        out->sizes[i] = read->reshape.items[from];
        out->strides[i] = strides[from];
    }
    return true;
}

static int64_t next_device(iota_t *iota) {
    int64_t device = iota->device;
    for (uint32_t i = iota->count; i--;) {
        iota->device += iota->strides[i];
        if (++iota->at[i] < iota->sizes[i]) break;
        iota->device -= iota->strides[i] * iota->at[i];
        iota->at[i] = 0;
    }
    if (!iota->count) ++iota->device;
    return device;
}

static bool place_tiles(const read_sharding_t *read, uint32_t rank, uint32_t partitions,
                        int64_t *out) {
    iota_t iota;
    int64_t at[MOST] = {0};
    uint32_t placed = 0;
    keel_cursor_t devices = keel_cursor(read->devices);
    bool is_listed = read->devices.size != 0;
    if (!begin_iota(read, &iota)) return false;
    for (uint32_t tile = 0; tile < partitions; ++tile) {
        int64_t device = is_listed ? (int64_t)keel_proto_varint(&devices) : next_device(&iota);
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
    if (ok && (read.type == REPLICATED || !rank)) return NULL;
    int64_t tiles = 1;
    for (uint32_t i = 0; i < read.tiles.count; ++i)
        ok = ok && multiply(&tiles, read.tiles.items[i]);
    ok = ok && read.type == OTHER && read.tiles.count >= rank && tiles == partitions;
    return ok && place_tiles(&read, rank, partitions, out_places) ? NULL : unfit(rank);
}
