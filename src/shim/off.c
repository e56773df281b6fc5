// With mode off, nothing is read or rewritten, so on some plugins PyTorch/XLA's executions deadlock
// (engine/portable.c, engine/gang.c). Keel warns about that.
#include "pjrt/kernels.h"
#include "shim/shim.h"

static const PJRT_Api *plugin;

static PJRT_Error *compile(PJRT_Client_Compile_Args *args) {
    uint64_t replicas = keel_engine_gathered_replicas(plugin, args);
    if (replicas)
        keel_log_once(
            "replicas",
            "a program for %llu replicas may hang with mode off: this plugin finishes no "
            "execution of it before all of its devices have started one; in every other mode "
            "Keel prevents that",
            (unsigned long long)replicas);
    return plugin->PJRT_Client_Compile(args);
}

static void client_created(const PJRT_Client_Create_Args *args) {
    keel_kernels_register(plugin, args->client);
}

static PJRT_Error *client_create(PJRT_Client_Create_Args *args) {
    return keel_shim_create(args, client_created);
}

void keel_shim_take_off(PJRT_Api *table, const PJRT_Api *real) {
    plugin = real;
    table->PJRT_Client_Create = client_create;
    table->PJRT_Client_Compile = compile;
    keel_shim_take_contexts(table, real);
}
