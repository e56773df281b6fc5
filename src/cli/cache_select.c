// Which programs a command about remotes means.
#include <stdio.h>
#include <stdlib.h>

#include "cli/cache.h"
#include "contract/contract.h"
#include "journal/journal.h"
#include "run/run.h"
#include "store/layout.h"
#include "store/store.h"

static const char *folder_of(const keel_settings_t *settings) {
    return keel_settings_text(settings, KEEL_SETTING_CACHE_DIR);
}

keel_status_t cache_keys_add(cache_keys_t *keys, const keel_digest_t *key) {
    void *grown = keys->list;
    KEEL_TRY(keel_grow_array(keys->count, sizeof *keys->list, &keys->capacity, &grown));
    keys->list = grown;
    keys->list[keys->count++] = *key;
    return NULL;
}

void cache_keys_free(cache_keys_t *keys) {
    keel_free(keys->list);
    *keys = (cache_keys_t){.count = 0};
}

static int by_bytes(const void *a, const void *b) {
    return memcmp(a, b, sizeof(keel_digest_t));
}

void cache_keys_sort(cache_keys_t *keys) {
    size_t count = 0;
    if (keys->count) qsort(keys->list, keys->count, sizeof *keys->list, by_bytes);
    for (size_t i = 0; i < keys->count; ++i)
        if (!count || !keel_digest_equal(&keys->list[count - 1], &keys->list[i]))
            keys->list[count++] = keys->list[i];
    keys->count = count;
}

keel_status_t cache_is_here(const keel_settings_t *settings, const keel_digest_t *key, bool *out) {
    char *path;
    KEEL_TRY(keel_store_entry_path(folder_of(settings), key, &path));
    *out = keel_is_file(path);
    keel_free(path);
    return NULL;
}

// ---- of a run ----------------------------------------------------------------------------------

static keel_status_t add_run(const keel_settings_t *settings, const char *text,
                             cache_keys_t *keys) {
    const char *run_dir = keel_settings_text(settings, KEEL_SETTING_RUN_DIR);
    char *id;
    keel_run_t run;
    KEEL_TRY(keel_journal_find_run(run_dir, text, &id));
    keel_status_t status = keel_run_read(run_dir, id, 0, &run);
    keel_free(id);
    KEEL_TRY(status);
    for (size_t i = 0; i < run.program_count && !status; ++i) {
        keel_digest_t key;
        bool has_key = strcmp(run.programs[i].identity, run.programs[i].program) != 0;
        if (has_key && keel_digest_unhex(keel_str(run.programs[i].identity), &key))
            status = cache_keys_add(keys, &key);
    }
    keel_run_deinitialize(&run);
    return status;
}

// ---- of this machine ---------------------------------------------------------------------------

typedef struct walk_t {
    cache_keys_t *keys;
    const keel_map_t *pins; // fingerprints of programs; NULL: any
} walk_t;

// The first half of the digest of the program's component (keel_fingerprint_of_program). Quotes in
// values are escaped, so nothing else in the object looks like this.
static bool is_listed(const keel_map_t *pins, const char *components) {
    static const char before[] = "\"program\":{\"digest\":\"";
    keel_digest_t digest;
    const char *hex = components ? strstr(components, before) : NULL;
    if (!hex) return false;
    hex += sizeof before - 1;
    return strlen(hex) >= KEEL_DIGEST_HEX - 1 &&
           keel_digest_unhex((keel_str_t){hex, KEEL_DIGEST_HEX - 1}, &digest) &&
           keel_map_find(pins, keel_bytes(digest.bytes, KEEL_FINGERPRINT_SIZE));
}

static keel_status_t add_entry(void *context, const keel_entry_t *entry, uint64_t stored_bytes,
                               uint64_t last_used) {
    const walk_t *walk = context;
    (void)stored_bytes;
    (void)last_used;
    if (keel_entry_is_record(entry)) return NULL;
    if (walk->pins && !is_listed(walk->pins, entry->components)) return NULL;
    return cache_keys_add(walk->keys, &entry->key);
}

static keel_status_t add_local(const keel_settings_t *settings, const keel_map_t *pins,
                               cache_keys_t *keys) {
    keel_tier_t disk;
    walk_t walk = {keys, pins};
    KEEL_TRY(keel_store_disk(folder_of(settings), 0, true, &disk));
    keel_status_t status = disk.list(disk.context, add_entry, &walk);
    disk.close(disk.context);
    return status;
}

static keel_status_t add_pins(const keel_contract_t *contract, keel_map_t *pins) {
    for (uint32_t i = 0; i < contract->entry_count; ++i)
        for (uint32_t j = 0; j < contract->entries[i].program_count; ++j) {
            const keel_contract_program_t *program = &contract->entries[i].programs[j];
            for (uint32_t k = 0; k < program->pin_count; ++k)
                KEEL_TRY(keel_map_put(
                    pins, keel_bytes(program->pins[k].fingerprint.bytes, KEEL_FINGERPRINT_SIZE),
                    1));
        }
    return NULL;
}

static keel_status_t add_contract(const keel_settings_t *settings, const char *path,
                                  cache_keys_t *keys) {
    keel_contract_t contract;
    keel_map_t pins;
    KEEL_TRY(keel_contract_read(path, &contract));
    keel_map_initialize(&pins);
    keel_status_t status = add_pins(&contract, &pins);
    if (!status) status = add_local(settings, &pins, keys);
    keel_map_deinitialize(&pins);
    keel_contract_deinitialize(&contract);
    return status;
}

keel_status_t cache_select(const keel_settings_t *settings, const cache_work_t *work,
                           cache_keys_t *out) {
    *out = (cache_keys_t){.count = 0};
    keel_status_t status = work->run        ? add_run(settings, work->run, out)
                           : work->contract ? add_contract(settings, work->contract, out)
                                            : add_local(settings, NULL, out);
    cache_keys_sort(out);
    return status;
}
