// The plugin's bare deserialize-and-load of every entry in a cache folder: what a warm start would
// cost if Keel itself cost nothing. bench/warm_start.py calls it.
//
//   bench_load --json CACHE_DIR     KEEL_PLUGIN names the plugin (default: the embedded one)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/payload.h"
#include "pjrt/pjrt.h"
#include "store/store.h"

typedef struct bench_t {
    const PJRT_Api *api;
    PJRT_Client *client;
    keel_tier_t disk;
    double seconds;
    uint64_t entries, bytes;
} bench_t;

static keel_status_t load(void *context, const keel_entry_t *listed, uint64_t stored_bytes,
                          uint64_t last_used) {
    (void)stored_bytes;
    (void)last_used;
    bench_t *bench = context;
    keel_entry_t entry;
    keel_miss_t miss;
    KEEL_TRY(bench->disk.get(bench->disk.context, &listed->key, &entry, &miss));
    keel_payload_t payload;
    PJRT_LoadedExecutable *loaded;
    keel_status_t status =
        keel_payload_unpack(keel_bytes(entry.payload, entry.payload_size), &payload);
    if (status) {
        keel_entry_deinitialize(&entry);
        return status;
    }
    uint64_t start = keel_clock_monotonic();
    status =
        keel_pjrt_load(bench->api, bench->client, payload.executable, payload.options, &loaded);
    bench->seconds += keel_seconds(keel_clock_monotonic() - start);
    ++bench->entries;
    bench->bytes += payload.executable.size;
    keel_entry_deinitialize(&entry);
    if (!status) keel_pjrt_destroy_loaded(bench->api, loaded);
    return status;
}

static keel_status_t make_client(bench_t *bench) {
    PJRT_Plugin_Initialize_Args initialize = {.struct_size =
                                                  PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    KEEL_TRY(keel_pjrt_status(bench->api, bench->api->PJRT_Plugin_Initialize(&initialize),
                              "PJRT_Plugin_Initialize"));
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    KEEL_TRY(
        keel_pjrt_status(bench->api, bench->api->PJRT_Client_Create(&args), "PJRT_Client_Create"));
    bench->client = args.client;
    return NULL;
}

static keel_status_t run(const char *folder, bench_t *bench) {
    const char *named = getenv("KEEL_PLUGIN");
    keel_plugin_t plugin;
    KEEL_TRY(keel_plugin_load(named && *named ? named : KEEL_EMBEDDED_PLUGIN, &plugin));
    bench->api = plugin.api;
    KEEL_TRY(make_client(bench));
    KEEL_TRY(keel_store_disk(folder, 0, true, &bench->disk));
    return bench->disk.list(bench->disk.context, load, bench);
}

int main(int argc, char **argv) {
    if (argc != 3 || strcmp(argv[1], "--json") != 0) {
        fprintf(stderr, "usage: bench_load --json CACHE_DIR\n");
        return 2;
    }
    bench_t bench = {0};
    keel_status_t status = run(argv[2], &bench);
    if (status) {
        fprintf(stderr, "bench_load: %s\n", keel_status_message(status));
        return 1;
    }
    printf("{\"load_seconds\": %.6f, \"entries\": %llu, \"payload_bytes\": %llu}\n", bench.seconds,
           (unsigned long long)bench.entries, (unsigned long long)bench.bytes);
    return 0;
}
