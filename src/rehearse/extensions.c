// The table's extensions: those of the plugin that need no device.
//
// Clients register handlers and custom calls with the plugin, as they would with the device
// present: JAX's packages fail otherwise. Layouts are the plugin's own objects, made for its
// topology.
//
// Structs: xla/pjrt/c/pjrt_c_api_layouts_extension.h.
#include "rehearse/objects.h"

enum { CUSTOM_CALL = 0, LAYOUTS = 4, FFI = 5 }; // PJRT_Extension_Type

typedef struct layout_destroy_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    layout_t *layout;
} layout_destroy_args_t;

typedef struct layout_serialize_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    layout_t *layout;
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
    layout_t *layout;
} layout_default_args_t;

typedef struct layout_buffer_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Buffer *buffer;
    layout_t *layout;
} layout_buffer_args_t;

typedef struct layout_results_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Executable *executable;
    size_t count;
    layout_t **layouts; // they live as long as the executable
} layout_results_args_t;

typedef struct layouts_t {
    PJRT_Extension_Base base;
    PJRT_Error *(*destroy)(layout_destroy_args_t *args);
    PJRT_Error *(*serialize)(layout_serialize_args_t *args);
    PJRT_Error *(*of_client)(layout_default_args_t *args);
    PJRT_Error *(*of_buffer)(layout_buffer_args_t *args);
    PJRT_Error *(*of_topology)(layout_default_args_t *args);
    // Newer than what a plugin must have. Clients call it without a look at the size.
    PJRT_Error *(*of_results)(layout_results_args_t *args);
    void *newer[4];
} layouts_t;
enum { LAYOUTS_LEAST = offsetof(layouts_t, of_results) };

static const layouts_t *plugins_layouts; // NULL: it has none, and layouts are dense

// ---- layouts -----------------------------------------------------------------------------------

static PJRT_Error *make_layout(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                               layout_t **out) {
    layout_default_args_t args = {.struct_size = sizeof args,
                                  .owner = rehearsal.topology,
                                  .type = type,
                                  .dims = dims,
                                  .num_dims = rank};
    PJRT_Error *error = plugins_layouts->of_topology(&args);
    if (!error) *out = args.layout;
    return error;
}

static PJRT_Error *of_client(layout_default_args_t *args) {
    return make_layout(args->type, args->dims, args->num_dims, &args->layout);
}

static PJRT_Error *of_buffer(layout_buffer_args_t *args) {
    const PJRT_Buffer *buffer = args->buffer;
    return make_layout(buffer->type, buffer->dims, buffer->rank, &args->layout);
}

static void destroy_layout(layout_t *layout) {
    layout_destroy_args_t args = {.struct_size = sizeof args, .layout = layout};
    keel_status_ignore(keel_pjrt_status(rehearsal.plugin, plugins_layouts->destroy(&args),
                                        "PJRT_Layouts_MemoryLayout_Destroy"));
}

static keel_status_t make_layouts(facts_t *facts) {
    uint32_t count = facts->signature.result_count;
    void *memory;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof *facts->layouts, &memory));
    facts->layouts = memory;
    for (uint32_t i = 0; i < count; ++i) {
        const keel_shape_t *shape = &facts->signature.results[i].shard;
        KEEL_TRY(keel_pjrt_status(rehearsal.plugin,
                                  make_layout(facts->types[i], shape->dims, shape->rank,
                                              &facts->layouts[i]),
                                  "PJRT_Layouts_PJRT_Topology_GetDefaultLayout"));
    }
    return NULL;
}

void layouts_release(facts_t *facts) {
    for (uint32_t i = 0; facts->layouts && i < facts->signature.result_count; ++i)
        if (facts->layouts[i]) destroy_layout(facts->layouts[i]);
    keel_free((void *)facts->layouts);
    facts->layouts = NULL;
}

static PJRT_Error *of_results(layout_results_args_t *args) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    facts_t *facts = args->executable->facts;
    keel_status_t status = NULL;
    pthread_mutex_lock(&lock);
    if (!facts->layouts) status = make_layouts(facts);
    if (status) layouts_release(facts);
    pthread_mutex_unlock(&lock);
    args->count = facts->signature.result_count;
    args->layouts = facts->layouts;
    return status ? keel_pjrt_error(status) : NULL;
}

static keel_status_t read_layout(layout_t *layout, keel_arena_t *arena, keel_str_t *out) {
    layout_serialize_args_t args = {.struct_size = sizeof args, .layout = layout};
    KEEL_TRY(keel_pjrt_status(rehearsal.plugin, plugins_layouts->serialize(&args),
                              "PJRT_Layouts_MemoryLayout_Serialize"));
    keel_status_t status = keel_arena_str(arena, (keel_str_t){args.bytes, args.size}, out);
    if (args.deleter) args.deleter(args.serialized);
    return status;
}

bool layout_is_told(void) {
    return plugins_layouts;
}

keel_status_t layout_of(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                        keel_arena_t *arena, keel_str_t *out) {
    layout_t *layout = NULL;
    *out = (keel_str_t){"", 0};
    if (!plugins_layouts || type == PJRT_Buffer_Type_TOKEN) return NULL;
    KEEL_TRY(keel_pjrt_status(rehearsal.plugin, make_layout(type, dims, rank, &layout),
                              "PJRT_Layouts_PJRT_Topology_GetDefaultLayout"));
    keel_status_t status = read_layout(layout, arena, out);
    destroy_layout(layout);
    return status;
}

// ---- the chain ---------------------------------------------------------------------------------

static const PJRT_Extension_Base *find(const PJRT_Api *api, int type, size_t least) {
    const PJRT_Extension_Base *at = api->extension_start;
    while (at && (int)at->type != type)
        at = at->next;
    return at && at->struct_size >= least ? at : NULL;
}

// A copy of the plugin's, with another one behind it. Longer ones are cut: clients look at the
// size.
enum { EXTENSION_SIZE = 256 };
typedef union copy_t {
    PJRT_Extension_Base base;
    unsigned char room[EXTENSION_SIZE];
} copy_t;

static PJRT_Extension_Base *pass_on(const PJRT_Api *plugin, int type, PJRT_Extension_Base *next,
                                    copy_t *copy) {
    const PJRT_Extension_Base *found = find(plugin, type, sizeof *found);
    if (!found) return next;
    size_t size = found->struct_size < sizeof *copy ? found->struct_size : sizeof *copy;
    memcpy(copy->room, found, size);
    copy->base.struct_size = size;
    copy->base.next = next;
    return &copy->base;
}

static PJRT_Extension_Base *offer_layouts(const PJRT_Api *plugin, PJRT_Extension_Base *next) {
    static layouts_t own;
    plugins_layouts = (const layouts_t *)find(plugin, LAYOUTS, LAYOUTS_LEAST);
    if (rehearsal.target->platform == KEEL_TARGET_CPU) plugins_layouts = NULL;
    if (!plugins_layouts) return next;
    memcpy(&own, plugins_layouts, LAYOUTS_LEAST);
    own.base.struct_size = offsetof(layouts_t, newer);
    own.base.next = next;
    own.of_client = of_client;
    own.of_buffer = of_buffer;
    own.of_results = of_results;
    return &own.base;
}

void extensions_fill(PJRT_Api *table) {
    static copy_t ffi, custom_call;
    const PJRT_Api *plugin = rehearsal.plugin;
    PJRT_Extension_Base *chain = pass_on(plugin, FFI, NULL, &ffi);
    chain = pass_on(plugin, CUSTOM_CALL, chain, &custom_call);
    table->extension_start = offer_layouts(plugin, chain);
}
