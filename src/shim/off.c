// With mode off nothing is read and nothing is rewritten, so what PyTorch/XLA executes waits for
// ever on some plugins (engine/portable.c, engine/gang.c). Keel says so.
#include "shim/shim.h"

static const PJRT_Api *plugin;

static PJRT_Error *compile(PJRT_Client_Compile_Args *args) {
    uint64_t replicas = keel_engine_gathered_replicas(plugin, args);
    if (replicas)
        keel_log_once(
            "replicas",
            "a program for %llu replicas stays as it is with mode off: this plugin ends no "
            "execution of it before all of its devices have begun one; with any other mode "
            "Keel sees to that",
            (unsigned long long)replicas);
    return plugin->PJRT_Client_Compile(args);
}

void keel_shim_take_off(PJRT_Api *table, const PJRT_Api *real) {
    plugin = real;
    table->PJRT_Client_Compile = compile;
}
