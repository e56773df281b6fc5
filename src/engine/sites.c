// Reads the stack for the first reads of a kind. If they agree, the line is trusted and rechecked
// now and then, so finding it costs next to nothing in a loop.
#include "engine/sites.h"
#include "engine/transfer_counter.h"
#include "host/host.h"

// The share of elapsed time that reading stacks may take, beyond a free allowance.
enum { STACK_SHARE = 100, STACK_FREE_NANOSECONDS = 20000000 };
// A context is trusted after this many stacks that agreed, and rechecked at every Nth use.
enum { STACKS_TO_BELIEVE = 8, STACKS_TO_GUESS = 2, DOUBT_EVERY = 64 };
enum { SITES = 4096, CONTEXTS = 512 };

struct site_t {
    keel_place_t place;
    transfer_counter_t reads;
    transfer_count_t reported; // under the lock
    site_t *next;
};

// Reads that looked alike so far: at the same position after an execution of the same program.
typedef struct site_context_t {
    const counter_t *program;
    uint64_t bytes, place;
    site_t *site;
    uint64_t agreed, uses;
} site_context_t;

struct sites_t {
    pthread_mutex_t lock; // for all fields; never held while the stack is read
    site_t *first;
    keel_map_t by_line; // "train.py:8" -> site_t *
    keel_arena_t arena;
    const char *application; // the setting
    site_context_t contexts[CONTEXTS];
    uint64_t read_behind, reads_behind; // reads since the execution with that number
    uint64_t started, stack_nanoseconds;
};

keel_status_t sites_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(sites_t), &memory));
    sites_t *sites = memory;
    pthread_mutex_init(&sites->lock, NULL);
    keel_map_initialize(&sites->by_line);
    keel_arena_initialize(&sites->arena, 0);
    sites->application = keel_settings_text(&engine->settings, KEEL_SETTING_APPLICATION);
    sites->started = keel_clock_monotonic();
    engine->sites = sites;
    return NULL;
}

void sites_destroy(sites_t *sites) {
    if (!sites) return;
    keel_map_deinitialize(&sites->by_line);
    keel_arena_deinitialize(&sites->arena);
    pthread_mutex_destroy(&sites->lock);
    keel_free(sites);
}

void sites_before_fork(keel_engine_t *engine) {
    pthread_mutex_lock(&engine->sites->lock);
}

void sites_after_fork(keel_engine_t *engine) {
    pthread_mutex_unlock(&engine->sites->lock);
}

// ---- lines -------------------------------------------------------------------------------------

static keel_status_t keep_text(sites_t *sites, const char *text, const char **out) {
    keel_str_t copy = KEEL_STR("");
    KEEL_TRY(keel_arena_str(&sites->arena, keel_str(text), &copy));
    *out = copy.data;
    return NULL;
}

static keel_status_t add_site(sites_t *sites, const keel_place_t *place, site_t **out) {
    void *memory;
    KEEL_TRY(keel_arena_alloc(&sites->arena, sizeof(site_t), &memory));
    site_t *site = memory;
    memset(site, 0, sizeof *site);
    site->place = *place;
    KEEL_TRY(keep_text(sites, place->file, &site->place.file));
    KEEL_TRY(keep_text(sites, place->function, &site->place.function));
    KEEL_TRY(keep_text(sites, place->call_file, &site->place.call_file));
    if (place->library_file)
        KEEL_TRY(keep_text(sites, place->library_file, &site->place.library_file));
    if (place->application)
        KEEL_TRY(keep_text(sites, place->application, &site->place.application));
    if (place->script_file)
        KEEL_TRY(keep_text(sites, place->script_file, &site->place.script_file));
    *out = site;
    return NULL;
}

static keel_status_t find_or_add(sites_t *sites, const keel_place_t *place, const char *line,
                                 site_t **out) {
    const uint64_t *known = keel_map_find(&sites->by_line, keel_str_bytes(keel_str(line)));
    if (known) {
        *out = (site_t *)(uintptr_t)*known;
        return NULL;
    }
    if (sites->by_line.count >= SITES) return NULL;
    site_t *site;
    KEEL_TRY(add_site(sites, place, &site));
    KEEL_TRY(keel_map_put(&sites->by_line, keel_str_bytes(keel_str(line)), (uintptr_t)site));
    site->next = sites->first;
    sites->first = site;
    *out = site;
    return NULL;
}

// Call it under the lock.
static site_t *site_at(sites_t *sites, const keel_place_t *place) {
    site_t *site = NULL;
    char *line;
    keel_status_t status = keel_path(&line, "%s:%u", place->file, place->line);
    if (!status) {
        status = find_or_add(sites, place, line, &site);
        keel_free(line);
    }
    keel_status_ignore(status);
    return site;
}

site_t *sites_at(sites_t *sites, const keel_place_t *place) {
    pthread_mutex_lock(&sites->lock);
    site_t *site = site_at(sites, place);
    pthread_mutex_unlock(&sites->lock);
    return site;
}

const keel_place_t *site_place(const site_t *site) {
    return &site->place;
}

// ---- which line reads --------------------------------------------------------------------------

static site_context_t *context_of(sites_t *sites, const counter_t *program, uint64_t bytes,
                                  uint64_t executions) {
    sites->reads_behind = sites->read_behind == executions ? sites->reads_behind + 1 : 0;
    sites->read_behind = executions;
    uint64_t place = sites->reads_behind;
    uint64_t bits =
        ((uint64_t)(uintptr_t)program ^ bytes * 31 ^ place << 48) * 0x9E3779B97F4A7C15ull;
    site_context_t *context = &sites->contexts[(bits >> 40) % CONTEXTS];
    bool is_known =
        context->program == program && context->bytes == bytes && context->place == place;
    if (!is_known) *context = (site_context_t){.program = program, .bytes = bytes, .place = place};
    return context;
}

static bool may_spend(const sites_t *sites) {
    uint64_t elapsed = keel_clock_monotonic() - sites->started;
    return sites->stack_nanoseconds < STACK_FREE_NANOSECONDS + elapsed / STACK_SHARE;
}

static bool wants_stack(const sites_t *sites, const site_context_t *context) {
    bool is_believed = context->agreed >= STACKS_TO_BELIEVE && context->uses % DOUBT_EVERY;
    return !is_believed && may_spend(sites);
}

static bool read_place(keel_arena_t *arena, const char *application, keel_place_t *out) {
    keel_stack_t stack;
    keel_stack_read(arena, application, &stack);
    if (stack.count) *out = keel_stack_top(&stack);
    out->library_file = stack.library_file;
    out->library_line = stack.library_line;
    return stack.count;
}

// Call it under the lock, which is released meanwhile: another thread that has Python's may want
// it.
static site_t *ask(sites_t *sites) {
    keel_arena_t arena;
    keel_place_t place;
    keel_arena_initialize(&arena, 0);
    pthread_mutex_unlock(&sites->lock);
    uint64_t started = keel_clock_thread();
    bool known = read_place(&arena, sites->application, &place);
    uint64_t took = keel_clock_thread() - started;
    pthread_mutex_lock(&sites->lock);
    sites->stack_nanoseconds += took;
    site_t *site = known ? site_at(sites, &place) : NULL;
    keel_arena_deinitialize(&arena);
    return site;
}

static site_t *find_reading(sites_t *sites, const counter_t *program, uint64_t bytes,
                            uint64_t executions) {
    site_context_t *context = context_of(sites, program, bytes, executions);
    ++context->uses;
    if (!wants_stack(sites, context))
        return context->agreed >= STACKS_TO_GUESS ? context->site : NULL;
    site_t *site = ask(sites);
    bool is_ours = context->program == program && context->bytes == bytes;
    if (!is_ours) return site; // another thread has the slot by now
    context->agreed = context->site == site ? context->agreed + 1 : 1;
    context->site = site;
    return site;
}

site_t *sites_reading(sites_t *sites, const counter_t *program, uint64_t bytes,
                      uint64_t executions) {
    pthread_mutex_lock(&sites->lock);
    site_t *site = find_reading(sites, program, bytes, executions);
    pthread_mutex_unlock(&sites->lock);
    return site;
}

// ---- what each line read -----------------------------------------------------------------------

void site_read(site_t *site, uint64_t bytes) {
    transfer_counter_add(&site->reads, bytes);
}

void site_read_took(site_t *site, uint64_t nanoseconds) {
    transfer_counter_took(&site->reads, nanoseconds);
}

static size_t gather(sites_t *sites, keel_journal_read_t *out) {
    size_t count = 0;
    for (site_t *site = sites->first; site; site = site->next) {
        transfer_count_t now = transfer_counter_load(&site->reads);
        if (now.count == site->reported.count && now.nanoseconds == site->reported.nanoseconds)
            continue;
        out[count++] =
            (keel_journal_read_t){.site = engine_site(&site->place),
                                  .transfer = transfer_count_since(&now, &site->reported)};
    }
    return count;
}

keel_status_t sites_collect(sites_t *sites, keel_journal_read_t **out, size_t *out_count) {
    void *memory;
    pthread_mutex_lock(&sites->lock);
    keel_status_t status = keel_calloc(sites->by_line.count, sizeof **out, &memory);
    *out = status ? NULL : memory;
    *out_count = status ? 0 : gather(sites, *out);
    pthread_mutex_unlock(&sites->lock);
    return status;
}

// ---- now ---------------------------------------------------------------------------------------

site_t *sites_here(sites_t *sites) {
    pthread_mutex_lock(&sites->lock);
    site_t *site = may_spend(sites) ? ask(sites) : NULL;
    pthread_mutex_unlock(&sites->lock);
    return site;
}

site_t *sites_now(sites_t *sites) {
    pthread_mutex_lock(&sites->lock);
    site_t *site = ask(sites);
    pthread_mutex_unlock(&sites->lock);
    return site;
}
