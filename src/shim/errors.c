// Errors of Keel (pjrt/error.h) are answered here, the plugin's by the plugin.
#include "pjrt/error.h"
#include "shim/shim.h"

static const PJRT_Api *plugin_api;

static void destroy(PJRT_Error_Destroy_Args *args) {
    if (keel_pjrt_error_destroy(args->error)) return;
    if (plugin_api && args->error) plugin_api->PJRT_Error_Destroy(args);
}

static void message(PJRT_Error_Message_Args *args) {
    keel_str_t text;
    if (keel_pjrt_error_message(args->error, &text)) {
        args->message = text.data;
        args->message_size = text.size;
    } else if (plugin_api) {
        plugin_api->PJRT_Error_Message(args);
    }
}

static PJRT_Error *get_code(PJRT_Error_GetCode_Args *args) {
    if (keel_pjrt_error_number(args->error, &args->code)) return NULL;
    return plugin_api ? plugin_api->PJRT_Error_GetCode(args) : NULL;
}

// PJRT_Error_ForEachPayload is newer than the header that Keel is built with. Its place in the
// table was read from plugins of PJRT 0.106 and 0.115. Only the error among its arguments is
// needed, and it has the same place as in every call on errors. Clients call it for each error.
enum { PAYLOADS_PLACE = 1096 };
typedef PJRT_Error *for_each_payload_t(PJRT_Error_GetCode_Args *args);

static for_each_payload_t *plugin_for_each_payload;

static PJRT_Error *for_each_payload(PJRT_Error_GetCode_Args *args) {
    return keel_pjrt_error_is_own(args->error) ? NULL : plugin_for_each_payload(args);
}

static void take_payloads(PJRT_Api *table) {
    char *place = (char *)table + PAYLOADS_PLACE;
    for_each_payload_t *own_function = for_each_payload;
    if (table->struct_size < PAYLOADS_PLACE + sizeof own_function) return;
    memcpy(&plugin_for_each_payload, place, sizeof own_function);
    if (plugin_for_each_payload) memcpy(place, &own_function, sizeof own_function);
}

void keel_shim_take_errors(PJRT_Api *table, const PJRT_Api *plugin) {
    plugin_api = plugin;
    take_payloads(table);
    table->PJRT_Error_Destroy = destroy;
    table->PJRT_Error_Message = message;
    table->PJRT_Error_GetCode = get_code;
}
