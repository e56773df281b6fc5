// The table's extensions: those of the plugin that need no device, and layouts (layouts.c).
//
// Clients register handlers and custom calls with the plugin, as they would with the device
// present: JAX's packages fail otherwise.
#include "rehearse/objects.h"

enum { CUSTOM_CALL = 0, FFI = 5 }; // PJRT_Extension_Type

const PJRT_Extension_Base *extension_of(const PJRT_Api *api, int type, size_t least) {
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
    const PJRT_Extension_Base *found = extension_of(plugin, type, sizeof *found);
    if (!found) return next;
    size_t size = found->struct_size < sizeof *copy ? found->struct_size : sizeof *copy;
    memcpy(copy->room, found, size);
    copy->base.struct_size = size;
    copy->base.next = next;
    return &copy->base;
}

void extensions_fill(PJRT_Api *table) {
    static copy_t ffi, custom_call;
    const PJRT_Api *plugin = rehearsal.plugin;
    PJRT_Extension_Base *chain = pass_on(plugin, FFI, NULL, &ffi);
    chain = pass_on(plugin, CUSTOM_CALL, chain, &custom_call);
    table->extension_start = layouts_offer(plugin, chain);
}
