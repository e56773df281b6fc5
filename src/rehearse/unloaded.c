// Executables that no device has: those of topologies (PJRT_Compile), stored or compiled here.
#include "base/fork.h"
#include "pjrt/memory.h"
#include "rehearse/objects.h"

// Those that were handed out, under the lock: a foreign pointer must not be looked into.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static PJRT_Executable *unloaded;
static atomic_size_t count;

bool keel_rehearse_owns(const PJRT_Executable *executable) {
    if (!atomic_load_explicit(&count, memory_order_relaxed)) return false;
    pthread_mutex_lock(&lock);
    const PJRT_Executable *at = unloaded;
    while (at && at != executable)
        at = at->next;
    pthread_mutex_unlock(&lock);
    return at;
}

void unloaded_forget(const PJRT_Executable *executable) {
    pthread_mutex_lock(&lock);
    PJRT_Executable **link = &unloaded;
    while (*link && *link != executable)
        link = &(*link)->next;
    if (*link) {
        *link = (*link)->next;
        atomic_fetch_sub(&count, 1);
    }
    pthread_mutex_unlock(&lock);
}

// Takes over the facts.
static keel_status_t hand_out_unloaded(facts_t *facts, PJRT_Executable **out) {
    void *memory;
    keel_status_t status = keel_calloc(1, sizeof(PJRT_Executable), &memory);
    if (status) {
        facts_release(facts);
        return status;
    }
    PJRT_Executable *executable = memory;
    executable->facts = facts;
    pthread_mutex_lock(&lock);
    executable->next = unloaded;
    unloaded = executable;
    atomic_fetch_add(&count, 1);
    pthread_mutex_unlock(&lock);
    *out = executable;
    return NULL;
}

keel_status_t keel_rehearse_unloaded(const PJRT_Client_Compile_Args *args, keel_bytes_t serialized,
                                     keel_bytes_t module, keel_str_t module_format,
                                     const keel_program_memory_t *memory, PJRT_Executable **out) {
    facts_t *facts;
    KEEL_TRY(facts_begin(args, &facts));
    facts->has_memory = memory;
    if (memory) facts->memory = *memory;
    keel_buffer_append(&facts->serialized, serialized.data, serialized.size);
    keel_status_t status = keel_buffer_status(&facts->serialized);
    if (!status) status = facts_take_module(facts, module, module_format);
    if (!status) status = facts_finish(facts, NULL);
    if (status) {
        facts_release(facts);
        return status;
    }
    return hand_out_unloaded(facts, out);
}

// ---- compiling ---------------------------------------------------------------------------------

static keel_status_t serialize_topology(const PJRT_TopologyDescription *topology,
                                        keel_buffer_t *out) {
    PJRT_TopologyDescription_Serialize_Args args = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_Serialize),
        .topology = (PJRT_TopologyDescription *)(uintptr_t)topology};
    KEEL_TRY(KEEL_PJRT_CALL(rehearsal.plugin, PJRT_TopologyDescription_Serialize, args));
    keel_buffer_append(out, args.serialized_bytes, args.serialized_bytes_size);
    args.serialized_topology_deleter(args.serialized_topology);
    return keel_buffer_status(out);
}

// Whether it is the target's, which the compiler has.
static bool is_of_target(const PJRT_TopologyDescription *topology) {
    keel_buffer_t own, other;
    if (!rehearsal.topology || is_forked()) return false;
    if (topology == rehearsal.topology) return true;
    keel_buffer_initialize(&own, 0);
    keel_buffer_initialize(&other, 0);
    keel_status_t status = serialize_topology(rehearsal.topology, &own);
    if (!status) status = serialize_topology(topology, &other);
    bool is_same = !status && keel_bytes_equal(keel_buffer_bytes(&own), keel_buffer_bytes(&other));
    keel_status_ignore(status);
    keel_buffer_deinitialize(&own);
    keel_buffer_deinitialize(&other);
    return is_same;
}

static PJRT_Error *compile_for_target(const PJRT_Client_Compile_Args *args, facts_t *facts) {
    keel_status_t status = compiling_begin(args, false, &facts->compiling);
    if (status) return keel_pjrt_error(status);
    const keel_compiled_t *compiled = compiling_wait(facts->compiling);
    if (compiled->error) return compiling_refusal(compiled);
    status = facts_take_module(facts, keel_bytes(compiled->program, compiled->program_size),
                               keel_str(compiled->program_format ? compiled->program_format : ""));
    return status ? keel_pjrt_error(status) : NULL;
}

// What a client asks of it later is asked at once: the plugin's own object goes.
static keel_status_t take_from(PJRT_Executable *executable, facts_t *facts) {
    const PJRT_Api *api = rehearsal.plugin;
    keel_buffer_t module;
    keel_str_t format = KEEL_STR("");
    uint8_t *bytes;
    size_t size;
    keel_buffer_initialize(&module, 0);
    keel_status_t status = keel_pjrt_program_memory(api, executable, &facts->memory);
    facts->has_memory = !status;
    keel_status_ignore(status);
    keel_status_ignore(keel_pjrt_optimized_program(api, executable, &module, &format));
    status = facts_take_module(facts, keel_buffer_bytes(&module), format);
    if (!status) status = keel_pjrt_serialize(api, executable, &bytes, &size);
    if (!status) {
        keel_buffer_append(&facts->serialized, bytes, size);
        keel_free(bytes);
        status = keel_buffer_status(&facts->serialized);
    }
    keel_buffer_deinitialize(&module);
    return status;
}

// For a different topology than the target's: in this process, as without a rehearsal.
static PJRT_Error *compile_for_other(PJRT_Compile_Args *args, facts_t *facts) {
    const PJRT_Api *plugin = rehearsal.plugin;
    PJRT_Compile_Args own = *args;
    own.client = NULL; // of the rehearsal
    PJRT_Error *error = plugin->PJRT_Compile(&own);
    if (error) return error;
    keel_status_t status = take_from(own.executable, facts);
    keel_pjrt_destroy_executable(plugin, own.executable);
    return status ? keel_pjrt_error(status) : NULL;
}

// A client that compiles ahead wants what comes out, so it waits for that, also if nothing else is
// compiled.
static PJRT_Error *compile(PJRT_Compile_Args *args) {
    const PJRT_Client_Compile_Args repeated = {KEEL_PJRT_SIZE(PJRT_Client_Compile),
                                               .program = args->program,
                                               .compile_options = args->compile_options,
                                               .compile_options_size = args->compile_options_size};
    facts_t *facts;
    keel_status_t status = facts_begin(&repeated, &facts);
    if (status) return keel_pjrt_error(status);
    PJRT_Error *error = is_of_target(args->topology) ? compile_for_target(&repeated, facts)
                                                     : compile_for_other(args, facts);
    if (!error) {
        status = facts_finish(facts, NULL);
        if (status) error = keel_pjrt_error(status);
    }
    if (error) {
        facts_release(facts);
        return error;
    }
    status = hand_out_unloaded(facts, &args->executable);
    return status ? keel_pjrt_error(status) : NULL;
}

void unloaded_fill(PJRT_Api *table) {
    if (keel_pjrt_has(rehearsal.plugin, PJRT_Compile)) table->PJRT_Compile = compile;
}

const PJRT_Api *keel_rehearse_executables(void) {
    static PJRT_Api table;
    executable_fill(&table); // the same each time
    return &table;
}

// ---- shardings ---------------------------------------------------------------------------------

// Source: xla/pjrt/c/pjrt_c_api_shardings_extension.h.
enum { SHARDINGS = 19 }; // PJRT_Extension_Type

typedef struct shardings_args_t {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_Executable *executable;
    size_t count;                 // of parameters or results
    const char *const *shardings; // OpSharding
    const size_t *sizes;
} shardings_args_t;

typedef struct shardings_t {
    PJRT_Extension_Base base;
    PJRT_Error *(*of_parameters)(shardings_args_t *args);
    PJRT_Error *(*of_results)(shardings_args_t *args);
} shardings_t;

static shardings_t next; // the plugin's

static PJRT_Error *tell_shardings(const keel_array_t *arrays, uint32_t number, keel_arena_t *arena,
                                  shardings_args_t *args) {
    static const char replicated[] = {8, 0};
    void *memory;
    args->count = number;
    args->shardings = NULL;
    args->sizes = NULL;
    keel_status_t status =
        keel_arena_array(arena, (size_t)number + 1, sizeof(char *) + sizeof(size_t), &memory);
    if (status) return keel_pjrt_error(status);
    const char **shardings = memory;
    size_t *sizes = (size_t *)(void *)(shardings + number + 1);
    for (uint32_t i = 0; i < number; ++i) {
        bool is_told = arrays[i].sharding.size != 0;
        shardings[i] = is_told ? (const char *)arrays[i].sharding.data : replicated;
        sizes[i] = is_told ? arrays[i].sharding.size : sizeof replicated;
    }
    args->shardings = shardings;
    args->sizes = sizes;
    return NULL;
}

static PJRT_Error *of_parameters(shardings_args_t *args) {
    if (!keel_rehearse_owns(args->executable)) return next.of_parameters(args);
    facts_t *facts = args->executable->facts;
    return tell_shardings(facts->signature.parameters, facts->signature.parameter_count,
                          &facts->arena, args);
}

static PJRT_Error *of_results(shardings_args_t *args) {
    if (!keel_rehearse_owns(args->executable)) return next.of_results(args);
    facts_t *facts = args->executable->facts;
    return tell_shardings(facts->signature.results, facts->signature.result_count, &facts->arena,
                          args);
}

static bool take_shardings(PJRT_Extension_Base *extension) {
    shardings_t *table = (shardings_t *)extension;
    if ((int)extension->type != SHARDINGS || extension->struct_size < sizeof *table) return false;
    next = *table;
    table->of_parameters = of_parameters;
    table->of_results = of_results;
    return true;
}

// ---- extensions --------------------------------------------------------------------------------

static void free_chain(PJRT_Extension_Base *first) {
    while (first) {
        PJRT_Extension_Base *after = first->next;
        keel_free(first);
        first = after;
    }
}

static keel_status_t copy_chain(const PJRT_Extension_Base *plugins, PJRT_Extension_Base **out) {
    PJRT_Extension_Base **link = out;
    *out = NULL;
    for (; plugins; plugins = plugins->next) {
        void *memory;
        keel_status_t status = keel_alloc(plugins->struct_size, &memory);
        if (status) {
            free_chain(*out);
            return status;
        }
        memcpy(memory, plugins, plugins->struct_size);
        *link = memory;
        (*link)->next = NULL;
        link = &(*link)->next;
    }
    return NULL;
}

keel_status_t keel_rehearse_extensions(PJRT_Extension_Base *plugins, PJRT_Extension_Base **out) {
    PJRT_Extension_Base *copy;
    bool any = false;
    *out = plugins;
    KEEL_TRY(copy_chain(plugins, &copy));
    for (PJRT_Extension_Base *at = copy; at; at = at->next)
        any = layouts_take(at) || take_shardings(at) || any;
    if (any)
        *out = copy;
    else
        free_chain(copy);
    return NULL;
}
