#include "shim/shim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "enforce/enforce.h"
#include "pjrt/bridge.h"
#include "pjrt/error.h"
#include "pjrt/kernels.h"
#include "pjrt/outlines.h"

// One door per process, and so one plugin and one engine behind it: PJRT's functions carry no
// context. The table is the bridge's, also for
// Keel's own calls.
static keel_plugin_t plugin;
static keel_engine_t *engine;
static _Atomic(keel_enforcement_t *) enforcement; // once it began
static keel_shim_rehearsal_t rehearsal;
static keel_status_t trouble; // why nothing works; every function returns it
static const PJRT_Api *table;
// Under `naming`: the plugin that keel_shim_wrap named; `is_settled` once a table was asked for.
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;
static char *named;
static const keel_plugin_t *behind_client; // the client's own compiler (own.c)
static bool is_settled;

// ---- functions that replace the plugin's -------------------------------------------------------

static void client_created(const PJRT_Client_Create_Args *args) {
    keel_engine_client_created(engine, args->client, args->create_options, args->num_options);
    keel_enforcement_client_created(atomic_load(&enforcement), args);
    keel_shim_write_fixes(engine);
    keel_kernels_register(plugin.api, args->client);
}

static PJRT_Error *client_create(PJRT_Client_Create_Args *args) {
    return keel_shim_create(args, client_created);
}

static PJRT_Error *client_destroy(PJRT_Client_Destroy_Args *args) {
    // A client that is still used stays: destroying it would end the process, or wait.
    if (args->client && !keel_engine_client_closing(engine, args->client)) return NULL;
    keel_enforcement_client_closing(atomic_load(&enforcement), args->client);
    return plugin.api->PJRT_Client_Destroy(args);
}

void keel_shim_end(void) {
    keel_enforcement_t *holds = atomic_load(&enforcement);
    if (holds) keel_enforcement_end(holds);
    if (engine) keel_engine_end(engine);
}

static void end_first(void) {
    atexit(keel_shim_end);
}

// What the plugin creates during the first compile or load is destroyed before what existed at its
// start, so the last publication must come earlier than both. keel_shim_end may run twice.
static void first_is_done(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, end_first);
}

static PJRT_Error *client_compile(PJRT_Client_Compile_Args *args) {
    PJRT_Error *error = keel_engine_compile(engine, args);
    first_is_done();
    return error;
}

static PJRT_Error *load_executable(PJRT_Executable_DeserializeAndLoad_Args *args) {
    PJRT_Error *error = keel_engine_load(engine, args);
    first_is_done();
    return error;
}

// See engine/gang.c.
static PJRT_Error *execute_in_gang(keel_gang_t *gang, PJRT_LoadedExecutable_Execute_Args *args) {
    keel_gang_call_t call;
    keel_status_t status = keel_gang_begin(gang, args, &call);
    if (status) return keel_pjrt_error(status);
    PJRT_Error *error = plugin.api->PJRT_LoadedExecutable_Execute(args);
    keel_gang_end(args, &call);
    return error;
}

static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *args) {
    keel_gang_t *gang = keel_engine_executed(engine, args);
    PJRT_Error *error =
        gang ? execute_in_gang(gang, args) : plugin.api->PJRT_LoadedExecutable_Execute(args);
    if (!error) keel_engine_gave(engine, args);
    return error;
}

static PJRT_Error *get_executable(PJRT_LoadedExecutable_GetExecutable_Args *args) {
    PJRT_Error *error = plugin.api->PJRT_LoadedExecutable_GetExecutable(args);
    if (error) return error;
    keel_status_t status =
        keel_engine_executable_taken(engine, args->loaded_executable, args->executable);
    if (!status) {
        keel_outlines_taken(args->executable);
        return NULL;
    }
    keel_pjrt_destroy_executable(plugin.api, args->executable);
    args->executable = NULL;
    return keel_pjrt_error(status);
}

static PJRT_Error *loaded_destroy(PJRT_LoadedExecutable_Destroy_Args *args) {
    bool may = keel_engine_loaded_closing(engine, args->executable);
    return may ? plugin.api->PJRT_LoadedExecutable_Destroy(args) : NULL;
}

static PJRT_Error *loaded_delete(PJRT_LoadedExecutable_Delete_Args *args) {
    bool may = keel_engine_loaded_deleting(engine, args->executable);
    return may ? plugin.api->PJRT_LoadedExecutable_Delete(args) : NULL;
}

static PJRT_Error *loaded_is_deleted(PJRT_LoadedExecutable_IsDeleted_Args *args) {
    bool is_deleted = keel_engine_loaded_is_deleted(engine, args->executable);
    args->is_deleted = is_deleted;
    return is_deleted ? NULL : plugin.api->PJRT_LoadedExecutable_IsDeleted(args);
}

static PJRT_Error *buffer_destroy(PJRT_Buffer_Destroy_Args *args) {
    keel_engine_destroying(engine, args->buffer);
    if (keel_engine_releases(engine) && keel_engine_release(engine, args->buffer)) return NULL;
    return plugin.api->PJRT_Buffer_Destroy(args);
}

static void free_serialized(PJRT_SerializedExecutable *stored) {
    keel_stored_release((keel_stored_t *)stored);
}

static PJRT_Error *serialize(PJRT_Executable_Serialize_Args *args) {
    keel_payload_t payload;
    keel_stored_t *stored = keel_engine_stored(engine, args->executable, &payload);
    if (!stored) return plugin.api->PJRT_Executable_Serialize(args);
    args->serialized_bytes = (const char *)payload.executable.data;
    args->serialized_bytes_size = payload.executable.size;
    args->serialized_executable = (PJRT_SerializedExecutable *)stored;
    args->serialized_executable_deleter = free_serialized;
    return NULL;
}

// Asked for the size first, then for the bytes. The format's name lives as long as the executable.
static PJRT_Error *optimized_program(PJRT_Executable_OptimizedProgram_Args *args) {
    keel_payload_t payload;
    bool suffices = args->program && keel_outlines_suffice(args->executable);
    if (suffices && keel_engine_outline(engine, args->executable, args->program)) return NULL;
    keel_stored_t *stored = keel_engine_stored(engine, args->executable, &payload);
    PJRT_Program *program = args->program;
    size_t size = stored ? keel_payload_program_size(&payload) : 0;
    bool fits = size && program && (!program->code || program->code_size >= size);
    if (fits && program->code) {
        keel_status_t status = keel_payload_program(&payload, program->code);
        fits = !status;
        keel_status_ignore(status);
    }
    if (fits) {
        program->code_size = size;
        program->format = payload.format.data;
        program->format_size = payload.format.size;
    }
    keel_stored_release(stored);
    return fits ? NULL : plugin.api->PJRT_Executable_OptimizedProgram(args);
}

// ---- the table ---------------------------------------------------------------------------------

// Under `naming`. Loads the plugin, so that one that Keel cannot load runs without it.
static bool take_name(const char *path) {
    keel_plugin_t loaded = {0};
    if (is_settled || named || behind_client) return named && strcmp(named, path) == 0;
    keel_status_t status = keel_plugin_load(path, &loaded);
    if (!status) status = keel_strdup(keel_str(path), &named);
    if (status) keel_log_once(path, "%s", keel_status_message(status));
    keel_status_ignore(status);
    keel_free(loaded.path);
    return named;
}

static void settle(void) {
    pthread_mutex_lock(&naming);
    is_settled = true;
    pthread_mutex_unlock(&naming);
}

static keel_status_t load(keel_settings_t *settings) {
    KEEL_TRY(keel_settings_load(NULL, settings));
    char *path;
    if (behind_client) {
        plugin = *behind_client;
        return NULL;
    }
    const char *wanted = named ? named : keel_settings_text(settings, KEEL_SETTING_PLUGIN);
    KEEL_TRY(keel_plugin_find(wanted, NULL, &path));
    keel_status_t status = keel_plugin_load(path, &plugin);
    keel_free(path);
    KEEL_TRY(status);
    return keel_shim_rehearse(&plugin, &rehearsal);
}

// In the place of the CPU backend that the client itself has.
static bool stands_for_the_clients_cpu(void) {
    return !named && keel_plugin_is_xla_cpu(plugin.path);
}

// The client's own copy of the bridge's table: its calls reveal its sizes, Keel's own do not. It is
// as long as the plugin's own, which may have functions that this header does not know. The client
// may have it already, as the plugin's own.
static keel_status_t copy_table(PJRT_Api **out) {
    PJRT_Api *offered = named ? keel_shim_offered(named) : NULL;
    if (offered)
        memcpy(offered, plugin.api, plugin.api->struct_size);
    else
        KEEL_TRY(keel_shim_copy_table(plugin.api, &offered));
    *out = offered;
    // A rehearsal has the functions of this header only.
    if (rehearsal.target && offered->pjrt_api_version.minor_version > PJRT_API_MINOR)
        offered->pjrt_api_version.minor_version = PJRT_API_MINOR;
    keel_bridge_settle_in(*out);
    if (stands_for_the_clients_cpu()) {
        keel_shim_take_profiler(*out);
        keel_shim_take_names(*out, plugin.api);
    }
    return NULL;
}

static keel_status_t wrap(const PJRT_Api **out) {
    const PJRT_Api *real = plugin.api;
    PJRT_Api *wrapped;
    KEEL_TRY(copy_table(&wrapped));
    keel_shim_take_errors(wrapped, real);
    keel_shim_take_transfers(wrapped, real, engine);
    wrapped->PJRT_Client_Create = client_create;
    wrapped->PJRT_Client_Destroy = client_destroy;
    wrapped->PJRT_Client_Compile = client_compile;
    wrapped->PJRT_Executable_DeserializeAndLoad = load_executable;
    wrapped->PJRT_LoadedExecutable_Execute = execute;
    wrapped->PJRT_LoadedExecutable_GetExecutable = get_executable;
    wrapped->PJRT_LoadedExecutable_Destroy = loaded_destroy;
    if (keel_pjrt_has(real, PJRT_LoadedExecutable_Delete))
        wrapped->PJRT_LoadedExecutable_Delete = loaded_delete;
    if (keel_pjrt_has(real, PJRT_LoadedExecutable_IsDeleted))
        wrapped->PJRT_LoadedExecutable_IsDeleted = loaded_is_deleted;
    if (keel_pjrt_has(real, PJRT_Buffer_Destroy)) wrapped->PJRT_Buffer_Destroy = buffer_destroy;
    wrapped->PJRT_Executable_Serialize = serialize;
    // A rehearsal knows which clients can read the plugin's.
    if (!rehearsal.target && keel_pjrt_has(real, PJRT_Executable_OptimizedProgram))
        wrapped->PJRT_Executable_OptimizedProgram = optimized_program;
    if (rehearsal.target)
        keel_shim_take_compile(wrapped, real, engine);
    else
        keel_shim_take_unloaded(wrapped, real, engine);
    keel_shim_take_serialized(wrapped, engine);
    keel_shim_take_contexts(wrapped, real);
    *out = wrapped;
    return NULL;
}

static PJRT_Error *refuse(void *args) {
    (void)args;
    return keel_pjrt_error(
        keel_status_make(keel_status_code(trouble), "keel: %s", keel_status_message(trouble)));
}

static PJRT_Error *no_attributes(PJRT_Plugin_Attributes_Args *args) {
    args->attributes = NULL;
    args->num_attributes = 0;
    return NULL;
}

// Every function returns the reason, whatever a client calls first; only the attributes must not
// fail.
static const PJRT_Api *refusal(keel_status_t status) {
    static PJRT_Api refusing = {
        .struct_size = PJRT_Api_STRUCT_SIZE,
        .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                             .major_version = PJRT_API_MAJOR,
                             .minor_version = PJRT_API_MINOR},
    };
    PJRT_Error *(*function)(void *) = refuse;
    for (size_t at = offsetof(PJRT_Api, PJRT_Error_Destroy); at < PJRT_Api_STRUCT_SIZE;
         at += sizeof function)
        memcpy((char *)&refusing + at, &function, sizeof function);
    refusing.PJRT_Plugin_Attributes = no_attributes;
    trouble = status;
    keel_log_once("refused", "%s%s", keel_status_message(status), keel_status_place(status));
    keel_shim_take_errors(&refusing, NULL);
    return &refusing;
}

// From here on the plugin's table is the bridge's, if there is memory for it.
static void bridge(void) {
    PJRT_Api *bridged;
    keel_status_t status = keel_bridge_create(plugin.api, &bridged);
    if (status) {
        keel_log_once("bridge", "%s; the run continues without the bridge",
                      keel_status_message(status));
        keel_status_ignore(status);
        return;
    }
    plugin.api = bridged;
}

// Without memory for a copy, the client gets the bridge's own table.
static void leave_off(void) {
    PJRT_Api *own;
    keel_status_t status = copy_table(&own);
    keel_status_ignore(status);
    if (!status) keel_shim_take_off(own, plugin.api);
    table = status ? plugin.api : own;
}

static void make_table(void) {
    settle();
    keel_settings_t settings = {0};
    keel_enforcement_t *holds = NULL;
    keel_status_t status = load(&settings);
    if (!status && settings.mode != KEEL_MODE_OFF)
        status = keel_enforcement_create(&settings, &holds);
    if (status) {
        keel_settings_deinitialize(&settings);
        table = refusal(status);
        return;
    }
    bridge();
    keel_shim_take_kinds(&plugin);
    keel_shim_take_devices(&plugin, stands_for_the_clients_cpu() ? settings.cpu_devices : 0);
    if (settings.mode == KEEL_MODE_OFF) {
        keel_settings_deinitialize(&settings);
        leave_off();
        return;
    }
    status = keel_engine_create(&settings, &plugin, true, &engine);
    if (!status && rehearsal.target)
        status = keel_engine_rehearse(engine, rehearsal.target, rehearsal.compiles, rehearsal.fill,
                                      rehearsal.writes);
    if (!status) status = wrap(&table);
    if (status) {
        keel_enforcement_destroy(holds);
        keel_log_once("off", "%s; the run continues without Keel%s", keel_status_message(status),
                      keel_status_place(status));
        keel_status_ignore(status);
        table = plugin.api;
        return;
    }
    keel_enforcement_begin(holds, engine);
    atomic_store(&enforcement, holds);
    // Registered after the plugin's constructors ran, so it runs before the plugin's destructors.
    atexit(keel_shim_end);
}

bool keel_shim_wrap_own(const keel_plugin_t *of_client) {
    pthread_mutex_lock(&naming);
    bool is_first = !is_settled && !named && !behind_client;
    if (is_first) behind_client = of_client;
    pthread_mutex_unlock(&naming);
    return is_first;
}

keel_engine_t *keel_shim_engine(void) {
    return engine;
}

static void make_table_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_table);
}

const PJRT_Api *keel_shim_api(void) {
    const PJRT_Api *offered = keel_shim_take_offer();
    if (offered) return offered;
    make_table_once();
    return table;
}

bool keel_shim_wrap(const char *path) {
    pthread_mutex_lock(&naming);
    bool is_taken = take_name(path);
    pthread_mutex_unlock(&naming);
    PJRT_Api *offered = is_taken ? keel_shim_offered(path) : NULL;
    if (!offered) return is_taken;
    make_table_once();
    if (table != offered) memcpy(offered, table, table->struct_size);
    return true;
}

void keel_shim_freeze(void) {
    keel_enforcement_t *holds = atomic_load(&enforcement);
    if (holds) keel_enforcement_freeze(holds);
}

int keel_shim_replaces_cache(void) {
    if (rehearsal.target) return 2;
    return atomic_load(&enforcement) && keel_engine_replaces_cache(engine);
}
