// What devices are called. In the place of a client's own CPU backend they have the names that they
// have there, which differ between versions of the client.
#include <stdio.h>

#include "shim/shim.h"

enum { NAMED = 1024, LONGEST = 32 };
typedef char name_t[LONGEST];

static const PJRT_Api *plugin;
static const name_t *names; // by the device's number; NULL: the plugin's own. Stays for good

void keel_shim_name_devices(const char *prefix) {
    void *memory;
    if (names) return;
    keel_status_t status = keel_calloc(NAMED, sizeof(name_t), &memory);
    keel_status_ignore(status);
    if (status) return;
    name_t *made = memory;
    for (int i = 0; i < NAMED; ++i)
        snprintf(made[i], sizeof made[i], "%.16s%d", prefix, i);
    names = (const name_t *)made;
}

static PJRT_Error *debug_string(PJRT_DeviceDescription_DebugString_Args *args) {
    PJRT_DeviceDescription_Id_Args id = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Id),
                                         .device_description = args->device_description, .id = -1};
    if (names) keel_status_ignore(KEEL_PJRT_CALL(plugin, PJRT_DeviceDescription_Id, id));
    if (!names || id.id < 0 || id.id >= NAMED)
        return plugin->PJRT_DeviceDescription_DebugString(args);
    args->debug_string = names[id.id];
    args->debug_string_size = strlen(names[id.id]);
    return NULL;
}

void keel_shim_take_names(PJRT_Api *table, const PJRT_Api *real) {
    plugin = real;
    table->PJRT_DeviceDescription_DebugString = debug_string;
}
