#include "engine/ask.h"
#include "engine/background.h"
#include "engine/flow.h"
#include "engine/once.h"
#include "engine/sent.h"
#include "host/source.h"

void ask_capture(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask) {
    bool is_known = ask->stack.count || ask->stack.skipped;
    if (!engine->journal || is_known) return;
    if (!engine->settings.stack) {
        ask->stack.skipped = "the setting stack is off";
        return;
    }
    uint64_t start = keel_clock_monotonic();
    keel_stack_read(arena, keel_settings_text(&engine->settings, KEEL_SETTING_APPLICATION),
                    &ask->stack);
    if (ask->stack.count && once_first(engine->once, ONCE_FOLDERS, keel_str_bytes(KEEL_STR(""))))
        ask->folders = keel_python_path_read(arena);
    ask->stack_seconds = keel_seconds(keel_clock_monotonic() - start);
}

void ask_names(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask, const keel_site_t *site) {
    bool is_worth_it = site->is_wrapped || site->is_traced;
    if (!engine->journal || !engine->settings.stack || !is_worth_it || ask->names) return;
    uint64_t start = keel_clock_monotonic();
    ask->names = keel_names_read(arena, site->is_wrapped);
    ask->stack_seconds += keel_seconds(keel_clock_monotonic() - start);
}

// Besides traced functions, those of libraries: the call shows whether two lines called one
// function.
void ask_call(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask, const keel_site_t *site) {
    keel_str_t origin = keel_str(site->origin);
    bool is_worth_it = site->is_traced || keel_origin_shared(origin).size < origin.size;
    if (!engine->journal || !engine->settings.stack || !is_worth_it || ask->call) return;
    uint64_t start = keel_clock_monotonic();
    ask->call = keel_call_read(arena);
    ask->stack_seconds += keel_seconds(keel_clock_monotonic() - start);
}

void ask_where(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask, keel_site_t *site) {
    ask_capture(engine, arena, ask);
    ask->sent = flow_sent(engine);
    ask->made = sent_take(engine, arena, &ask->made_count);
    keel_site_asked(&ask->stack, arena, site);
}

static bool is_listed(const keel_string_id_t *ids, uint32_t count, keel_string_id_t id) {
    for (uint32_t i = count; i > 0; --i)
        if (ids[i - 1] == id) return true;
    return false;
}

void ask_files(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask,
               const keel_program_t *program) {
    enum { MOST = 64 };
    keel_string_id_t ids[MOST], last = KEEL_NONE;
    uint32_t count = 0;
    void *memory;
    if (!engine->journal) return;
    for (uint32_t i = 0; i < program->attrs.count && count < MOST; ++i) {
        const keel_attr_t *attr = &program->attrs.data[i];
        if (attr->kind != KEEL_ATTR_LOC_FILE || attr->a == last) continue;
        last = attr->a;
        if (is_listed(ids, count, last)) continue;
        if (!keel_is_foreign_file(keel_program_str(program, last), ask->stack.application))
            ids[count++] = last;
    }
    keel_status_t status =
        count ? keel_arena_array(arena, count, sizeof *ask->files, &memory) : NULL;
    const char **files = count && !status ? memory : NULL;
    for (uint32_t i = 0; files && i < count && !status; ++i) {
        keel_str_t file = KEEL_STR("");
        status = keel_arena_str(arena, keel_program_str(program, ids[i]), &file);
        files[i] = file.data;
        if (!status) ask->file_count = i + 1;
    }
    ask->files = files;
    keel_status_ignore(status); // then their lines are not shown
}

const char *ask_miss(keel_miss_t miss) {
    switch (miss) {
        case KEEL_MISS_ABSENT:
            return "the cache has no such entry: it was never stored, or it was evicted or cleared";
        case KEEL_MISS_DAMAGED:
            return "its entry was damaged and is now in quarantine";
        case KEEL_MISS_FOREIGN:
            return "its entry was written by another version of Keel";
        case KEEL_MISS_QUARANTINED:
            return "loading its entry crashed an earlier process, so it is in quarantine";
        case KEEL_MISS_UNREADABLE:
            return "its entry could not be read";
        case KEEL_MISS_LATE:
            return "loading its entry ahead did not end: the plugin or a disk did not answer";
        case KEEL_MISS_SLOW:
            return "loading it took longer than compiling it, so it is compiled each time";
        case KEEL_MISS_UNTRUSTED:
            return "a remote has its entry, but no key that is trusted signed it";
        case KEEL_MISS_REFUSED:
            return "what a remote has under its key is damaged, or another entry";
        case KEEL_MISS_FAILED:
            return "a remote that may have its entry did not answer as it should";
        case KEEL_MISS_UNASKED:
            return "a remote that may have its entry failed before and is left alone";
    }
    return "";
}

// ---- in the background -------------------------------------------------------------------------

typedef struct ask_task_t {
    task_t task;
    ask_t ask;
} ask_task_t;

// Texts of components are long, and the same in most programs: each is written once per process.
static void choose_values(keel_engine_t *engine, const keel_key_t *key,
                          bool out[KEEL_COMPONENT_COUNT]) {
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        struct {
            uint64_t component;
            keel_digest_t digest;
        } name = {(uint64_t)i, key->components[i]};
        out[i] = key->values[i] && *key->values[i] &&
                 once_first(engine->once, ONCE_VALUE, keel_bytes(&name, sizeof name));
    }
}

// What a report may show of a file is what was read here (host/source.h).
static void write_source(keel_engine_t *engine, const char *file) {
    bool is_file = *file && *file != '<';
    if (!is_file || !once_first(engine->once, ONCE_SOURCE, keel_str_bytes(keel_str(file)))) return;
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_source_read(file, &data, &size);
    if (!status) {
        keel_digest_t digest = keel_digest(keel_bytes(data, size));
        keel_journal_source(engine->journal, file, &digest);
        keel_free(data);
    }
    keel_status_ignore(status);
}

static void write_sources(keel_engine_t *engine, const ask_t *ask) {
    for (uint32_t i = 0; i < ask->file_count; ++i)
        write_source(engine, ask->files[i]);
    for (uint32_t i = 0; i < ask->stack.count; ++i)
        write_source(engine, ask->stack.frames[i].file);
    if (ask->site.place.file) write_source(engine, ask->site.place.file);
}

static void run_ask(keel_engine_t *engine, task_t *head) {
    const ask_t *ask = &((ask_task_t *)head)->ask;
    if (ask->folders) keel_journal_folders(engine->journal, ask->folders);
    write_sources(engine, ask);
    keel_journal_ask_t event = {
        .subject = {.program = &ask->program, .name = ask->name, .key = &ask->key.digest},
        .kind = ask->kind,
        .seconds = ask->seconds,
        .compile_seconds = ask->compile_seconds,
        .recompile = ask->recompile,
        .step = ask->when.step,
        .steady = ask->when.steady,
        .site = engine_site(&ask->site.place),
        .origin = ask->site.origin,
        .elsewhere = ask->elsewhere,
        .miss = ask->miss,
        .miss_note = ask->miss_note,
        .sent = ask->sent,
        .made = ask->made,
        .made_count = ask->made_count,
        .client = ask->backend->number,
        .key = &ask->key,
        .backend = &ask->backend->backend,
        .stack = &ask->stack,
        .names = ask->names,
        .call = ask->call,
        .stack_seconds = ask->stack_seconds};
    choose_values(engine, &ask->key, event.values);
    keel_journal_ask(engine->journal, &event);
}

static void deinitialize(ask_t *ask) {
    keel_key_deinitialize(&ask->key);
    keel_arena_deinitialize(&ask->arena);
}

static void destroy_ask_task(task_t *head) {
    deinitialize(&((ask_task_t *)head)->ask);
    keel_free(head);
}

void ask_hand_over(keel_engine_t *engine, ask_t *ask) {
    void *memory;
    ask_task_t *task = NULL;
    keel_status_t status = keel_alloc(sizeof *task, &memory);
    if (!status) {
        task = memory;
        *task = (ask_task_t){{ask->client, run_ask, destroy_ask_task, NULL, 0}, *ask};
        status = background_add(engine, &task->task);
    }
    if (!status) return;
    engine_fell_through(engine, "journal", NULL, status);
    deinitialize(ask);
    keel_free(task);
}
