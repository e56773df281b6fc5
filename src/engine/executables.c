#include "engine/internal.h"

static const uintptr_t EMPTIED = 1;

static size_t place(const void *pointer) {
    uint64_t bits = (uint64_t)(uintptr_t)pointer * 0x9E3779B97F4A7C15ull;
    return (size_t)(bits >> 40) & (EXECUTABLE_SLOTS - 1);
}

keel_status_t executables_initialize(executables_t *table) {
    pthread_mutex_init(&table->lock, NULL);
    keel_map_initialize(&table->counter_of);
    void *slots;
    KEEL_TRY(keel_calloc(EXECUTABLE_SLOTS, sizeof(executable_slot_t), &slots));
    table->slots = slots;
    return NULL;
}

void executables_deinitialize(executables_t *table) {
    keel_free(table->slots);
    keel_map_deinitialize(&table->counter_of);
    pthread_mutex_destroy(&table->lock);
}

static executable_slot_t *find(executables_t *table, const PJRT_LoadedExecutable *loaded) {
    size_t at = place(loaded);
    for (int probe = 0; probe < EXECUTABLE_PROBES; ++probe) {
        executable_slot_t *slot = &table->slots[(at + (size_t)probe) & (EXECUTABLE_SLOTS - 1)];
        uintptr_t held = atomic_load_explicit(&slot->loaded, memory_order_acquire);
        if (held == (uintptr_t)loaded) return slot;
        if (!held) return NULL;
    }
    return NULL;
}

keel_gang_t *keel_engine_executed(keel_engine_t *engine,
                                  const PJRT_LoadedExecutable_Execute_Args *args) {
    executable_slot_t *slot = find(&engine->executables, args->executable);
    counter_t *counter = slot ? atomic_load_explicit(&slot->counter, memory_order_relaxed) : NULL;
    flow_t *flow = &engine->flow;
    _Atomic uint64_t *count = counter ? &counter->count : &engine->executables.others;
    uint64_t before = atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    uint64_t executions = atomic_load_explicit(&flow->executions, memory_order_relaxed);
    atomic_store_explicit(&flow->executions, executions + 1, memory_order_relaxed);
    atomic_store_explicit(&flow->last, counter, memory_order_relaxed);
    uint64_t begun = atomic_load_explicit(&flow->made_last, memory_order_relaxed);
    atomic_store_explicit(&flow->made_begun, begun, memory_order_relaxed);
    atomic_store_explicit(&flow->made_last,
                          atomic_load_explicit(&flow->made_count, memory_order_relaxed),
                          memory_order_relaxed);
    bool follows = atomic_load_explicit(&flow->follows, memory_order_relaxed);
    if (counter && (follows || before < FLOW_SAMPLES))
        flow_follow(engine, counter, before, begun, args);
    return slot ? atomic_load_explicit(&slot->gang, memory_order_relaxed) : NULL;
}

void keel_stored_release(keel_stored_t *stored) {
    if (!stored || atomic_fetch_sub(&stored->references, 1) != 1) return;
    keel_free(stored->data);
    keel_free(stored);
}

static keel_status_t counter_for(executables_t *table, const keel_digest_t *program,
                                 counter_t **out) {
    keel_bytes_t key = keel_bytes(program->bytes, KEEL_DIGEST_SIZE);
    uint64_t *known = keel_map_find(&table->counter_of, key);
    if (known) {
        *out = (counter_t *)(uintptr_t)*known;
        return NULL;
    }
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(counter_t), &memory));
    counter_t *counter = memory;
    counter->program = *program;
    keel_status_t status = keel_map_put(&table->counter_of, key, (uintptr_t)counter);
    if (status) {
        keel_free(counter);
        return status;
    }
    counter->next = table->counters;
    table->counters = counter;
    *out = counter;
    return NULL;
}

static executable_slot_t *free_slot(executables_t *table, const PJRT_LoadedExecutable *loaded) {
    size_t at = place(loaded);
    for (int probe = 0; probe < EXECUTABLE_PROBES; ++probe) {
        executable_slot_t *slot = &table->slots[(at + (size_t)probe) & (EXECUTABLE_SLOTS - 1)];
        if (atomic_load_explicit(&slot->loaded, memory_order_relaxed) <= EMPTIED) return slot;
    }
    return NULL;
}

static keel_status_t add(executables_t *table, const PJRT_LoadedExecutable *loaded,
                         const keel_digest_t *program, keel_stored_t *stored) {
    counter_t *counter;
    KEEL_TRY(counter_for(table, program, &counter));
    executable_slot_t *slot = free_slot(table, loaded);
    if (!slot)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "more than about %d live executables; further ones are not counted",
                                EXECUTABLE_SLOTS);
    slot->stored = stored;
    slot->joined = NULL;
    atomic_store_explicit(&slot->gang, NULL, memory_order_relaxed);
    atomic_store_explicit(&slot->counter, counter, memory_order_relaxed);
    atomic_store_explicit(&slot->loaded, (uintptr_t)loaded, memory_order_release);
    return NULL;
}

keel_status_t executables_add(executables_t *table, const PJRT_LoadedExecutable *loaded,
                              const keel_digest_t *program, uint8_t *data, size_t size) {
    void *memory = NULL;
    keel_status_t status = data ? keel_alloc(sizeof(keel_stored_t), &memory) : NULL;
    keel_stored_t *stored = memory;
    if (stored) {
        *stored = (keel_stored_t){.data = data, .references = 1};
        status = keel_payload_unpack(keel_bytes(data, size), &stored->payload);
    }
    if (!status) {
        pthread_mutex_lock(&table->lock);
        status = add(table, loaded, program, stored);
        pthread_mutex_unlock(&table->lock);
    }
    if (status) {
        keel_free(data);
        keel_free(stored);
    }
    return status;
}

static keel_gang_t *gang_of(const executable_slot_t *slot) {
    return slot ? atomic_load_explicit(&slot->gang, memory_order_relaxed) : NULL;
}

keel_status_t executables_join(executables_t *table, const request_t *request,
                               const PJRT_LoadedExecutable *loaded) {
    keel_gang_t *gang = NULL;
    keel_status_t status = NULL;
    pthread_mutex_lock(&table->lock);
    executable_slot_t *slot = find(table, loaded);
    if (slot) status = gang_join(table, request, &gang);
    if (gang) slot->joined = gang;
    if (gang) atomic_store_explicit(&slot->gang, gang, memory_order_relaxed);
    pthread_mutex_unlock(&table->lock);
    return status;
}

static void destroy_leader(keel_engine_t *engine, PJRT_LoadedExecutable *leader) {
    if (leader) keel_pjrt_destroy_loaded(engine->api, leader);
}

bool keel_engine_loaded_closing(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded) {
    executables_t *table = &engine->executables;
    PJRT_LoadedExecutable *leader = NULL;
    bool may = true;
    pthread_mutex_lock(&table->lock);
    executable_slot_t *slot = find(table, loaded);
    if (slot) {
        bool active = gang_of(slot) != NULL;
        if (slot->joined) may = gang_leave(table, slot->joined, loaded, active, &leader);
        keel_stored_release(slot->stored);
        slot->stored = NULL;
        atomic_store_explicit(&slot->loaded, EMPTIED, memory_order_release);
    }
    pthread_mutex_unlock(&table->lock);
    destroy_leader(engine, leader);
    return may;
}

bool keel_engine_loaded_deleting(keel_engine_t *engine, PJRT_LoadedExecutable *loaded) {
    executables_t *table = &engine->executables;
    bool may = true;
    pthread_mutex_lock(&table->lock);
    executable_slot_t *slot = find(table, loaded);
    if (gang_of(slot)) {
        may = gang_delete(table, gang_of(slot), loaded);
        if (may) atomic_store_explicit(&slot->gang, NULL, memory_order_relaxed);
    }
    pthread_mutex_unlock(&table->lock);
    return may;
}

bool keel_engine_loaded_is_deleted(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded) {
    keel_gang_t *gang = gang_of(find(&engine->executables, loaded));
    return gang && gang_is_deleted(gang, loaded);
}

static keel_status_t take(executables_t *table, const PJRT_Executable *executable,
                          keel_stored_t *stored) {
    void *memory;
    KEEL_TRY(keel_alloc(sizeof(taken_t), &memory));
    taken_t *taken = memory;
    *taken = (taken_t){.executable = executable, .stored = stored, .next = table->taken};
    atomic_fetch_add(&stored->references, 1);
    table->taken = taken;
    return NULL;
}

keel_status_t keel_engine_executable_taken(keel_engine_t *engine,
                                           const PJRT_LoadedExecutable *loaded,
                                           const PJRT_Executable *executable) {
    executables_t *table = &engine->executables;
    keel_status_t status = NULL;
    pthread_mutex_lock(&table->lock);
    executable_slot_t *slot = find(table, loaded);
    if (slot && slot->stored) status = take(table, executable, slot->stored);
    pthread_mutex_unlock(&table->lock);
    return status;
}

void keel_engine_executable_closing(keel_engine_t *engine, const PJRT_Executable *executable) {
    executables_t *table = &engine->executables;
    pthread_mutex_lock(&table->lock);
    for (taken_t **link = &table->taken; *link; link = &(*link)->next) {
        taken_t *taken = *link;
        if (taken->executable != executable) continue;
        *link = taken->next;
        keel_stored_release(taken->stored);
        keel_free(taken);
        break;
    }
    pthread_mutex_unlock(&table->lock);
}

keel_stored_t *keel_engine_stored(keel_engine_t *engine, const PJRT_Executable *executable,
                                  keel_payload_t *out) {
    executables_t *table = &engine->executables;
    keel_stored_t *stored = NULL;
    pthread_mutex_lock(&table->lock);
    for (taken_t *taken = table->taken; taken && !stored; taken = taken->next) {
        if (taken->executable != executable) continue;
        stored = taken->stored;
        atomic_fetch_add(&stored->references, 1);
        *out = stored->payload;
    }
    pthread_mutex_unlock(&table->lock);
    return stored;
}

counter_t *executables_counter(executables_t *table, const keel_digest_t *program) {
    pthread_mutex_lock(&table->lock);
    const uint64_t *known =
        keel_map_find(&table->counter_of, keel_bytes(program->bytes, KEEL_DIGEST_SIZE));
    counter_t *counter = known ? (counter_t *)(uintptr_t)*known : NULL;
    pthread_mutex_unlock(&table->lock);
    return counter;
}

void executables_lock(executables_t *table) {
    pthread_mutex_lock(&table->lock);
}

void executables_unlock(executables_t *table) {
    pthread_mutex_unlock(&table->lock);
}

static keel_status_t collect(executables_t *table, keel_journal_counts_t *out,
                             uint64_t *out_total) {
    void *memory;
    KEEL_TRY(keel_calloc(table->counter_of.count, sizeof(keel_journal_count_t), &memory));
    keel_journal_count_t *counts = memory;
    uint64_t total = atomic_load(&table->others);
    size_t size = 0;
    for (counter_t *counter = table->counters; counter; counter = counter->next) {
        uint64_t now = atomic_load_explicit(&counter->count, memory_order_relaxed);
        total += now;
        if (now == counter->reported) continue;
        counts[size++] = (keel_journal_count_t){counter->program, now - counter->reported};
        counter->reported = now;
    }
    *out = (keel_journal_counts_t){counts, size};
    *out_total = total;
    return NULL;
}

keel_status_t executables_collect(executables_t *table, keel_journal_counts_t *out,
                                  uint64_t *out_total) {
    pthread_mutex_lock(&table->lock);
    keel_status_t status = collect(table, out, out_total);
    pthread_mutex_unlock(&table->lock);
    return status;
}
