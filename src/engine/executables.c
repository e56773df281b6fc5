// An execution finds its executable in open-addressed tables of pointers. Slots are filled and
// emptied under the lock; lookups take no lock, so no slot ever moves: once half of a table is in
// use, another of twice its size follows.
#include "engine/executables.h"
#include "engine/counters.h"
#include "engine/flow.h"
#include "engine/makers.h"
#include "engine/once.h"
#include "engine/order.h"
#include "engine/pieces.h"
#include "engine/rehearsal.h"
#include "engine/taken.h"

enum { FIRST_SLOTS = 1 << 14, EXECUTABLE_PROBES = 64 };

// Every execution looks it up without a lock; changes need one.
typedef struct executable_slot_t {
    _Atomic uintptr_t loaded;
    _Atomic(counter_t *) counter;
    _Atomic size_t results;      // how many it has; SIZE_MAX: unknown yet
    _Atomic(keel_gang_t *) gang; // the gang that executes it; mostly NULL
    keel_gang_t *joined;         // its gang until it is destroyed; under the lock
    keel_stored_t *stored;       // under the lock; NULL if Keel does not have its bytes
    made_of_t *made_of;          // under the lock
} executable_slot_t;

// The bytes that an executable was loaded from, shared by the loaded executable, the executables
// that the client took from it, and their serialized forms.
struct keel_stored_t {
    keel_shared_t *shared;
    keel_payload_t payload; // within what is shared
    atomic_uint references;
};

typedef struct slots_t {
    _Atomic(struct slots_t *) next; // NULL: none
    size_t size;                    // a power of two
    size_t used;                    // under the lock
    executable_slot_t slots[];
} slots_t;

struct executables_t {
    pthread_mutex_t lock;
    slots_t *first;
    taken_table_t taken;
    gangs_t gangs; // under the lock
};

// The pointer in a slot that was emptied, so that a search continues past it.
static const uintptr_t EMPTIED = 1;

static size_t place(const PJRT_LoadedExecutable *pointer) {
    uint64_t bits = (uint64_t)(uintptr_t)pointer * 0x9E3779B97F4A7C15ull;
    return (size_t)(bits >> 40);
}

static keel_status_t make_slots(size_t size, slots_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(slots_t) + size * sizeof(executable_slot_t), &memory));
    *out = memory;
    (*out)->size = size;
    return NULL;
}

keel_status_t executables_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(executables_t), &memory));
    executables_t *table = memory;
    engine->executables = table;
    pthread_mutex_init(&table->lock, NULL);
    return make_slots(FIRST_SLOTS, &table->first);
}

static void destroy_slots(slots_t *slots) {
    for (size_t i = 0; i < slots->size; ++i) {
        keel_stored_release(slots->slots[i].stored);
        keel_free(slots->slots[i].made_of);
    }
    keel_free(slots);
}

void executables_destroy(executables_t *table) {
    if (!table) return;
    for (slots_t *slots = table->first, *next; slots; slots = next) {
        next = atomic_load(&slots->next);
        destroy_slots(slots);
    }
    taken_clear(&table->taken);
    pthread_mutex_destroy(&table->lock);
    keel_free(table);
}

void executables_before_fork(keel_engine_t *engine) {
    pthread_mutex_lock(&engine->executables->lock);
}

void executables_after_fork(keel_engine_t *engine) {
    pthread_mutex_unlock(&engine->executables->lock);
}

static executable_slot_t *search(executables_t *table, const PJRT_LoadedExecutable *loaded) {
    size_t at = place(loaded);
    for (slots_t *slots = table->first; slots;
         slots = atomic_load_explicit(&slots->next, memory_order_acquire)) {
        for (size_t probe = 0; probe < EXECUTABLE_PROBES; ++probe) {
            executable_slot_t *slot = &slots->slots[(at + probe) & (slots->size - 1)];
            uintptr_t held = atomic_load_explicit(&slot->loaded, memory_order_acquire);
            if (held == (uintptr_t)loaded) return slot;
            if (!held) break;
        }
    }
    return NULL;
}

// Mostly it stands in its own place, in the first table.
static executable_slot_t *find_slot(executables_t *table, const PJRT_LoadedExecutable *loaded) {
    executable_slot_t *slot = &table->first->slots[place(loaded) & (FIRST_SLOTS - 1)];
    uintptr_t held = atomic_load_explicit(&slot->loaded, memory_order_acquire);
    return held == (uintptr_t)loaded ? slot : search(table, loaded);
}

static slots_t *table_of(executables_t *table, const executable_slot_t *slot) {
    slots_t *slots = table->first;
    while (slot < slots->slots || slot >= slots->slots + slots->size)
        slots = atomic_load_explicit(&slots->next, memory_order_relaxed);
    return slots;
}

keel_gang_t *keel_engine_executed(keel_engine_t *engine,
                                  const PJRT_LoadedExecutable_Execute_Args *args) {
    executable_slot_t *slot = find_slot(engine->executables, args->executable);
    counter_t *counter = slot ? atomic_load_explicit(&slot->counter, memory_order_relaxed) : NULL;
    uint64_t before = counters_executed(engine->counters, counter);
    order_executed(engine, counter);
    flow_executed(engine, counter, before, args);
    if (engine->rehearsal) rehearsal_executed(engine, counter, args->executable);
    return slot ? atomic_load_explicit(&slot->gang, memory_order_relaxed) : NULL;
}

static size_t results_of(const keel_engine_t *engine, executable_slot_t *slot,
                         PJRT_LoadedExecutable *loaded) {
    size_t count = atomic_load_explicit(&slot->results, memory_order_relaxed);
    if (count != SIZE_MAX) return count;
    PJRT_Executable_NumOutputs_Args args = {KEEL_PJRT_SIZE(PJRT_Executable_NumOutputs)};
    if (!keel_pjrt_has(engine->api, PJRT_Executable_NumOutputs)) return 0;
    keel_status_t status = keel_pjrt_executable(engine->api, loaded, &args.executable);
    if (!status) {
        status = KEEL_PJRT_CALL(engine->api, PJRT_Executable_NumOutputs, args);
        keel_pjrt_destroy_executable(engine->api, args.executable);
    }
    count = status ? 0 : args.num_outputs;
    keel_status_ignore(status);
    atomic_store_explicit(&slot->results, count, memory_order_relaxed);
    return count;
}

void keel_engine_gave(keel_engine_t *engine, const PJRT_LoadedExecutable_Execute_Args *args) {
    if (!engine->journal || !engine->settings.stack) return;
    executable_slot_t *slot = find_slot(engine->executables, args->executable);
    counter_t *counter = slot ? atomic_load_explicit(&slot->counter, memory_order_relaxed) : NULL;
    if (counter && counter_is_followed(counter))
        makers_executed(engine, counter, results_of(engine, slot, args->executable), args);
}

void keel_engine_destroying(keel_engine_t *engine, const PJRT_Buffer *buffer) {
    makers_destroyed(engine, buffer);
}

void keel_stored_release(keel_stored_t *stored) {
    KEEL_ASSERT(!stored || atomic_load(&stored->references));
    if (!stored || atomic_fetch_sub(&stored->references, 1) != 1) return;
    keel_shared_release(stored->shared);
    keel_free(stored);
}

static executable_slot_t *free_slot(slots_t *slots, const PJRT_LoadedExecutable *loaded) {
    size_t at = place(loaded);
    if (slots->used >= slots->size / 2) return NULL;
    for (size_t probe = 0; probe < EXECUTABLE_PROBES; ++probe) {
        executable_slot_t *slot = &slots->slots[(at + probe) & (slots->size - 1)];
        if (atomic_load_explicit(&slot->loaded, memory_order_relaxed) <= EMPTIED) return slot;
    }
    return NULL;
}

static keel_status_t make_room(executables_t *table, const PJRT_LoadedExecutable *loaded,
                               executable_slot_t **out) {
    for (slots_t *slots = table->first, *next;; slots = next) {
        *out = free_slot(slots, loaded);
        if (*out) {
            ++slots->used;
            return NULL;
        }
        next = atomic_load_explicit(&slots->next, memory_order_relaxed);
        if (next) continue;
        KEEL_TRY(make_slots(slots->size * 2, &next));
        atomic_store_explicit(&slots->next, next, memory_order_release);
    }
}

static keel_status_t add_executable(executables_t *table, const PJRT_LoadedExecutable *loaded,
                                    counter_t *counter, keel_stored_t *stored, made_of_t *made_of) {
    KEEL_ASSERT((uintptr_t)loaded > EMPTIED);
    executable_slot_t *slot;
    KEEL_TRY(make_room(table, loaded, &slot));
    slot->stored = stored;
    slot->made_of = made_of;
    slot->joined = NULL;
    atomic_store_explicit(&slot->results, SIZE_MAX, memory_order_relaxed);
    atomic_store_explicit(&slot->gang, NULL, memory_order_relaxed);
    atomic_store_explicit(&slot->counter, counter, memory_order_relaxed);
    atomic_store_explicit(&slot->loaded, (uintptr_t)loaded, memory_order_release);
    return NULL;
}

keel_status_t executables_add(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded,
                              const made_of_t *made_of, keel_shared_t *shared,
                              keel_bytes_t payload) {
    executables_t *table = engine->executables;
    counter_t *counter = NULL;
    void *memory = NULL, *own = NULL;
    keel_status_t status = shared ? keel_alloc(sizeof(keel_stored_t), &memory) : NULL;
    keel_stored_t *stored = memory;
    if (stored) {
        *stored = (keel_stored_t){.shared = shared, .references = 1};
        status = keel_payload_unpack(payload, &stored->payload);
    }
    if (!status) status = keel_alloc(sizeof *made_of, &own);
    if (!status) memcpy(own, made_of, sizeof *made_of);
    if (!status) status = counters_of(engine->counters, &made_of->program, &counter);
    if (!status) {
        pthread_mutex_lock(&table->lock);
        status = add_executable(table, loaded, counter, stored, own);
        pthread_mutex_unlock(&table->lock);
    }
    if (status) {
        keel_shared_release(shared);
        keel_free(stored);
        keel_free(own);
    }
    return status;
}

static keel_gang_t *gang_of(const executable_slot_t *slot) {
    return slot ? atomic_load_explicit(&slot->gang, memory_order_relaxed) : NULL;
}

keel_status_t executables_join(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded,
                               const gang_program_t *program) {
    executables_t *table = engine->executables;
    keel_gang_t *gang = NULL;
    keel_status_t status = NULL;
    pthread_mutex_lock(&table->lock);
    executable_slot_t *slot = find_slot(table, loaded);
    if (slot) status = gang_join(&table->gangs, program, &gang);
    if (gang) slot->joined = gang;
    if (gang) atomic_store_explicit(&slot->gang, gang, memory_order_relaxed);
    pthread_mutex_unlock(&table->lock);
    return status;
}

void executables_watch_gangs(keel_engine_t *engine) {
    executables_t *table = engine->executables;
    char text[640];
    pthread_mutex_lock(&table->lock);
    bool stuck = gangs_find_stuck(&table->gangs, text, sizeof text);
    pthread_mutex_unlock(&table->lock);
    if (!stuck || !once_first(engine->once, ONCE_STUCK, keel_bytes("", 0))) return;
    keel_log_once("replicas", "%s", text);
    keel_journal_fallback(engine->journal, "replicas", NULL, text);
}

static void destroy_leader(keel_engine_t *engine, PJRT_LoadedExecutable *leader) {
    if (leader) keel_pjrt_destroy_loaded(engine->api, leader);
}

bool keel_engine_loaded_closing(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded) {
    executables_t *table = engine->executables;
    PJRT_LoadedExecutable *leader = NULL;
    bool may = true;
    pthread_mutex_lock(&table->lock);
    executable_slot_t *slot = find_slot(table, loaded);
    if (slot) {
        bool active = gang_of(slot) != NULL;
        if (slot->joined) may = gang_leave(&table->gangs, slot->joined, loaded, active, &leader);
        keel_stored_release(slot->stored);
        keel_free(slot->made_of);
        slot->stored = NULL;
        slot->made_of = NULL;
        --table_of(table, slot)->used;
        atomic_store_explicit(&slot->loaded, EMPTIED, memory_order_release);
    }
    pthread_mutex_unlock(&table->lock);
    destroy_leader(engine, leader);
    return may;
}

bool keel_engine_loaded_deleting(keel_engine_t *engine, PJRT_LoadedExecutable *loaded) {
    executables_t *table = engine->executables;
    bool may = true;
    pthread_mutex_lock(&table->lock);
    executable_slot_t *slot = find_slot(table, loaded);
    if (gang_of(slot)) {
        may = gang_delete(&table->gangs, gang_of(slot), loaded);
        if (may) atomic_store_explicit(&slot->gang, NULL, memory_order_relaxed);
    }
    pthread_mutex_unlock(&table->lock);
    return may;
}

bool keel_engine_loaded_is_deleted(keel_engine_t *engine, const PJRT_LoadedExecutable *loaded) {
    keel_gang_t *gang = gang_of(find_slot(engine->executables, loaded));
    return gang && gang_is_deleted(gang, loaded);
}

static keel_status_t take_executable(executables_t *table, const PJRT_Executable *executable,
                                     keel_stored_t *stored, const made_of_t *made_of) {
    void *memory;
    KEEL_TRY(keel_alloc(sizeof(taken_t), &memory));
    taken_t *taken = memory;
    *taken = (taken_t){.executable = executable, .stored = stored, .made_of = *made_of};
    if (stored) atomic_fetch_add(&stored->references, 1);
    return taken_add(&table->taken, taken);
}

keel_status_t keel_engine_executable_taken(keel_engine_t *engine,
                                           const PJRT_LoadedExecutable *loaded,
                                           const PJRT_Executable *executable) {
    executables_t *table = engine->executables;
    keel_status_t status = NULL;
    pthread_mutex_lock(&table->lock);
    executable_slot_t *slot = find_slot(table, loaded);
    if (slot) status = take_executable(table, executable, slot->stored, slot->made_of);
    bool is_needed = slot && slot->stored;
    pthread_mutex_unlock(&table->lock);
    if (is_needed) return status;
    keel_status_ignore(status); // nobody knows what its serialized form is of
    return NULL;
}

keel_status_t executables_add_unloaded(keel_engine_t *engine, const PJRT_Executable *executable,
                                       const made_of_t *made_of) {
    executables_t *table = engine->executables;
    pthread_mutex_lock(&table->lock);
    keel_status_t status = take_executable(table, executable, NULL, made_of);
    pthread_mutex_unlock(&table->lock);
    return status;
}

bool executables_made_of(keel_engine_t *engine, const PJRT_Executable *executable, made_of_t *out) {
    executables_t *table = engine->executables;
    pthread_mutex_lock(&table->lock);
    const taken_t *taken = taken_find(&table->taken, executable);
    if (taken) *out = taken->made_of;
    pthread_mutex_unlock(&table->lock);
    return taken;
}

keel_code_t executables_outline(keel_engine_t *engine, const PJRT_Executable *executable,
                                PJRT_Program *program) {
    executables_t *table = engine->executables;
    keel_code_t code = KEEL_UNSUPPORTED;
    pthread_mutex_lock(&table->lock);
    const taken_t *taken = taken_find(&table->taken, executable);
    if (taken && !taken->is_outlined) code = KEEL_NOT_FOUND;
    if (taken && taken->outline && (!program->code || program->code_size >= taken->outline_size)) {
        if (program->code) memcpy(program->code, taken->outline, taken->outline_size);
        program->code_size = taken->outline_size;
        code = KEEL_OK;
    }
    pthread_mutex_unlock(&table->lock);
    return code;
}

void executables_keep_outline(keel_engine_t *engine, const PJRT_Executable *executable,
                              uint8_t *outline, size_t size) {
    executables_t *table = engine->executables;
    pthread_mutex_lock(&table->lock);
    taken_t *taken = taken_find(&table->taken, executable);
    if (taken && !taken->is_outlined) {
        taken->outline = outline;
        taken->outline_size = size;
        taken->is_outlined = true;
        outline = NULL;
    }
    pthread_mutex_unlock(&table->lock);
    keel_free(outline);
}

void keel_engine_executable_closing(keel_engine_t *engine, const PJRT_Executable *executable) {
    executables_t *table = engine->executables;
    pthread_mutex_lock(&table->lock);
    taken_free(taken_remove(&table->taken, executable));
    pthread_mutex_unlock(&table->lock);
}

keel_stored_t *keel_engine_stored(keel_engine_t *engine, const PJRT_Executable *executable,
                                  keel_payload_t *out) {
    executables_t *table = engine->executables;
    keel_stored_t *stored = NULL;
    pthread_mutex_lock(&table->lock);
    const taken_t *taken = taken_find(&table->taken, executable);
    if (taken && taken->stored) {
        stored = taken->stored;
        atomic_fetch_add(&stored->references, 1);
        *out = stored->payload;
    }
    pthread_mutex_unlock(&table->lock);
    return stored;
}
