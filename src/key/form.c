#include "key/form.h"

void keel_canon_fail(keel_canon_t *canon, keel_status_t status) {
    if (canon->status)
        keel_status_ignore(status);
    else
        canon->status = status;
}

// ---- writing -----------------------------------------------------------------------------------

uint8_t *keel_form_grow(keel_canon_t *canon, size_t size) {
    if (canon->status) return NULL;
    size_t capacity = canon->form_capacity ? canon->form_capacity : 4096;
    while (capacity - canon->form_size < size && capacity < KEEL_CANON_FORM_LIMIT)
        capacity *= 2;
    if (capacity - canon->form_size < size) {
        keel_canon_fail(canon, keel_status_make(KEEL_UNSUPPORTED,
                                                "an attribute of more than %zu bytes in its "
                                                "canonical form",
                                                KEEL_CANON_FORM_LIMIT));
        return NULL;
    }
    keel_status_t status = keel_realloc_array(capacity, 1, (void **)&canon->form);
    if (status) {
        keel_canon_fail(canon, status);
        return NULL;
    }
    canon->form_capacity = capacity;
    return canon->form + canon->form_size;
}

void keel_form_digest(keel_canon_t *canon, const keel_digest_t *digest) {
    keel_form_byte(canon, 1);
    keel_form_bytes(canon, digest->bytes, KEEL_DIGEST_SIZE);
}

// Constants beside the program were hashed already.
static keel_digest_t bulk_digest(const keel_program_t *program, keel_bytes_t bytes) {
    for (size_t i = 0; i < program->beside_count; ++i) {
        const keel_beside_t *beside = &program->beside[i];
        if (beside->bytes.data == bytes.data && beside->bytes.size == bytes.size)
            return beside->digest;
    }
    return keel_bulk_digest(bytes);
}

void keel_form_content(keel_canon_t *canon, keel_bytes_t bytes) {
    if (bytes.size > KEEL_CANON_INLINE) {
        keel_digest_t digest =
            bytes.size < KEEL_CANON_BULK ? keel_digest(bytes) : bulk_digest(canon->program, bytes);
        keel_form_digest(canon, &digest);
        return;
    }
    keel_form_number(canon, bytes.size << 1);
    keel_form_bytes(canon, bytes.data, bytes.size);
}

// ---- nodes -------------------------------------------------------------------------------------

static keel_status_t add_node(keel_canon_t *canon, uint32_t hash, const uint8_t *bytes,
                              uint32_t size) {
    if (canon->node_count == canon->node_capacity) {
        uint32_t capacity = canon->node_capacity ? canon->node_capacity * 2 : 256;
        KEEL_TRY(keel_realloc_array(capacity, sizeof *canon->nodes, (void **)&canon->nodes));
        canon->node_capacity = capacity;
    }
    void *copy;
    KEEL_TRY(keel_arena_alloc(&canon->arena, size, &copy));
    memcpy(copy, bytes, size);
    canon->nodes[canon->node_count++] = (keel_node_t){.bytes = copy, .size = size, .hash = hash};
    return NULL;
}

keel_status_t keel_form_initialize(keel_canon_t *canon) {
    canon->slot_count = 512;
    KEEL_TRY(
        keel_calloc((size_t)canon->slot_count + 1, sizeof *canon->slots, (void **)&canon->slots));
    const uint8_t absent[] = {0};
    return add_node(canon, 0, absent, sizeof absent);
}

static keel_status_t grow_slots(keel_canon_t *canon) {
    uint32_t count = canon->slot_count * 2;
    uint32_t *slots;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof *slots, (void **)&slots));
    for (uint32_t i = 1; i < canon->node_count; ++i) {
        uint32_t at = canon->nodes[i].hash & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = i;
    }
    keel_free(canon->slots);
    canon->slots = slots;
    canon->slot_count = count;
    return NULL;
}

static keel_status_t intern(keel_canon_t *canon, const uint8_t *bytes, uint32_t size,
                            keel_node_id_t *out) {
    uint32_t hash = (uint32_t)keel_quick_hash(keel_bytes(bytes, size));
    uint32_t at = hash & (canon->slot_count - 1);
    for (; canon->slots[at]; at = (at + 1) & (canon->slot_count - 1)) {
        const keel_node_t *node = &canon->nodes[canon->slots[at]];
        if (node->hash == hash && node->size == size && memcmp(node->bytes, bytes, size) == 0) {
            *out = canon->slots[at];
            return NULL;
        }
    }
    KEEL_TRY(add_node(canon, hash, bytes, size));
    canon->slots[at] = *out = canon->node_count - 1;
    return canon->node_count * 2 > canon->slot_count ? grow_slots(canon) : NULL;
}

keel_node_id_t keel_form_end(keel_canon_t *canon, size_t begin) {
    if (canon->status) return 0;
    // Writes the framed bytes after the content, then moves them into its place.
    size_t end = canon->form_size;
    if (!keel_form_room(canon, end - begin + 10)) return 0;
    keel_form_content(canon, keel_bytes(canon->form + begin, end - begin));
    keel_node_id_t node = 0;
    keel_status_t status =
        intern(canon, canon->form + end, (uint32_t)(canon->form_size - end), &node);
    canon->form_size = begin;
    if (status) keel_canon_fail(canon, status);
    return status ? 0 : node;
}
