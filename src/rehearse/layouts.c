// How arrays lie in a device's memory: as HLO writes it, "{1,0:T(8,128)}".
//
// The plugin says what is usual for a type and its dimensions. A program may ask for another order
// of its arguments' or results' dimensions (mhlo.layout_mode). A client sees layouts as objects;
// here an object is its text, kept until the process ends.
//
// Structs: xla/pjrt/c/pjrt_c_api_layouts_extension.h.
#include "base/fork.h"
#include "rehearse/objects.h"

enum { LAYOUTS = 4, RANK_MOST = 64 }; // PJRT_Extension_Type

typedef struct layout_destroy_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    const layout_t *layout;
} layout_destroy_args_t;

typedef struct layout_serialize_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    const layout_t *layout;
    const char *bytes;
    size_t size;
    void *serialized;
    void (*deleter)(void *serialized);
} layout_serialize_args_t;

// Of a client or a topology: `owner`.
typedef struct layout_default_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    void *owner;
    PJRT_Buffer_Type type;
    const int64_t *dims;
    size_t num_dims;
    const layout_t *layout;
} layout_default_args_t;

typedef struct layout_buffer_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Buffer *buffer;
    const layout_t *layout;
} layout_buffer_args_t;

typedef struct layout_results_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Executable *executable;
    size_t count;
    const layout_t **layouts; // they live as long as the executable
} layout_results_args_t;

typedef struct layouts_t {
    PJRT_Extension_Base base;
    PJRT_Error *(*destroy)(layout_destroy_args_t *args);
    PJRT_Error *(*serialize)(layout_serialize_args_t *args);
    PJRT_Error *(*of_client)(layout_default_args_t *args);
    PJRT_Error *(*of_buffer)(layout_buffer_args_t *args);
    PJRT_Error *(*of_topology)(layout_default_args_t *args);
    // Newer than what a plugin must have. Clients call them without a look at the size.
    PJRT_Error *(*of_results)(layout_results_args_t *args);
    PJRT_Error *(*of_parameters)(layout_results_args_t *args);
    void *newer[4];
} layouts_t;

static const layouts_t *plugins; // NULL: it has none, and arrays lie row by row

static const layout_t *object_of(const char *text) {
    return (const layout_t *)text;
}

// ---- what is usual -----------------------------------------------------------------------------

// The plugin's answer, as an object of its own.
static keel_status_t ask(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                         const layout_t **out) {
    layout_default_args_t args = {.struct_size = sizeof args,
                                  .owner = rehearsal.topology,
                                  .type = type,
                                  .dims = dims,
                                  .num_dims = rank};
    if (rehearsal.backing) args.owner = rehearsal.backing;
    PJRT_Error *error = rehearsal.backing ? plugins->of_client(&args) : plugins->of_topology(&args);
    KEEL_TRY(keel_pjrt_status(rehearsal.plugin, error, "PJRT_Layouts_GetDefaultLayout"));
    *out = args.layout;
    return NULL;
}

static keel_status_t ask_text(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                              const char **out) {
    layout_serialize_args_t args = {.struct_size = sizeof args};
    KEEL_TRY(ask(type, dims, rank, &args.layout));
    keel_status_t status = keel_pjrt_status(rehearsal.plugin, plugins->serialize(&args),
                                            "PJRT_Layouts_MemoryLayout_Serialize");
    if (!status) {
        status = keep_text((keel_str_t){args.bytes, args.size}, out);
        if (args.deleter) args.deleter(args.serialized);
    }
    layout_destroy_args_t done = {.struct_size = sizeof done, .layout = args.layout};
    keel_status_ignore(keel_pjrt_status(rehearsal.plugin, plugins->destroy(&done),
                                        "PJRT_Layouts_MemoryLayout_Destroy"));
    return status;
}

static keel_status_t rows(size_t rank, const char **out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    for (size_t i = rank; i--;)
        keel_buffer_format(&text, "%s%zu", i + 1 == rank ? "{" : ",", i);
    keel_buffer_text(&text, rank ? "}" : "{}");
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keep_text(keel_bytes_str(keel_buffer_bytes(&text)), out);
    keel_buffer_deinitialize(&text);
    return status;
}

// The layouts that the plugin gave, by type and dimensions.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static keel_map_t known;
static bool has_known;

static const char *find_known(keel_bytes_t key) {
    pthread_mutex_lock(&lock);
    const uint64_t *found = has_known ? keel_map_find(&known, key) : NULL;
    const char *layout = found ? (const char *)(uintptr_t)*found : NULL;
    pthread_mutex_unlock(&lock);
    return layout;
}

static keel_status_t keep_known(keel_bytes_t key, const char *layout) {
    pthread_mutex_lock(&lock);
    if (!has_known) keel_map_initialize(&known);
    has_known = true;
    keel_status_t status = keel_map_put(&known, key, (uintptr_t)layout);
    pthread_mutex_unlock(&lock);
    return status;
}

// XLA ends the process over an array whose elements it cannot count.
keel_status_t layout_usual(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                           const char **out) {
    int64_t key[RANK_MOST + 1] = {type};
    size_t size;
    KEEL_TRY(host_bytes(type, dims, rank, &size));
    if (!plugins || type == PJRT_Buffer_Type_TOKEN || rank > RANK_MOST) return rows(rank, out);
    if (rank) memcpy(key + 1, dims, rank * sizeof *dims);
    keel_bytes_t name = keel_bytes(key, (rank + 1) * sizeof *key);
    *out = find_known(name);
    if (*out) return NULL;
    KEEL_TRY(ask_text(type, dims, rank, out));
    return keep_known(name, *out);
}

size_t layout_order(const char *layout, int64_t *out, size_t most) {
    size_t count = 0;
    const char *at = layout + (*layout == '{');
    while (keel_is_digit(*at) && count < most) {
        int64_t number = 0;
        for (; keel_is_digit(*at) && number < INT32_MAX; ++at)
            number = number * 10 + (*at - '0');
        out[count++] = number;
        at += *at == ',';
    }
    return count;
}

// ---- the extension -----------------------------------------------------------------------------

static PJRT_Error *destroy(layout_destroy_args_t *args) {
    (void)args;
    return NULL;
}

static void keep_serialized(void *serialized) {
    (void)serialized;
}

static PJRT_Error *serialize(layout_serialize_args_t *args) {
    args->bytes = (const char *)args->layout;
    args->size = strlen(args->bytes);
    args->serialized = NULL;
    args->deleter = keep_serialized;
    return NULL;
}

static PJRT_Error *of_shape(layout_default_args_t *args) {
    const char *text;
    keel_status_t status = layout_usual(args->type, args->dims, args->num_dims, &text);
    if (status) return keel_pjrt_error(status);
    args->layout = object_of(text);
    return NULL;
}

static PJRT_Error *of_buffer(layout_buffer_args_t *args) {
    args->layout = object_of(args->buffer->layout);
    return NULL;
}

static PJRT_Error *of_results(layout_results_args_t *args) {
    const facts_t *facts = args->executable->facts;
    args->count = facts->signature.result_count;
    args->layouts = (const layout_t **)facts->layouts;
    return NULL;
}

static PJRT_Error *of_parameters(layout_results_args_t *args) {
    const facts_t *facts = args->executable->facts;
    args->count = facts->signature.parameter_count;
    args->layouts = (const layout_t **)facts->parameter_layouts;
    return NULL;
}

PJRT_Extension_Base *layouts_offer(const PJRT_Api *plugin, PJRT_Extension_Base *next) {
    static layouts_t own;
    bool is_cpu = rehearsal.target->platform == KEEL_TARGET_CPU;
    size_t least = is_cpu ? offsetof(layouts_t, of_topology) : offsetof(layouts_t, of_results);
    plugins = (const layouts_t *)extension_of(plugin, LAYOUTS, least);
    if (!plugins || rehearsal.client_is_old) return next;
    own = (layouts_t){.base = plugins->base,
                      .destroy = destroy,
                      .serialize = serialize,
                      .of_client = of_shape,
                      .of_buffer = of_buffer,
                      .of_topology = of_shape,
                      .of_results = of_results,
                      .of_parameters = of_parameters};
    own.base.struct_size = offsetof(layouts_t, newer);
    own.base.next = next;
    return &own.base;
}

// ---- executables without devices ---------------------------------------------------------------

static layouts_t next; // the plugin's

static PJRT_Error *any_destroy(layout_destroy_args_t *args) {
    return is_kept_text(args->layout) ? NULL : next.destroy(args);
}

static PJRT_Error *any_serialize(layout_serialize_args_t *args) {
    return is_kept_text(args->layout) ? serialize(args) : next.serialize(args);
}

static PJRT_Error *any_results(layout_results_args_t *args) {
    return keel_rehearse_owns(args->executable) ? of_results(args) : next.of_results(args);
}

static PJRT_Error *any_parameters(layout_results_args_t *args) {
    return keel_rehearse_owns(args->executable) ? of_parameters(args) : next.of_parameters(args);
}

bool layouts_take(PJRT_Extension_Base *extension) {
    layouts_t *table = (layouts_t *)extension;
    size_t size = extension->struct_size;
    if ((int)extension->type != LAYOUTS || size <= offsetof(layouts_t, serialize)) return false;
    memcpy(&next, table, size < sizeof next ? size : sizeof next);
    table->destroy = any_destroy;
    table->serialize = any_serialize;
    if (size > offsetof(layouts_t, of_results)) table->of_results = any_results;
    if (size > offsetof(layouts_t, of_parameters)) table->of_parameters = any_parameters;
    return true;
}
