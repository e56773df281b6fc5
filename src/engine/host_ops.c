// What PyTorch/XLA computed on the host. Its counters are read on the client's own thread, which
// may have the interpreter's lock, and for the last time when the interpreter ends.
#include <unistd.h>

#include "engine/host_ops.h"
#include "host/host_ops.h"

struct host_ops_t {
    pthread_mutex_t lock; // for `told`; never held while waiting for the interpreter's lock
    keel_map_t told;      // name -> times already in the journal
    _Atomic uint64_t looked;
    atomic_bool waits_for_end;
};

keel_status_t host_ops_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(host_ops_t), &memory));
    engine->host_ops = memory;
    pthread_mutex_init(&engine->host_ops->lock, NULL);
    keel_map_initialize(&engine->host_ops->told);
    return NULL;
}

void host_ops_destroy(host_ops_t *host_ops) {
    if (!host_ops) return;
    keel_map_deinitialize(&host_ops->told);
    pthread_mutex_destroy(&host_ops->lock);
    keel_free(host_ops);
}

// The growth since the last time. The client may have reset its counters to 0.
static uint64_t take_new(host_ops_t *host_ops, const keel_host_op_t *op) {
    keel_bytes_t key = keel_str_bytes(keel_str(op->name));
    const uint64_t *found = keel_map_find(&host_ops->told, key);
    uint64_t told = found ? *found : 0;
    keel_status_t status = keel_map_put(&host_ops->told, key, op->times);
    keel_status_ignore(status);
    if (status) return 0;
    return op->times >= told ? op->times - told : op->times;
}

static void write_new(keel_engine_t *engine, const keel_host_ops_t *ops) {
    keel_journal_host_op_t fresh[KEEL_HOST_OPS];
    host_ops_t *host_ops = engine->host_ops;
    size_t count = 0;
    pthread_mutex_lock(&host_ops->lock);
    for (size_t i = 0; i < ops->count; ++i) {
        uint64_t times = take_new(host_ops, &ops->list[i]);
        if (times)
            fresh[count++] = (keel_journal_host_op_t){.name = ops->list[i].name, .times = times};
    }
    pthread_mutex_unlock(&host_ops->lock);
    if (count) keel_journal_host_ops(engine->journal, fresh, count);
}

static void read_now(keel_engine_t *engine, keel_host_ops_t *ops) {
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    keel_host_ops_read(&arena, ops);
    write_new(engine, ops);
    keel_arena_deinitialize(&arena);
}

static void interpreter_ends(void) {
    for (keel_engine_t *engine = engine_newest(); engine; engine = engine->next) {
        keel_host_ops_t ops;
        bool waits = atomic_load(&engine->host_ops->waits_for_end);
        if (waits && getpid() == engine->pid && !atomic_load(&engine->ended))
            read_now(engine, &ops);
    }
}

void host_ops_look(keel_engine_t *engine) {
    host_ops_t *host_ops = engine->host_ops;
    uint64_t now = keel_clock_monotonic(), looked = atomic_load(&host_ops->looked);
    if (!engine->journal || !engine->settings.stack) return;
    if (looked && now - looked < 1000000000u) return;
    if (!atomic_compare_exchange_strong(&host_ops->looked, &looked, now)) return;
    keel_host_ops_t ops;
    read_now(engine, &ops);
    if (!ops.has_torch_xla || atomic_exchange(&host_ops->waits_for_end, true)) return;
    keel_host_ops_at_exit(interpreter_ends);
}
