// Plans of scripts that travel (store/travel.h): one small object for each script in a remote,
// signed as entries are, since a list of keys costs whoever follows it their bytes. Its form is
// that of an entry, so it takes the same way in and out; its name is plans/ab/<digest of the
// script's label>.keel.
//
// A few threads do what nobody waits for: they fetch what a plan names, many at a time, and store
// plans.
#define _GNU_SOURCE
#include "courier/courier.h"

#include <stdio.h>

#include "courier/arrival.h"
#include "store/layout.h"
#include "store/travel.h"

enum { WORKERS = 16, WAITING = 4096 };

typedef enum task_kind {
    TASK_FETCH, // an entry
    TASK_AHEAD, // the newest plan of a script, and its entries
    TASK_KEEP,  // the script's plan of this machine is stored in the remote
} task_kind_t;

typedef struct task_t {
    struct task_t *next;
    task_kind_t kind;
    place_t *place;
    keel_digest_t key;
    char script[KEEL_TRAVEL_TEXT];
} task_t;

typedef struct plans_t {
    courier_t *courier;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    task_t *first, **last;
    size_t waiting, active;
    bool ends;
    pthread_t threads[WORKERS];
    size_t thread_count;
    pthread_mutex_t keeping; // one plan is read, merged and stored at a time
} plans_t;

// ---- the queue ---------------------------------------------------------------------------------

static void *work(void *context);

// More threads only once there is more to do.
static void add(plans_t *plans, const task_t *task) {
    void *memory;
    keel_status_t status = keel_calloc(1, sizeof *task, &memory);
    keel_status_ignore(status);
    if (status) return; // what is not fetched ahead is fetched when it is asked for
    task_t *one = memory;
    *one = *task;
    one->next = NULL;
    pthread_mutex_lock(&plans->lock);
    bool is_full = plans->waiting >= WAITING;
    if (!is_full) {
        *plans->last = one;
        plans->last = &one->next;
        ++plans->waiting;
        if (plans->thread_count < WORKERS && plans->active + plans->waiting > plans->thread_count &&
            !pthread_create(&plans->threads[plans->thread_count], NULL, work, plans))
            ++plans->thread_count;
        pthread_cond_broadcast(&plans->changed);
    }
    pthread_mutex_unlock(&plans->lock);
    if (is_full) keel_free(one);
}

static task_t *take(plans_t *plans) {
    task_t *one = plans->first;
    plans->first = one->next;
    if (!plans->first) plans->last = &plans->first;
    --plans->waiting;
    ++plans->active;
    return one;
}

// ---- the object --------------------------------------------------------------------------------

static keel_digest_t key_of(const char *script) {
    const keel_str_t label = keel_travel_label(script);
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, "keel plans", sizeof "keel plans");
    keel_hasher_update(&hasher, label.data, label.size);
    return keel_hasher_finish(&hasher);
}

static keel_status_t name_of(const place_t *place, const keel_digest_t *key, char **out) {
    char hex[KEEL_DIGEST_HEX];
    const char *space = place->remote->space;
    keel_digest_hex(key, hex);
    return keel_path(out, "%s%splans/%.2s/%s.keel", space, *space ? "/" : "", hex, hex);
}

static keel_status_t parse(const arrival_t *arrival, keel_travel_t *out) {
    keel_bytes_t file;
    keel_entry_t entry;
    KEEL_TRY(keel_file_map(arrival->draft.temporary, &file));
    keel_status_t status = keel_entry_decode(file, &entry);
    if (!status) {
        status = keel_travel_parse(keel_bytes(entry.payload, entry.payload_size), out);
        keel_entry_deinitialize(&entry);
    }
    keel_file_unmap(file);
    return status;
}

static keel_status_t judge(const courier_t *courier, const place_t *place, const keel_digest_t *key,
                           arrival_t *arrival, keel_travel_t *out) {
    arrival_verdict_t verdict =
        arrival_check(arrival, key, courier->keys_dir, place->remote->trusted);
    if (verdict == ARRIVAL_GOOD) return parse(arrival, out);
    return keel_status_make(verdict == ARRIVAL_UNTRUSTED ? KEEL_REFUSED : KEEL_CORRUPT, "%s",
                            arrival->why);
}

// KEEL_NOT_FOUND: there is none. KEEL_REFUSED: nobody who is trusted signed it.
static keel_status_t read_plans(courier_t *courier, place_t *place, const char *script,
                                keel_travel_t *out) {
    const keel_digest_t key = key_of(script);
    arrival_t arrival;
    char *name;
    *out = (keel_travel_t){.count = 0};
    KEEL_TRY(name_of(place, &key, &name));
    keel_status_t status = arrival_begin(&courier->disk, KEEL_TRAVEL_LIMIT, &key, &arrival);
    if (!status) {
        const sink_t sink = arrival_sink(&arrival);
        status = place->backend.kind->get(place->backend.context, name, &sink);
        if (!status) status = judge(courier, place, &key, &arrival, out);
        if (keel_status_code(status) == KEEL_IO && !arrival.disk_failed) place_failed(place);
        arrival_discard(&arrival);
    }
    keel_free(name);
    return status;
}

// ---- keeping -----------------------------------------------------------------------------------

static keel_status_t store_plans(courier_t *courier, place_t *place, const char *script,
                                 const keel_travel_t *travel) {
    const keel_digest_t key = key_of(script);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_travel_write(travel, &text);
    keel_entry_t entry = {.key = key,
                          .components = (char *)(uintptr_t) "{}",
                          .name = (char *)(uintptr_t) "plans",
                          .writer = (char *)(uintptr_t) "keel-remote",
                          .created = keel_clock_wall(),
                          .payload = text.data,
                          .payload_size = text.size};
    outgoing_t outgoing;
    char *name = NULL;
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = outgoing_make(courier, place->remote->trusted, &entry, &outgoing);
    if (!status) {
        status = name_of(place, &key, &name);
        if (!status)
            status = place->backend.kind->put(place->backend.context, name, PUT_REPLACE,
                                              keel_buffer_bytes(&outgoing.head), outgoing.rest);
        keel_free(name);
        outgoing_close(&outgoing);
    }
    keel_buffer_deinitialize(&text);
    return status;
}

// What cannot be read there is replaced. Two who do so at once: one of both is left, and the next
// run of the other adds its own again.
static keel_status_t keep(courier_t *courier, place_t *place, const char *script) {
    keel_travel_t own, all;
    KEEL_TRY(keel_travel_read(courier->cache_dir, script, &own));
    keel_status_t status = read_plans(courier, place, script, &all);
    keel_code_t code = keel_status_code(status);
    if (code == KEEL_NOT_FOUND || code == KEEL_REFUSED || code == KEEL_CORRUPT) {
        keel_status_ignore(status);
        status = NULL;
    }
    if (!status && own.count) status = keel_travel_merge(&all, own.sections);
    if (!status) status = store_plans(courier, place, script, &all);
    keel_travel_free(&all);
    keel_travel_free(&own);
    return status;
}

// ---- following ---------------------------------------------------------------------------------

static void fetch_all(plans_t *plans, place_t *place, const keel_travel_section_t *section) {
    for (size_t i = 0; i < section->plan.count; ++i)
        add(plans, &(task_t){.kind = TASK_FETCH, .place = place, .key = section->keys[i]});
}

static void fetch_one(courier_t *courier, place_t *place, const keel_digest_t *key) {
    keel_buffer_t answer;
    char *path;
    if (place_is_down(place)) return;
    keel_status_t status = keel_store_entry_path(courier->cache_dir, key, &path);
    bool is_here = !status && keel_is_file(path);
    keel_status_ignore(status);
    if (!status) keel_free(path);
    if (is_here) return;
    keel_buffer_initialize(&answer, 0);
    courier_fetch(courier, place, key, &answer);
    keel_buffer_deinitialize(&answer);
}

static void go_ahead(plans_t *plans, place_t *place, const char *script) {
    keel_travel_t travel;
    keel_status_t status = read_plans(plans->courier, place, script, &travel);
    const keel_travel_section_t *newest = status ? NULL : keel_travel_newest(&travel, script);
    if (newest) fetch_all(plans, place, newest);
    keel_status_ignore(status);
    keel_travel_free(&travel);
}

static void run(plans_t *plans, const task_t *task) {
    if (task->kind == TASK_FETCH) {
        fetch_one(plans->courier, task->place, &task->key);
    } else if (task->kind == TASK_AHEAD) {
        go_ahead(plans, task->place, task->script);
    } else {
        pthread_mutex_lock(&plans->keeping);
        keel_status_ignore(keep(plans->courier, task->place, task->script));
        pthread_mutex_unlock(&plans->keeping);
    }
}

static void *work(void *context) {
    plans_t *plans = context;
    pthread_mutex_lock(&plans->lock);
    for (;;) {
        while (!plans->first && !plans->ends)
            pthread_cond_wait(&plans->changed, &plans->lock);
        if (plans->ends) break;
        task_t *one = take(plans);
        pthread_mutex_unlock(&plans->lock);
        run(plans, one);
        keel_free(one);
        pthread_mutex_lock(&plans->lock);
        --plans->active;
        pthread_cond_broadcast(&plans->changed);
    }
    pthread_mutex_unlock(&plans->lock);
    return NULL;
}

// ---- for others --------------------------------------------------------------------------------

keel_status_t plans_create(courier_t *courier, plans_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(plans_t), &memory));
    plans_t *plans = *out = memory;
    plans->courier = courier;
    plans->last = &plans->first;
    pthread_mutex_init(&plans->lock, NULL);
    pthread_mutex_init(&plans->keeping, NULL);
    pthread_cond_init(&plans->changed, NULL);
    return NULL;
}

void plans_destroy(plans_t *plans) {
    if (!plans) return;
    pthread_mutex_lock(&plans->lock);
    plans->ends = true;
    pthread_cond_broadcast(&plans->changed);
    pthread_mutex_unlock(&plans->lock);
    while (plans->thread_count)
        pthread_join(plans->threads[--plans->thread_count], NULL);
    while (plans->first) {
        task_t *one = take(plans);
        keel_free(one);
    }
    pthread_cond_destroy(&plans->changed);
    pthread_mutex_destroy(&plans->keeping);
    pthread_mutex_destroy(&plans->lock);
    keel_free(plans);
}

static bool take_script(keel_str_t script, task_t *out) {
    if (!script.size || script.size >= sizeof out->script || memchr(script.data, '/', script.size))
        return false;
    snprintf(out->script, sizeof out->script, "%.*s", (int)script.size, script.data);
    return true;
}

static bool add_script(plans_t *plans, task_kind_t kind, place_t *place, keel_str_t script) {
    task_t task = {.kind = kind, .place = place};
    if (!take_script(script, &task)) return false;
    add(plans, &task);
    return true;
}

bool plans_ahead(plans_t *plans, place_t *place, keel_str_t script) {
    return add_script(plans, TASK_AHEAD, place, script);
}

bool plans_keep(plans_t *plans, place_t *place, keel_str_t script) {
    return add_script(plans, TASK_KEEP, place, script);
}

static keel_status_t follow(plans_t *plans, place_t *place, const char *script,
                            const keel_travel_t *own, const keel_travel_t *all,
                            keel_buffer_t *answer) {
    const keel_travel_component_t *there, *here;
    const keel_travel_section_t *section =
        keel_travel_find(all, script, own->sections, &there, &here);
    if (section) {
        KEEL_TRY(keel_plan_write(plans->courier->cache_dir, script, &section->plan));
        fetch_all(plans, place, section);
        keel_buffer_format(answer, "planned %zu", section->plan.count);
    } else if (there) {
        keel_buffer_format(answer,
                           "other its programs of this script have another %s: %s there, "
                           "%s here",
                           there->name, *there->value ? there->value : "none",
                           *here->value ? here->value : "none");
    } else {
        keel_buffer_text(answer, "none");
    }
    return NULL;
}

void plans_follow(plans_t *plans, place_t *place, keel_str_t script, keel_buffer_t *answer) {
    task_t task;
    keel_travel_t own = {.count = 0}, all = {.count = 0};
    if (!take_script(script, &task)) {
        keel_buffer_text(answer, "failed this is no request");
        return;
    }
    keel_status_t status = keel_travel_read(plans->courier->cache_dir, task.script, &own);
    if (!status && own.count) status = read_plans(plans->courier, place, task.script, &all);
    if (!status && own.count) status = follow(plans, place, task.script, &own, &all, answer);
    keel_code_t code = keel_status_code(status);
    if (code == KEEL_NOT_FOUND || (!status && !own.count))
        keel_buffer_text(answer, "none");
    else if (status)
        keel_buffer_format(answer, "%s %s",
                           code == KEEL_REFUSED   ? "untrusted"
                           : code == KEEL_CORRUPT ? "refused"
                                                  : "failed",
                           keel_status_message(status));
    keel_status_ignore(status);
    keel_travel_free(&own);
    keel_travel_free(&all);
}

void plans_finish(plans_t *plans) {
    pthread_mutex_lock(&plans->lock);
    while (plans->waiting || plans->active)
        pthread_cond_wait(&plans->changed, &plans->lock);
    pthread_mutex_unlock(&plans->lock);
}

bool plans_are_idle(plans_t *plans) {
    pthread_mutex_lock(&plans->lock);
    bool is_idle = !plans->waiting && !plans->active;
    pthread_mutex_unlock(&plans->lock);
    return is_idle;
}
