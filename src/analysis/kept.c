#include "analysis/kept.h"

#include "journal/journal.h"
#include "read/read.h"

// For all programs together; a single one may be larger.
static const size_t bytes_limit = (size_t)64 << 20;

void kept_initialize(kept_t *kept, const char *run_dir) {
    *kept = (kept_t){.run_dir = run_dir};
    keel_map_initialize(&kept->slot_of);
}

static void clear(kept_program_t *slot) {
    if (!slot->bytes) return;
    keel_program_deinitialize(&slot->program);
    keel_free(slot->bytes);
    *slot = (kept_program_t){.bytes = NULL};
}

void kept_deinitialize(kept_t *kept) {
    for (size_t i = 0; i < KEPT_SLOTS; ++i)
        clear(&kept->slots[i]);
    keel_map_deinitialize(&kept->slot_of);
}

// A whole digest needs no search.
static keel_status_t read_bytes(const char *run_dir, const keel_digest_t *digest, uint8_t **out,
                                size_t *out_size) {
    static const char *const formats[] = {"mlir", "hlo"};
    char hex[KEEL_DIGEST_HEX], *path;
    keel_status_t status = NULL;
    keel_digest_hex(digest, hex);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        keel_status_ignore(status);
        KEEL_TRY(keel_path(&path, "%s/programs/%s.%s.zst", run_dir, hex, formats[i]));
        status = keel_journal_read_program(path, out, out_size);
        keel_free(path);
        if (keel_status_code(status) != KEEL_NOT_FOUND) break;
    }
    return status;
}

static kept_program_t *oldest_of(kept_t *kept, const kept_program_t *but) {
    kept_program_t *oldest = NULL;
    for (size_t i = 0; i < KEPT_SLOTS; ++i) {
        kept_program_t *slot = &kept->slots[i];
        if (slot == but || !slot->bytes) continue;
        if (!oldest || slot->used < oldest->used) oldest = slot;
    }
    return oldest;
}

// Never evicts the program that was returned last.
static kept_program_t *make_room_for_program(kept_t *kept, size_t size) {
    kept_program_t *last = NULL, *free_slot = NULL;
    size_t total = size;
    for (size_t i = 0; i < KEPT_SLOTS; ++i) {
        kept_program_t *slot = &kept->slots[i];
        if (!slot->bytes)
            free_slot = slot;
        else if (!last || slot->used > last->used)
            last = slot;
        total += slot->size;
    }
    for (kept_program_t *oldest; !free_slot || total > bytes_limit; free_slot = oldest) {
        oldest = oldest_of(kept, last);
        if (!oldest) break;
        total -= oldest->size;
        clear(oldest);
    }
    return free_slot;
}

static keel_status_t note_slot(kept_t *kept, const kept_program_t *slot) {
    return keel_map_put(&kept->slot_of, keel_bytes(&slot->digest, sizeof slot->digest),
                        (uint64_t)(slot - kept->slots));
}

// Another program may have that slot now.
static kept_program_t *find_kept(kept_t *kept, const keel_digest_t *digest) {
    const uint64_t *at = keel_map_find(&kept->slot_of, keel_bytes(digest, sizeof *digest));
    kept_program_t *slot = at ? &kept->slots[*at] : NULL;
    return slot && slot->bytes && keel_digest_equal(&slot->digest, digest) ? slot : NULL;
}

static keel_status_t read_new(kept_t *kept, const keel_digest_t *digest, kept_program_t **out) {
    uint8_t *bytes;
    size_t size;
    KEEL_TRY(read_bytes(kept->run_dir, digest, &bytes, &size));
    kept_program_t *slot = make_room_for_program(kept, size);
    *slot = (kept_program_t){.digest = *digest, .bytes = bytes, .size = size};
    keel_program_initialize(&slot->program);
    keel_status_t status = keel_read(keel_bytes(bytes, size), &slot->program);
    if (!status) status = note_slot(kept, slot);
    if (status)
        clear(slot);
    else
        *out = slot;
    return status;
}

keel_status_t kept_read(kept_t *kept, const keel_digest_t *digest, const keel_program_t **out) {
    kept_program_t *found = find_kept(kept, digest);
    if (!found) KEEL_TRY(read_new(kept, digest, &found));
    found->used = ++kept->clock;
    *out = &found->program;
    return NULL;
}
