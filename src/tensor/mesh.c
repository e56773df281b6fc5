// The mesh, its specs, and which part of a tensor each device has.
#include "tensor/trace.h"

// ---- the mesh ----------------------------------------------------------------------------------

static bool is_axis_name(const char *name) {
    if (!name || !keel_begins_name(*name)) return false;
    while (keel_is_of_name(*name))
        ++name;
    return !*name;
}

static keel_status_t add_axis(const keel_mesh_axis_t *axis, mesh_t *out) {
    if (!is_axis_name(axis->name))
        return keel_status_make(KEEL_INVALID, "mesh: axis %u needs a name of letters, digits and _",
                                out->axis_count + 1);
    for (uint32_t i = 0; i < out->axis_count; ++i)
        if (strcmp(out->names[i], axis->name) == 0)
            return keel_status_make(KEEL_INVALID, "mesh: two axes are named %s", axis->name);
    if (axis->size < 1 || axis->size > INT32_MAX / out->devices)
        return keel_status_make(KEEL_INVALID, "mesh: axis %s has size %lld", axis->name,
                                (long long)axis->size);
    KEEL_TRY(keel_strdup(keel_str(axis->name), &out->names[out->axis_count]));
    out->sizes[out->axis_count++] = axis->size;
    out->devices *= axis->size;
    return NULL;
}

keel_status_t mesh_open(const keel_mesh_t *given, mesh_t *out) {
    *out = (mesh_t){.devices = 1};
    if (given->count < 0 || given->count > KEEL_MAX_MESH_AXES)
        return keel_status_make(KEEL_INVALID, "mesh: %d axes; there may be 0 to %d", given->count,
                                KEEL_MAX_MESH_AXES);
    for (int32_t i = 0; i < given->count; ++i)
        KEEL_TRY(add_axis(&given->axes[i], out));
    return NULL;
}

void mesh_close(mesh_t *mesh) {
    for (uint32_t i = 0; i < mesh->axis_count; ++i)
        keel_free(mesh->names[i]);
    *mesh = (mesh_t){.devices = 1};
}

// ---- specs -------------------------------------------------------------------------------------

enum { AXIS_BITS = 4, AXIS_MASK = (1 << AXIS_BITS) - 1 };

// What mesh_resolve does at the moment.
typedef struct resolving_t {
    keel_context_t *context;
    const char *what;
    uint32_t used; // axes, a bit each
} resolving_t;

static bool refuse_axis(const resolving_t *r, keel_str_t name, const char *why) {
    const mesh_t *mesh = &r->context->mesh;
    char known[256];
    size_t size = 0;
    known[0] = 0;
    for (uint32_t i = 0; i < mesh->axis_count && size < sizeof known; ++i)
        size += (size_t)snprintf(known + size, sizeof known - size, "%s%s=%lld", i ? ", " : "",
                                 mesh->names[i], (long long)mesh->sizes[i]);
    context_fail(r->context, r->context->site, "%s: axis \"%.*s\" %s; the mesh has %s", r->what,
                 KEEL_STR_ARGS(name), why, size ? known : "no axes");
    return false;
}

static bool add_name(resolving_t *r, keel_str_t name, int place, uint32_t *axes) {
    const mesh_t *mesh = &r->context->mesh;
    uint32_t axis = 0;
    while (axis < mesh->axis_count && !keel_str_is(name, mesh->names[axis]))
        ++axis;
    if (axis == mesh->axis_count) return refuse_axis(r, name, "is not there");
    if (r->used & 1u << axis) return refuse_axis(r, name, "splits two dimensions, or one twice");
    r->used |= 1u << axis;
    *axes |= (axis + 1) << (AXIS_BITS * place);
    return true;
}

// "data,model"
static bool add_names(resolving_t *r, const char *names, uint32_t *axes) {
    for (int place = 0; names; ++place) {
        const char *end = strchr(names, ',');
        keel_str_t name = {names, end ? (size_t)(end - names) : strlen(names)};
        if (!add_name(r, name, place, axes)) return false;
        names = end ? end + 1 : NULL;
    }
    return true;
}

int64_t mesh_size(const mesh_t *mesh, uint32_t axes) {
    int64_t parts = 1;
    for (; axes; axes >>= AXIS_BITS)
        parts *= mesh->sizes[(axes & AXIS_MASK) - 1];
    return parts;
}

bool mesh_axes(keel_context_t *context, const char *what, const char *names, uint32_t *out) {
    resolving_t r = {context, what, 0};
    *out = 0;
    return add_names(&r, names ? names : "", out);
}

bool mesh_grow(keel_context_t *context, const char *what, const keel_spec_t *spec,
               keel_dtype_t dtype, keel_shape_t *shape) {
    char text[SHAPE_TEXT];
    for (int32_t i = 0; i < spec->count && i < shape->rank; ++i) {
        uint32_t axes = 0;
        if (spec->dims[i] && !mesh_axes(context, what, spec->dims[i], &axes)) return false;
        int64_t parts = mesh_size(&context->mesh, axes);
        if (shape->dims[i] > INT64_MAX / parts) {
            context_fail(context, context->site, "%s: %lld parts of %s are too large", what,
                         (long long)parts, shape_text(dtype, shape, text));
            return false;
        }
        shape->dims[i] *= parts;
    }
    return true;
}

static bool intern(keel_context_t *context, const sharding_t *sharding, uint32_t *out) {
    for (*out = 0; *out < context->shardings.count; ++*out)
        if (!memcmp(&context->shardings.data[*out], sharding, sizeof *sharding)) return true;
    keel_status_t status = keel_table_reserve(&context->shardings, 1);
    if (status) {
        context_take(context, context->site, status);
        return false;
    }
    context->shardings.data[context->shardings.count++] = *sharding;
    return true;
}

bool mesh_resolve(keel_context_t *context, const char *what, const keel_spec_t *spec,
                  keel_dtype_t dtype, const keel_shape_t *shape, uint32_t *out) {
    resolving_t r = {context, what, 0};
    sharding_t sharding = {{0}};
    char text[SHAPE_TEXT];
    if (spec->count < 0 || spec->count > shape->rank) {
        context_fail(context, context->site, "%s: a spec of %d dimensions for %s", what,
                     spec->count, shape_text(dtype, shape, text));
        return false;
    }
    for (int32_t i = 0; i < spec->count; ++i) {
        if (!add_names(&r, spec->dims[i], &sharding.dims[i])) return false;
        int64_t parts = mesh_size(&context->mesh, sharding.dims[i]);
        if (shape->dims[i] % parts == 0) continue;
        context_fail(
            context, context->site,
            "%s: dimension %d of %s is %lld, which %s does not divide: it has %lld devices", what,
            i, shape_text(dtype, shape, text), (long long)shape->dims[i], spec->dims[i],
            (long long)parts);
        return false;
    }
    return intern(context, &sharding, out);
}

// ---- parts -------------------------------------------------------------------------------------

bool mesh_parts(const mesh_t *mesh, const sharding_t *sharding, int64_t out[KEEL_MAX_RANK]) {
    bool is_split = false;
    for (int i = 0; i < KEEL_MAX_RANK; ++i) {
        out[i] = mesh_size(mesh, sharding->dims[i]);
        is_split |= out[i] > 1;
    }
    return is_split;
}

// Where a device of the mesh is along one of its axes.
static int64_t coordinate(const mesh_t *mesh, int64_t position, uint32_t axis) {
    for (uint32_t i = mesh->axis_count; i-- > axis + 1;)
        position /= mesh->sizes[i];
    return position % mesh->sizes[axis];
}

tile_t mesh_tile(const mesh_t *mesh, const sharding_t *sharding, const keel_shape_t *shape,
                 int64_t position) {
    tile_t tile = {.is_whole = true};
    for (int32_t i = 0; i < shape->rank; ++i) {
        int64_t index = 0;
        for (uint32_t axes = sharding->dims[i]; axes; axes >>= AXIS_BITS) {
            uint32_t axis = (axes & AXIS_MASK) - 1;
            index = index * mesh->sizes[axis] + coordinate(mesh, position, axis);
        }
        int64_t parts = mesh_size(mesh, sharding->dims[i]);
        tile.dims[i] = shape->dims[i] / parts;
        tile.from[i] = index * tile.dims[i];
        tile.is_whole &= parts == 1;
    }
    return tile;
}

uint32_t mesh_others(const mesh_t *mesh, const sharding_t *sharding) {
    int64_t order[KEEL_MAX_MESH_AXES];
    uint32_t count = mesh_order(mesh, sharding, order), axes = 0, named = 0;
    for (int i = 0; i < KEEL_MAX_RANK; ++i)
        for (uint32_t rest = sharding->dims[i]; rest; rest >>= AXIS_BITS)
            ++named;
    for (uint32_t i = named; i < count; ++i)
        axes |= (uint32_t)(order[i] + 1) << (AXIS_BITS * (i - named));
    return axes;
}

int64_t mesh_member(const mesh_t *mesh, uint32_t axes, int64_t index) {
    int64_t position = 0, size = mesh_size(mesh, axes);
    for (; axes; axes >>= AXIS_BITS) { // from the outermost
        uint32_t axis = (axes & AXIS_MASK) - 1;
        size /= mesh->sizes[axis];
        int64_t stride = 1;
        for (uint32_t i = axis + 1; i < mesh->axis_count; ++i)
            stride *= mesh->sizes[i];
        position += index / size % mesh->sizes[axis] * stride;
    }
    return position;
}

bool mesh_is_first(const mesh_t *mesh, uint32_t axes, int64_t position) {
    for (; axes; axes >>= AXIS_BITS)
        if (coordinate(mesh, position, (axes & AXIS_MASK) - 1)) return false;
    return true;
}

uint32_t mesh_order(const mesh_t *mesh, const sharding_t *sharding,
                    int64_t out[KEEL_MAX_MESH_AXES]) {
    uint32_t count = 0, used = 0;
    for (int i = 0; i < KEEL_MAX_RANK; ++i)
        for (uint32_t axes = sharding->dims[i]; axes; axes >>= AXIS_BITS) {
            out[count++] = (axes & AXIS_MASK) - 1;
            used |= 1u << out[count - 1];
        }
    for (uint32_t axis = 0; axis < mesh->axis_count; ++axis)
        if (!(used & 1u << axis)) out[count++] = axis;
    return count;
}
