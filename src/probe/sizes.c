// Finds the size of arguments that each function wants. A plugin checks the size before it does
// anything, and names the size it wants if it gets less. So each function is called with arguments
// that hold only what every struct has.
#include <stdio.h>

#include "pjrt/bridge.h"
#include "pjrt/bridge_table.h"
#include "probe/internal.h"

enum { HEAD = 2 * sizeof(size_t), ROOM = 1024 };

// The arguments' name and the size wanted; false if the answer says nothing about them.
static bool read_refusal(const PJRT_Api *api, PJRT_Error *error, const char *name,
                         unsigned *out_wanted) {
    char text[192], named[96];
    unsigned got;
    keel_status_t status = keel_pjrt_status(api, error, "asked");
    if (!status) return false;
    snprintf(text, sizeof text, "%s", keel_status_message(status));
    keel_status_ignore(status);
    return sscanf(text, "asked: Unexpected %95s size: expected %5u, got %5u", named, out_wanted,
                  &got) == 3 &&
           strcmp(named, name) == 0 && got == HEAD;
}

static void report_size(const probe_child_t *child, const char *name, size_t wanted,
                        size_t header) {
    keel_buffer_t line;
    probe_line_begin(&line, "fact", "struct");
    probe_line_text(&line, "name", keel_str(name));
    probe_line_number(&line, "wanted", (int64_t)wanted);
    probe_line_number(&line, "header", (int64_t)header);
    probe_line_end(child, &line);
}

// For structs that arguments point to, the bridge has learned the plugin's sizes.
static bool differs(const char *name, size_t wanted, size_t header) {
    if (!wanted) return false;
    if (wanted != header) return true;
#define OTHER(client, minor, other, size)                                                          \
    if (strcmp(name, other) == 0 && wanted != (size)) return true;
    KEEL_PROBE_CLIENTS(OTHER)
#undef OTHER
    return false;
}

// XLA reads this function's arguments before it checks their size, and crashes on them.
static bool is_asked(const char *function) {
    return strcmp(function, "Client_CreateViewOfDeviceBuffer") != 0;
}

#define ASK(function)                                                                              \
    do {                                                                                           \
        size_t arguments[ROOM / sizeof(size_t)] = {HEAD};                                          \
        unsigned wanted = 0;                                                                       \
        if (!is_asked(#function) || !keel_pjrt_has(plugin, PJRT_##function)) break;                \
        PJRT_Error *error = plugin->PJRT_##function((void *)arguments);                            \
        if (!read_refusal(child->api, error, "PJRT_" #function "_Args", &wanted)) break;           \
        ++answers;                                                                                 \
        if (differs("PJRT_" #function "_Args", wanted, PJRT_##function##_Args_STRUCT_SIZE))        \
            report_size(child, "PJRT_" #function "_Args", wanted,                                  \
                        PJRT_##function##_Args_STRUCT_SIZE);                                       \
    } while (0);

keel_status_t probe_sizes(probe_child_t *child) {
    const PJRT_Api *plugin = child->plugin.api;
    unsigned answers = 0;
    if (child->request->wraps) {
        child->skipped = "the plugin is Keel's own library, which takes any size";
        return NULL;
    }
    // Harmless even if sizes are not checked; a plugin that does not check here is not asked
    // further.
    ASK(Plugin_Attributes)
    if (!answers) {
        child->skipped = "the plugin does not check sizes";
        return NULL;
    }
    answers = 0;
    KEEL_BRIDGE_FUNCTIONS(ASK)
#define TELL_NESTED(name)                                                                          \
    if (differs("PJRT_" #name, keel_bridge_wanted("PJRT_" #name), PJRT_##name##_STRUCT_SIZE))      \
        report_size(child, "PJRT_" #name, keel_bridge_wanted("PJRT_" #name),                       \
                    PJRT_##name##_STRUCT_SIZE);
    KEEL_BRIDGE_STRUCTS(TELL_NESTED)
#undef TELL_NESTED
    return NULL;
}
