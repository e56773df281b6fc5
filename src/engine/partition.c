#include "engine/partition.h"

#include <stdio.h>

#include "engine/load.h"
#include "engine/publish.h"
#include "engine/rehearsal.h"
#include "engine/tiers.h"

// The key of an executable with another digest.
static keel_status_t make_key(const request_t *request, keel_key_t *out) {
    static const char what[] = "keel partition";
    keel_hasher_t hasher;
    KEEL_TRY(keel_key_copy(&request->key, out));
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, what, sizeof what);
    keel_hasher_update(&hasher, out->digest.bytes, KEEL_DIGEST_SIZE);
    out->digest = keel_hasher_finish(&hasher);
    return NULL;
}

bool partition_load(request_t *request) {
    keel_engine_t *engine = request->engine;
    loaded_entry_t loaded;
    keel_miss_t miss;
    keel_key_t key;
    if (request->unloaded || !rehearsal_partitions(engine) || !engine->looks_up) return false;
    keel_key_initialize(&key);
    keel_status_t status = make_key(request, &key);
    bool found = !status &&
                 load_entry(engine, request->args, keel_bytes("", 0), &key.digest, &loaded, &miss);
    if (found) {
        request->args->executable = loaded.executable;
        tiers_promote(engine, loaded.tier, &loaded.entry);
        keel_entry_deinitialize(&loaded.entry);
    }
    keel_key_deinitialize(&key);
    keel_status_ignore(status);
    return found;
}

void partition_take(request_t *request, bool is_kept) {
    keel_engine_t *engine = request->engine;
    keel_bytes_t module;
    const char *format;
    keel_key_t key;
    PJRT_LoadedExecutable *loaded = request->args->executable;
    if (!keel_rehearse_is_partitioned(loaded, &module, &format, &request->partition_seconds))
        return;
    if (!is_kept || !engine->stores || keel_rehearse_is_guess(loaded)) return;
    keel_key_initialize(&key);
    keel_status_t status = make_key(request, &key);
    const keel_compiled_t said = {.program = (uint8_t *)(uintptr_t)module.data,
                                  .program_size = module.size,
                                  .program_format = (char *)(uintptr_t)format,
                                  .seconds = request->partition_seconds};
    char name[256]; // as `keel cache ls` shows it
    snprintf(name, sizeof name, "%.200s (shardings)", request->name);
    if (!status)
        publish_compiled(engine, &key, &request->program, name, &said);
    else
        publish_failed(engine, "put", &request->key, request->name, status);
    keel_key_deinitialize(&key);
}
