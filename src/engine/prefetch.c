// Loads what the script asked for last time while it still traces.
//
// When a process makes its first client, a thread loads the entries of the script's plan
// (store/plan.h), in order. A Compile that finds its key loaded takes the executable; one that
// finds it being loaded waits for it; one that comes earlier loads it itself, in parallel with the
// thread. Each executable is handed out once. Those that nobody asks for are destroyed: after a
// while, before the client is, or once the run turns out to differ from the last.
//
// The client has not asked for these programs yet, so it must not notice anything: no prefetch if
// processes compile together, since the others might have to take part; and at most memory_limit
// bytes (and one entry) wait for the client at a time.
#include "engine/prefetch.h"

#include <stdio.h>
#include <string.h>

#include "engine/dumps.h"
#include "remote/remote.h"
#include "store/travel.h"

typedef enum item_state {
    ITEM_QUEUED,
    ITEM_LOADING,
    ITEM_LOADED,
    ITEM_FAILED, // the store has set its entry aside
    ITEM_GONE,   // taken by the client, or did not load
} item_state_t;

typedef struct planned_item_t {
    keel_digest_t key;
    item_state_t state;
    unsigned awaited; // threads of the client that wait for it
    bool late;        // one waited in vain
    keel_miss_t miss;
    loaded_entry_t loaded;
} planned_item_t;

struct prefetch_t {
    pthread_mutex_t lock; // for the fields below
    pthread_cond_t changed;
    keel_plan_t asked;   // by this process, so far
    keel_plan_t last;    // in the script's last run
    keel_plan_t written; // the plan in the file
    keel_key_t backend;  // of the client, for plans that travel
    bool has_backend;
    bool unsent;                 // remotes that are written to lack the plan in the file
    uint64_t sent;               // when they got one last, by keel_clock_monotonic; 0: not yet
    const keel_tier_t *followed; // the remote whose plan it is; NULL: this machine's own
    bool begun, running, stopped;
    bool given_up;  // the thread hangs: prefetch_stop gave it up
    bool planned;   // the items are there, or nobody waits for them
    double loading; // what the program took to compile that is being loaded; 0: unknown
    const client_t *client;
    size_t count;
    planned_item_t items[KEEL_PLAN_LIMIT];
    uint64_t held;         // bytes of entries that wait for the client
    unsigned right, wrong; // programs asked for that were planned, and that were not
    keel_journal_prefetch_t told;
};

keel_status_t prefetch_create(keel_engine_t *engine) {
    if (!engine->settings.prefetch) return NULL;
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(prefetch_t), &memory));
    prefetch_t *prefetch = memory;
    keel_key_initialize(&prefetch->backend);
    keel_wait_initialize(&prefetch->changed);
    pthread_mutex_init(&prefetch->lock, NULL);
    engine->prefetch = prefetch;
    return NULL;
}

void prefetch_destroy(prefetch_t *prefetch) {
    if (!prefetch) return;
    keel_key_deinitialize(&prefetch->backend);
    pthread_cond_destroy(&prefetch->changed);
    pthread_mutex_destroy(&prefetch->lock);
    keel_free(prefetch);
}

// ---- the plan ----------------------------------------------------------------------------------

// ---- plans that travel -------------------------------------------------------------------------

static bool has_remotes(const keel_engine_t *engine) {
    size_t count = engine->tiers.count;
    return count && engine->tiers.list[count - 1].fills;
}

static bool is_of_program(int component) {
    return component == KEEL_COMPONENT_PROGRAM || component == KEEL_COMPONENT_OPTIONS ||
           component == KEEL_COMPONENT_DEVICE_ASSIGNMENT || component == KEEL_COMPONENT_KERNELS;
}

static void describe_client(const keel_key_t *key, keel_travel_section_t *section) {
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        if (is_of_program(i) || section->component_count == KEEL_TRAVEL_COMPONENTS) continue;
        keel_travel_component_t *component = &section->components[section->component_count++];
        component->digest = key->components[i];
        snprintf(component->name, sizeof component->name, "%s",
                 keel_component_name((keel_component_t)i));
        snprintf(component->value, sizeof component->value, "%s",
                 key->values[i] ? key->values[i] : "");
    }
}

static keel_status_t fill_section(keel_engine_t *engine, const keel_plan_t *plan, keel_key_t *key,
                                  keel_travel_section_t *section) {
    snprintf(section->script, sizeof section->script, "%s", engine->script);
    section->time = keel_clock_wall();
    section->plan = *plan;
    KEEL_TRY(keel_key_copy(&engine->prefetch->backend, key));
    for (size_t i = 0; i < plan->count; ++i) {
        key->components[KEEL_COMPONENT_PROGRAM] = plan->programs[i].program;
        key->components[KEEL_COMPONENT_OPTIONS] = plan->programs[i].options;
        key->components[KEEL_COMPONENT_DEVICE_ASSIGNMENT] = plan->programs[i].assignment;
        KEEL_TRY(keel_key_finish(key));
        section->keys[i] = key->digest;
    }
    if (!plan->count) KEEL_TRY(keel_key_finish(key));
    describe_client(key, section);
    return keel_travel_keep(engine->cache_dir, section);
}

// What remotes are told of this machine's plan, or, of an empty one, of its client.
static keel_status_t keep_section(keel_engine_t *engine, const keel_plan_t *plan) {
    void *memory;
    keel_key_t key;
    KEEL_TRY(keel_calloc(1, sizeof(keel_travel_section_t), &memory));
    keel_key_initialize(&key);
    keel_status_t status = fill_section(engine, plan, &key, memory);
    keel_key_deinitialize(&key);
    keel_free(memory);
    return status;
}

static void send_plan(keel_engine_t *engine, const keel_plan_t *plan) {
    const keel_remotes_t *remotes = &engine->settings.remotes;
    keel_status_t status = keep_section(engine, plan);
    for (size_t i = 0; i < remotes->count && !status; ++i) {
        keel_buffer_t answer;
        if (!remotes->list[i].writes) continue;
        keel_buffer_initialize(&answer, KEEL_REMOTE_LINE);
        status = keel_remote_plan(&engine->settings, engine->cache_dir, "keep", i, engine->script,
                                  &answer);
        keel_buffer_deinitialize(&answer);
    }
    if (status)
        keel_journal_store_error(engine->journal, "plan", NULL, keel_status_message(status));
    keel_status_ignore(status);
}

// A run that is killed has sent most of its plan; one that finds its programs one by one does not
// send a plan for each.
static bool is_due(prefetch_t *prefetch, bool is_new, bool ended) {
    enum { PAUSE = 10 }; // seconds
    uint64_t now = keel_clock_monotonic();
    pthread_mutex_lock(&prefetch->lock);
    prefetch->unsent |= is_new;
    bool is_late = !prefetch->sent || now - prefetch->sent >= PAUSE * 1000000000ull;
    bool due = prefetch->has_backend && prefetch->unsent && (ended || is_late);
    if (due) prefetch->sent = now;
    if (due) prefetch->unsent = false;
    pthread_mutex_unlock(&prefetch->lock);
    return due;
}

static void journal_answer(keel_engine_t *engine, size_t place, const char *answer,
                           uint64_t start) {
    // Of one that failed, the first get says why.
    static const char *const words[] = {"other", "untrusted", "refused"};
    const char *why = strchr(answer, ' ');
    for (size_t i = 0; why && i < sizeof words / sizeof *words; ++i)
        if (strncmp(answer, words[i], strlen(words[i])) == 0)
            keel_journal_remote(
                engine->journal,
                &(keel_journal_remote_t){.remote = engine->settings.remotes.list[place].url,
                                         .got = words[i],
                                         .why = why + 1,
                                         .seconds = keel_seconds(keel_clock_monotonic() - start)});
}

// Another machine's plan of the script becomes this one's: what it names is on its way then.
static bool follow(keel_engine_t *engine, size_t place) {
    keel_buffer_t answer;
    uint64_t start = keel_clock_monotonic();
    keel_buffer_initialize(&answer, KEEL_REMOTE_LINE);
    keel_status_t status = keel_remote_plan(&engine->settings, engine->cache_dir, "plan", place,
                                            engine->script, &answer);
    const char *text = status ? "" : keel_buffer_cstr(&answer);
    bool is_planned = strncmp(text, "planned ", 8) == 0;
    journal_answer(engine, place, text, start);
    keel_status_ignore(status); // the first get says why
    keel_buffer_deinitialize(&answer);
    return is_planned;
}

// They are the last ones, in their order.
static const keel_tier_t *remote_tier(const keel_engine_t *engine, size_t place) {
    const keel_tiers_t *tiers = &engine->tiers;
    return &tiers->list[tiers->count - engine->settings.remotes.count + place];
}

static keel_status_t fetch_plan(keel_engine_t *engine, keel_plan_t *plan) {
    KEEL_TRY(keep_section(engine, plan));
    for (size_t i = 0; i < engine->settings.remotes.count; ++i)
        if (follow(engine, i)) {
            engine->prefetch->followed = remote_tier(engine, i);
            return keel_plan_read(engine->cache_dir, engine->script, plan);
        }
    return NULL;
}

// ---- the file ----------------------------------------------------------------------------------

static void read_plan(keel_engine_t *engine) {
    prefetch_t *prefetch = engine->prefetch;
    keel_plan_t plan;
    keel_status_t status = keel_plan_read(engine->cache_dir, engine->script, &plan);
    if (!status && !plan.count && engine->looks_up && has_remotes(engine))
        status = fetch_plan(engine, &plan);
    if (status) {
        keel_journal_store_error(engine->journal, "plan", NULL, keel_status_message(status));
        keel_status_ignore(status);
        return;
    }
    pthread_mutex_lock(&prefetch->lock);
    prefetch->last = prefetch->written = plan;
    pthread_mutex_unlock(&prefetch->lock);
}

void prefetch_asked(keel_engine_t *engine, const keel_key_t *key, const keel_cost_t *cost) {
    prefetch_t *prefetch = engine->prefetch;
    if (!prefetch || keel_key_has(key, KEEL_COMPONENT_KERNELS)) return;
    pthread_mutex_lock(&prefetch->lock);
    keel_plan_add(&prefetch->asked,
                  &(keel_planned_t){key->components[KEEL_COMPONENT_PROGRAM],
                                    key->components[KEEL_COMPONENT_OPTIONS],
                                    key->components[KEEL_COMPONENT_DEVICE_ASSIGNMENT], *cost});
    pthread_mutex_unlock(&prefetch->lock);
}

double prefetch_last_seconds(keel_engine_t *engine, const char *name, uint64_t operations) {
    prefetch_t *prefetch = engine->prefetch;
    if (!prefetch) return 0;
    pthread_mutex_lock(&prefetch->lock);
    double seconds = keel_plan_seconds(&prefetch->asked, name, operations);
    if (seconds <= 0) seconds = keel_plan_seconds(&prefetch->last, name, operations);
    pthread_mutex_unlock(&prefetch->lock);
    return seconds;
}

// A run that is killed has not asked for everything it would have, so what the last run asked for
// is kept after its own.
static bool compose(prefetch_t *prefetch, bool ended, keel_plan_t *out) {
    pthread_mutex_lock(&prefetch->lock);
    *out = prefetch->asked;
    for (size_t i = 0; !ended && i < prefetch->last.count; ++i)
        keel_plan_add(out, &prefetch->last.programs[i]);
    bool is_new = prefetch->asked.count && !keel_plan_equal(out, &prefetch->written);
    if (is_new) prefetch->written = *out;
    pthread_mutex_unlock(&prefetch->lock);
    return is_new;
}

void prefetch_keep_plan(keel_engine_t *engine, bool ended) {
    keel_plan_t plan;
    if (!engine->prefetch || !engine->script || !engine->stores) return;
    bool is_new = compose(engine->prefetch, ended, &plan);
    if (plan.count && has_remotes(engine) && is_due(engine->prefetch, is_new, ended))
        send_plan(engine, &plan);
    if (!is_new && !(ended && plan.count)) return;
    const char *folder = engine->cache_dir;
    keel_status_t status = is_new ? keel_plan_write(folder, engine->script, &plan)
                                  : keel_plan_keep(folder, engine->script, &plan);
    if (status)
        keel_journal_store_error(engine->journal, "plan", NULL, keel_status_message(status));
    keel_status_ignore(status);
}

// ---- the thread --------------------------------------------------------------------------------

static keel_status_t make_keys(prefetch_t *prefetch, keel_key_t *key) {
    for (size_t i = 0; i < prefetch->last.count; ++i) {
        const keel_planned_t *planned = &prefetch->last.programs[i];
        key->components[KEEL_COMPONENT_PROGRAM] = planned->program;
        key->components[KEEL_COMPONENT_OPTIONS] = planned->options;
        key->components[KEEL_COMPONENT_DEVICE_ASSIGNMENT] = planned->assignment;
        KEEL_TRY(keel_key_finish(key));
        prefetch->items[i].key = key->digest;
        prefetch->count = i + 1;
    }
    return NULL;
}

static keel_status_t make_items(prefetch_t *prefetch) {
    keel_key_t key;
    keel_key_initialize(&key);
    keel_status_t status = keel_key_copy(&prefetch->client->backend, &key);
    pthread_mutex_lock(&prefetch->lock);
    if (!status) status = make_keys(prefetch, &key);
    prefetch->told.planned = prefetch->count;
    prefetch->planned = true;
    pthread_cond_broadcast(&prefetch->changed);
    pthread_mutex_unlock(&prefetch->lock);
    keel_key_deinitialize(&key);
    return status;
}

// If nothing is looked up, the plan only gives compile costs.
static keel_status_t plan_nothing(prefetch_t *prefetch) {
    pthread_mutex_lock(&prefetch->lock);
    prefetch->planned = true;
    pthread_cond_broadcast(&prefetch->changed);
    pthread_mutex_unlock(&prefetch->lock);
    return NULL;
}

static planned_item_t *next_queued(prefetch_t *prefetch) {
    for (size_t i = 0; i < prefetch->count; ++i)
        if (prefetch->items[i].state == ITEM_QUEUED) return &prefetch->items[i];
    return NULL;
}

// What the program's compile cost in the last run.
static const keel_cost_t *cost_of(const prefetch_t *prefetch, const planned_item_t *item) {
    return &prefetch->last.programs[item - prefetch->items].cost;
}

// Call it under the lock, which is released meanwhile.
static void load_item(keel_engine_t *engine, planned_item_t *item) {
    prefetch_t *prefetch = engine->prefetch;
    const client_t *client = prefetch->client;
    item->state = ITEM_LOADING;
    const keel_cost_t cost = *cost_of(prefetch, item);
    prefetch->loading = cost.seconds;
    pthread_mutex_unlock(&prefetch->lock);
    bool found =
        load_entry_ahead(engine, client, &item->key, cost.operations, &item->loaded, &item->miss);
    pthread_mutex_lock(&prefetch->lock);
    prefetch->loading = 0;
    if (found) {
        item->state = ITEM_LOADED;
        prefetch->held += item->loaded.entry.payload_size;
        ++prefetch->told.loaded;
        prefetch->told.bytes += item->loaded.entry.payload_size;
        prefetch->told.seconds += keel_seconds(item->loaded.nanoseconds);
    } else {
        item->state = item->miss == KEEL_MISS_ABSENT ? ITEM_GONE : ITEM_FAILED;
    }
    pthread_cond_broadcast(&prefetch->changed);
}

// Waits until something is taken, or it is to end. False if nothing happened for so long that
// nobody will ask any more.
static bool wait_for_client(prefetch_t *prefetch) {
    uint64_t until = keel_clock_monotonic() + PREFETCH_PATIENCE * 1000000000ull;
    return keel_wait_until(&prefetch->changed, &prefetch->lock, until);
}

static void load_items(keel_engine_t *engine) {
    prefetch_t *prefetch = engine->prefetch;
    bool patient = true;
    while (!prefetch->stopped && patient) {
        planned_item_t *item = next_queued(prefetch);
        bool has_room = prefetch->held < engine->settings.memory_limit;
        if (item && has_room)
            load_item(engine, item);
        else if (item || prefetch->held)
            patient = wait_for_client(prefetch);
        else
            return;
    }
}

// Destroys what nobody took. Call it under the lock, which is released meanwhile.
static void drop_items(keel_engine_t *engine) {
    prefetch_t *prefetch = engine->prefetch;
    for (size_t i = 0; i < prefetch->count; ++i) {
        planned_item_t *item = &prefetch->items[i];
        if (item->state == ITEM_QUEUED) item->state = ITEM_GONE;
        if (item->state != ITEM_LOADED || item->awaited) continue;
        item->state = ITEM_GONE;
        pthread_mutex_unlock(&prefetch->lock);
        loaded_entry_destroy(engine, &item->loaded);
        pthread_mutex_lock(&prefetch->lock);
    }
}

static void *load_ahead(void *context) {
    keel_engine_t *engine = context;
    prefetch_t *prefetch = engine->prefetch;
    read_plan(engine);
    keel_status_t status = engine->looks_up ? make_items(prefetch) : plan_nothing(prefetch);
    if (status) engine_fell_through(engine, "prefetch", NULL, status);
    pthread_mutex_lock(&prefetch->lock);
    load_items(engine);
    // If nobody waits for this thread any more, the process may be ending: what was loaded is left.
    if (!prefetch->given_up) drop_items(engine);
    keel_journal_prefetch_t told = prefetch->told;
    bool writes = told.loaded && !prefetch->given_up;
    pthread_mutex_unlock(&prefetch->lock);
    if (writes) keel_journal_prefetch(engine->journal, &told);
    pthread_mutex_lock(&prefetch->lock);
    prefetch->running = false;
    pthread_cond_broadcast(&prefetch->changed);
    pthread_mutex_unlock(&prefetch->lock);
    return NULL;
}

void prefetch_begin(keel_engine_t *engine, const client_t *client) {
    prefetch_t *prefetch = engine->prefetch;
    if (!prefetch || !engine->script || !*engine->cache_dir) return;
    if (client->process_count > 1) return;
    pthread_mutex_lock(&prefetch->lock);
    bool is_first = !prefetch->begun;
    if (is_first) {
        prefetch->begun = true;
        prefetch->client = client;
        keel_status_t copied = keel_key_copy(&client->backend, &prefetch->backend);
        prefetch->has_backend = !copied;
        keel_status_ignore(copied);
        prefetch->running = !dumps_of_process() && engine_start_thread(load_ahead, engine);
        prefetch->planned = !prefetch->running;
    }
    pthread_mutex_unlock(&prefetch->lock);
}

// Under the lock. False if the thread hangs.
static bool wait_for_thread(prefetch_t *prefetch) {
    uint64_t until = keel_clock_monotonic() + engine_patience_for(prefetch->loading);
    while (prefetch->running && !prefetch->given_up)
        if (!keel_wait_until(&prefetch->changed, &prefetch->lock, until)) break;
    return !prefetch->running;
}

bool prefetch_stop(keel_engine_t *engine, const PJRT_Client *client) {
    prefetch_t *prefetch = engine->prefetch;
    if (!prefetch) return true;
    bool has_ended = true;
    pthread_mutex_lock(&prefetch->lock);
    if (prefetch->client && (!client || prefetch->client->client == client)) {
        prefetch->stopped = true;
        pthread_cond_broadcast(&prefetch->changed);
        has_ended = wait_for_thread(prefetch);
        prefetch->given_up = !has_ended;
        if (has_ended) prefetch->client = NULL;
    }
    pthread_mutex_unlock(&prefetch->lock);
    if (!has_ended)
        keel_log_once(
            "prefetch given up",
            "gave up waiting for a program that is loaded ahead: the plugin or a disk does "
            "not answer; KEEL_PREFETCH=off loads nothing ahead");
    return has_ended;
}

// ---- called by the client's threads ------------------------------------------------------------

// Under the lock. A client that asks before the plan was read waits for that; otherwise both would
// load the first program.
static planned_item_t *find_item(prefetch_t *prefetch, const keel_digest_t *key) {
    uint64_t until = keel_clock_monotonic() + engine_patience_for(0);
    while (!prefetch->planned)
        if (!keel_wait_until(&prefetch->changed, &prefetch->lock, until))
            prefetch->planned = prefetch->stopped = true;
    for (size_t i = 0; i < prefetch->count; ++i)
        if (keel_digest_equal(&prefetch->items[i].key, key)) return &prefetch->items[i];
    return NULL;
}

// Another model, or the same one with other shapes: usually the first programs show it.
static void note_unplanned(prefetch_t *prefetch) {
    enum { ALLOWANCE = 4 };
    if (!prefetch->count || ++prefetch->wrong <= prefetch->right + ALLOWANCE) return;
    prefetch->stopped = true;
    pthread_cond_broadcast(&prefetch->changed);
}

// Under the lock. Nanoseconds; nobody waits for an item again that was once waited for in vain.
static uint64_t wait_for_item(prefetch_t *prefetch, planned_item_t *item) {
    uint64_t start = keel_clock_monotonic();
    uint64_t until = start + engine_patience_for(cost_of(prefetch, item)->seconds);
    ++item->awaited;
    while (item->state == ITEM_LOADING && !item->late)
        if (!keel_wait_until(&prefetch->changed, &prefetch->lock, until)) break;
    --item->awaited;
    return keel_clock_monotonic() - start;
}

static bool take_item(prefetch_t *prefetch, planned_item_t *item, prefetched_t *out) {
    if (item->state == ITEM_LOADING) out->waited = wait_for_item(prefetch, item);
    item_state_t state = item->state;
    if (state == ITEM_LOADING) {
        item->late = true;
        out->miss = KEEL_MISS_LATE;
        keel_log_once("late", "gave up waiting for a stored program to load: the plugin or a disk "
                              "does not answer; it is compiled instead");
        return false;
    }
    item->state = ITEM_GONE;
    if (state != ITEM_GONE) ++prefetch->right;
    if (state == ITEM_FAILED) out->miss = item->miss;
    if (state != ITEM_LOADED) return false;
    out->loaded = item->loaded;
    prefetch->held -= item->loaded.entry.payload_size;
    ++prefetch->told.used;
    pthread_cond_broadcast(&prefetch->changed);
    return true;
}

bool prefetch_take(keel_engine_t *engine, const PJRT_Client *client, const keel_digest_t *key,
                   prefetched_t *out) {
    prefetch_t *prefetch = engine->prefetch;
    *out = (prefetched_t){.miss = KEEL_MISS_ABSENT};
    if (!prefetch) return false;
    pthread_mutex_lock(&prefetch->lock);
    bool is_ours = prefetch->client && prefetch->client->client == client;
    planned_item_t *item = is_ours ? find_item(prefetch, key) : NULL;
    bool taken = item && take_item(prefetch, item, out);
    if (is_ours && !item) note_unplanned(prefetch);
    pthread_mutex_unlock(&prefetch->lock);
    return taken;
}

static bool has_item(const prefetch_t *prefetch, const keel_digest_t *key) {
    for (size_t i = 0; i < prefetch->count; ++i)
        if (keel_digest_equal(&prefetch->items[i].key, key)) return true;
    return false;
}

void prefetch_name_remote(keel_engine_t *engine, const keel_digest_t *key, loaded_entry_t *loaded) {
    prefetch_t *prefetch = engine->prefetch;
    if (!prefetch || !loaded->entry.is_signed || !loaded->tier->persists || loaded->tier->fills)
        return;
    pthread_mutex_lock(&prefetch->lock);
    const keel_tier_t *followed = has_item(prefetch, key) ? prefetch->followed : NULL;
    pthread_mutex_unlock(&prefetch->lock);
    if (!followed) return;
    loaded->tier = followed;
    keel_journal_remote(engine->journal, &(keel_journal_remote_t){.remote = followed->name,
                                                                  .key = key,
                                                                  .got = "found",
                                                                  .bytes = loaded->entry.fetched});
}
