#include "engine/order.h"

// A window begins only when the one before it is full.
enum {
    WINDOWS = 2 + (ORDER_MANY - ORDER_FIRST) / ORDER_AFTER + (ORDER_MOST - ORDER_MANY) / ORDER_LATER
};

// Executions that follow each other.
typedef struct window_t {
    uint32_t begin; // in the list
    uint64_t from;  // executions of the process before
} window_t;

struct order_t {
    // Room is taken while `taken` is below `limit`, and filled afterwards.
    _Atomic uint32_t taken, limit;
    pthread_mutex_t lock; // for the windows, and for all changes of `limit`
    window_t windows[WINDOWS];
    size_t window_count;
    uint32_t written; // only for whoever writes; under the lock
    keel_digest_t unknown;
    _Atomic(const keel_digest_t *) list[ORDER_MOST]; // NULL: not filled yet
};

keel_status_t order_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(order_t), &memory));
    engine->order = memory;
    pthread_mutex_init(&engine->order->lock, NULL);
    engine->order->window_count = 1; // of the first executions
    atomic_store(&engine->order->limit, ORDER_FIRST);
    return NULL;
}

void order_destroy(order_t *order) {
    if (!order) return;
    pthread_mutex_destroy(&order->lock);
    keel_free(order);
}

void order_executed(keel_engine_t *engine, const counter_t *counter) {
    order_t *order = engine->order;
    uint32_t at = atomic_load_explicit(&order->taken, memory_order_relaxed);
    while (at < atomic_load_explicit(&order->limit, memory_order_relaxed)) {
        if (!atomic_compare_exchange_weak_explicit(&order->taken, &at, at + 1, memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        atomic_store_explicit(&order->list[at],
                              counter ? counter_program(counter) : &order->unknown,
                              memory_order_release);
        return;
    }
}

void order_new_program(keel_engine_t *engine, uint64_t executions) {
    order_t *order = engine->order;
    pthread_mutex_lock(&order->lock);
    uint32_t taken = atomic_load(&order->taken), limit = atomic_load(&order->limit);
    uint32_t wanted = taken + (taken < ORDER_MANY ? ORDER_AFTER : ORDER_LATER);
    if (wanted > ORDER_MOST) wanted = ORDER_MOST;
    bool has_room = order->window_count < WINDOWS && wanted > limit;
    // While `taken` is at the limit it stays there.
    if (has_room && taken == limit)
        order->windows[order->window_count++] = (window_t){taken, executions};
    if (has_room) atomic_store(&order->limit, wanted);
    pthread_mutex_unlock(&order->lock);
}

// ---- the journal -------------------------------------------------------------------------------

// Those from `begin` up to `end` that are filled.
static uint32_t gather(const order_t *order, uint32_t begin, uint32_t end,
                       const keel_digest_t **out) {
    uint32_t count = 0;
    for (uint32_t at = begin; at < end; ++at) {
        const keel_digest_t *program = atomic_load_explicit(&order->list[at], memory_order_acquire);
        if (!program) break;
        out[count++] = program == &order->unknown ? NULL : program;
    }
    return count;
}

// What is left of a window. False if there is nothing yet.
static bool write_next(keel_engine_t *engine, const keel_digest_t **room) {
    order_t *order = engine->order;
    size_t at = order->window_count;
    while (order->windows[at - 1].begin > order->written)
        --at;
    const window_t *window = &order->windows[at - 1];
    uint32_t end = atomic_load_explicit(&order->taken, memory_order_relaxed);
    if (at < order->window_count) end = order->windows[at].begin;
    uint32_t count = gather(order, order->written, end, room);
    keel_journal_order(engine->journal, window->from + (order->written - window->begin), room,
                       count);
    order->written += count;
    return count != 0;
}

void order_journal(keel_engine_t *engine) {
    order_t *order = engine->order;
    void *room;
    if (!engine->journal) return;
    pthread_mutex_lock(&order->lock);
    uint32_t fresh = atomic_load(&order->taken) - order->written;
    keel_status_t status =
        fresh ? keel_alloc((size_t)ORDER_MOST * sizeof(keel_digest_t *), &room) : NULL;
    if (fresh && !status) {
        while (write_next(engine, room))
            ;
        keel_free(room);
    }
    pthread_mutex_unlock(&order->lock);
    keel_status_ignore(status); // later, then
}
