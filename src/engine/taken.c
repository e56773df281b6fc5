#include "engine/taken.h"

enum { FIRST_SIZE = 64 };

static taken_t **chain_of(taken_t **chains, size_t size, const PJRT_Executable *executable) {
    KEEL_ASSERT(size && !(size & (size - 1)));
    uint64_t bits = (uint64_t)(uintptr_t)executable * 0x9E3779B97F4A7C15ull;
    return &chains[(size_t)(bits >> 32) & (size - 1)];
}

// Those with the same pointer keep their order.
static keel_status_t grow(taken_table_t *table) {
    size_t size = table->size ? table->size * 2 : FIRST_SIZE;
    void *memory;
    KEEL_TRY(keel_calloc(size, sizeof(taken_t *), &memory));
    for (size_t i = 0; i < table->size; ++i) {
        for (taken_t *taken = table->chains[i], *next; taken; taken = next) {
            taken_t **link = chain_of(memory, size, taken->executable);
            while (*link)
                link = &(*link)->next;
            next = taken->next;
            taken->next = NULL;
            *link = taken;
        }
    }
    keel_free(table->chains);
    table->chains = memory;
    table->size = size;
    return NULL;
}

keel_status_t taken_add(taken_table_t *table, taken_t *taken) {
    keel_status_t status = table->count >= table->size ? grow(table) : NULL;
    if (status) {
        taken_free(taken);
        return status;
    }
    taken_t **chain = chain_of(table->chains, table->size, taken->executable);
    taken->next = *chain;
    *chain = taken;
    ++table->count;
    return NULL;
}

static taken_t **find_link(const taken_table_t *table, const PJRT_Executable *executable) {
    if (!table->count) return NULL;
    taken_t **link = chain_of(table->chains, table->size, executable);
    while (*link && (*link)->executable != executable)
        link = &(*link)->next;
    return *link ? link : NULL;
}

taken_t *taken_find(const taken_table_t *table, const PJRT_Executable *executable) {
    taken_t **link = find_link(table, executable);
    return link ? *link : NULL;
}

taken_t *taken_remove(taken_table_t *table, const PJRT_Executable *executable) {
    taken_t **link = find_link(table, executable);
    if (!link) return NULL;
    taken_t *taken = *link;
    *link = taken->next;
    --table->count;
    return taken;
}

void taken_free(taken_t *taken) {
    if (!taken) return;
    keel_stored_release(taken->stored);
    keel_free(taken->outline);
    keel_free(taken);
}

void taken_clear(taken_table_t *table) {
    for (size_t i = 0; i < table->size; ++i) {
        for (taken_t *taken = table->chains[i], *next; taken; taken = next) {
            next = taken->next;
            taken_free(taken);
        }
    }
    keel_free(table->chains);
    *table = (taken_table_t){0};
}
