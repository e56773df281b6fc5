// The table of the rehearsal's client.
#define _GNU_SOURCE
#include <unistd.h>

#include "base/fork.h"
#include "rehearse/objects.h"

rehearsal_t rehearsal;

bool is_forked(void) {
    return getpid() != rehearsal.process;
}

static pthread_mutex_t texts_lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(texts_lock);
static keel_map_t texts;
static bool has_texts;

bool is_kept_text(const void *text) {
    pthread_mutex_lock(&texts_lock);
    const keel_map_slot_t *slot = NULL;
    while (has_texts && (slot = keel_map_next(&texts, slot)))
        if (slot->value == (uintptr_t)text) break;
    pthread_mutex_unlock(&texts_lock);
    return slot;
}

keel_status_t keep_text(keel_str_t text, const char **out) {
    char *copy;
    pthread_mutex_lock(&texts_lock);
    if (!has_texts) keel_map_initialize(&texts);
    has_texts = true;
    keel_status_t status = NULL;
    const uint64_t *known = keel_map_find(&texts, keel_str_bytes(text));
    if (known) {
        *out = (const char *)(uintptr_t)*known;
    } else {
        status = keel_strdup(text, &copy);
        if (!status) {
            status = keel_map_put(&texts, keel_str_bytes(text), (uintptr_t)copy);
            if (status)
                keel_free(copy);
            else
                *out = copy;
        }
    }
    pthread_mutex_unlock(&texts_lock);
    return status;
}

static PJRT_Error *unimplemented(void *args) {
    (void)args;
    return keel_pjrt_error(
        keel_status_make(KEEL_UNSUPPORTED, "keel: a rehearsal does not have this PJRT function"));
}

// The plugin knows what it is; it also describes its devices and its topology.
static void take_plugins_own(PJRT_Api *table, const PJRT_Api *plugin) {
    table->PJRT_Plugin_Initialize = plugin->PJRT_Plugin_Initialize;
    table->PJRT_Plugin_Attributes = plugin->PJRT_Plugin_Attributes;
    table->PJRT_DeviceDescription_Id = plugin->PJRT_DeviceDescription_Id;
    table->PJRT_DeviceDescription_ProcessIndex = plugin->PJRT_DeviceDescription_ProcessIndex;
    table->PJRT_DeviceDescription_Attributes = plugin->PJRT_DeviceDescription_Attributes;
    table->PJRT_DeviceDescription_Kind = plugin->PJRT_DeviceDescription_Kind;
    table->PJRT_DeviceDescription_DebugString = plugin->PJRT_DeviceDescription_DebugString;
    table->PJRT_DeviceDescription_ToString = plugin->PJRT_DeviceDescription_ToString;
    // Its FFI extension writes into them.
    table->PJRT_ExecuteContext_Create = plugin->PJRT_ExecuteContext_Create;
    table->PJRT_ExecuteContext_Destroy = plugin->PJRT_ExecuteContext_Destroy;
    table->PJRT_TopologyDescription_Create = plugin->PJRT_TopologyDescription_Create;
    table->PJRT_TopologyDescription_Destroy = plugin->PJRT_TopologyDescription_Destroy;
    table->PJRT_TopologyDescription_PlatformName = plugin->PJRT_TopologyDescription_PlatformName;
    table->PJRT_TopologyDescription_PlatformVersion =
        plugin->PJRT_TopologyDescription_PlatformVersion;
    table->PJRT_TopologyDescription_GetDeviceDescriptions =
        plugin->PJRT_TopologyDescription_GetDeviceDescriptions;
    table->PJRT_TopologyDescription_Serialize = plugin->PJRT_TopologyDescription_Serialize;
    table->PJRT_TopologyDescription_Attributes = plugin->PJRT_TopologyDescription_Attributes;
    if (keel_pjrt_has(plugin, PJRT_TopologyDescription_Deserialize))
        table->PJRT_TopologyDescription_Deserialize = plugin->PJRT_TopologyDescription_Deserialize;
}

// ---- errors: of this room, or of the plugin ----------------------------------------------------

static void error_destroy(PJRT_Error_Destroy_Args *args) {
    if (!keel_pjrt_error_destroy(args->error)) rehearsal.plugin->PJRT_Error_Destroy(args);
}

static void error_message(PJRT_Error_Message_Args *args) {
    keel_str_t text;
    if (!keel_pjrt_error_message(args->error, &text)) {
        rehearsal.plugin->PJRT_Error_Message(args);
        return;
    }
    args->message = text.data;
    args->message_size = text.size;
}

static PJRT_Error *error_code(PJRT_Error_GetCode_Args *args) {
    if (keel_pjrt_error_number(args->error, &args->code)) return NULL;
    return rehearsal.plugin->PJRT_Error_GetCode(args);
}

static void take_errors(PJRT_Api *table) {
    table->PJRT_Error_Destroy = error_destroy;
    table->PJRT_Error_Message = error_message;
    table->PJRT_Error_GetCode = error_code;
}

// ---- the table ---------------------------------------------------------------------------------

static void fill(PJRT_Api *table, const PJRT_Api *plugin) {
    PJRT_Error *(*function)(void *) = unimplemented;
    *table = (PJRT_Api){
        .struct_size = PJRT_Api_STRUCT_SIZE,
        .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                             .major_version = plugin->pjrt_api_version.major_version,
                             .minor_version = plugin->pjrt_api_version.minor_version},
    };
    for (size_t at = offsetof(PJRT_Api, PJRT_Error_Destroy); at < PJRT_Api_STRUCT_SIZE;
         at += sizeof function)
        memcpy((char *)table + at, &function, sizeof function);
    take_plugins_own(table, plugin);
    take_errors(table);
    extensions_fill(table);
    event_fill(table);
    client_fill(table);
    memories_fill(table);
    buffer_fill(table);
    transfer_fill(table);
    executable_fill(table);
    unloaded_fill(table);
    execute_fill(table);
}

keel_status_t keel_rehearse_begin(const keel_rehearse_settings_t *settings, const PJRT_Api **out) {
    static PJRT_Api table;
    rehearsal = (rehearsal_t){.target = settings->target,
                              .plugin = settings->plugin->api,
                              .plugin_path = settings->plugin->path,
                              .interpreter = settings->interpreter,
                              .calculator = settings->calculator,
                              .compiles = settings->compiles,
                              .client_is_old = settings->client_is_old,
                              .memory_limit = settings->target->memory_limit,
                              .fill = settings->fill,
                              .process = getpid()};
    fill(&table, rehearsal.plugin);
    *out = &table;
    return NULL;
}
