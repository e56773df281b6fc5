#include "engine/repeats.h"
#include "engine/steps.h"

// Retraces of one kind that are not written yet. Texts and digests stay as they are.
typedef struct kind_t {
    keel_journal_load_t sum;
    keel_digest_t program, key, options;
} kind_t;

struct repeats_t {
    pthread_mutex_t lock;
    keel_arena_t arena; // of kinds and their texts
    keel_map_t by_name; // -> kind_t *
    kind_t *kinds[REPEATS_KINDS];
    size_t count;
};

keel_status_t repeats_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(repeats_t), &memory));
    engine->repeats = memory;
    pthread_mutex_init(&engine->repeats->lock, NULL);
    keel_arena_initialize(&engine->repeats->arena, 0);
    keel_map_initialize(&engine->repeats->by_name);
    return NULL;
}

void repeats_destroy(repeats_t *repeats) {
    if (!repeats) return;
    keel_map_deinitialize(&repeats->by_name);
    keel_arena_deinitialize(&repeats->arena);
    pthread_mutex_destroy(&repeats->lock);
    keel_free(repeats);
}

// ---- kinds, under the lock ---------------------------------------------------------------------

// All texts that the line of a load has.
enum { TEXTS = 10 };
static void texts_of(keel_journal_load_t *load, const char **out[TEXTS]) {
    const char **texts[TEXTS] = {&load->subject.name,
                                 &load->tier,
                                 &load->by,
                                 &load->format,
                                 &load->site.file,
                                 &load->site.function,
                                 &load->site.call_file,
                                 &load->site.library_file,
                                 &load->site.application,
                                 &load->site.script_file};
    memcpy(out, texts, sizeof texts);
}

// Without the options: what matters of them is in the key.
static keel_status_t make_name(const keel_journal_load_t *load, keel_buffer_t *out) {
    keel_journal_load_t copy = *load;
    const char **texts[TEXTS];
    const uint32_t lines[] = {load->site.line, load->site.call_line, load->site.library_line,
                              load->site.script_line};
    texts_of(&copy, texts);
    keel_buffer_append(out, load->subject.program->bytes, KEEL_DIGEST_SIZE);
    keel_buffer_append(out, load->subject.key->bytes, KEEL_DIGEST_SIZE);
    keel_buffer_append(out, lines, sizeof lines);
    for (int i = 0; i < TEXTS; ++i) {
        const char *text = *texts[i] ? *texts[i] : "";
        keel_buffer_append(out, text, strlen(text) + 1);
    }
    return keel_buffer_status(out);
}

static keel_status_t copy_load(repeats_t *repeats, const keel_journal_load_t *load, kind_t *out) {
    const char **texts[TEXTS];
    *out = (kind_t){*load, *load->subject.program, *load->subject.key, *load->options};
    out->sum.subject.program = &out->program;
    out->sum.subject.key = &out->key;
    out->sum.options = &out->options;
    texts_of(&out->sum, texts);
    for (int i = 0; i < TEXTS; ++i) {
        keel_str_t kept = {0};
        if (*texts[i]) KEEL_TRY(keel_arena_str(&repeats->arena, keel_str(*texts[i]), &kept));
        *texts[i] = kept.data;
    }
    out->sum.seconds = out->sum.overhead_seconds = out->sum.compile_seconds = 0;
    return NULL;
}

// `*out` is NULL if there is no room for another.
static keel_status_t find_kind(repeats_t *repeats, const keel_journal_load_t *load,
                               keel_bytes_t name, kind_t **out, bool *out_is_new) {
    const uint64_t *known = keel_map_find(&repeats->by_name, name);
    void *memory;
    *out = known ? (kind_t *)(uintptr_t)*known : NULL;
    *out_is_new = !known;
    if (known || repeats->count == REPEATS_KINDS) return NULL;
    KEEL_TRY(keel_arena_alloc(&repeats->arena, sizeof(kind_t), &memory));
    KEEL_TRY(copy_load(repeats, load, memory));
    KEEL_TRY(keel_map_put(&repeats->by_name, name, (uintptr_t)memory));
    *out = repeats->kinds[repeats->count++] = memory;
    return NULL;
}

static void add(kind_t *kind, const keel_journal_load_t *load) {
    kind->sum.seconds += load->seconds;
    kind->sum.overhead_seconds += load->overhead_seconds;
    kind->sum.compile_seconds += load->compile_seconds;
    ++kind->sum.times;
    kind->sum.step = load->step;
    kind->sum.leading = load->leading;
}

// ---- the calls ---------------------------------------------------------------------------------

static repeat_t meet(keel_engine_t *engine, const keel_journal_load_t *load, uint64_t before,
                     bool is_counted) {
    repeats_t *repeats = engine->repeats;
    bool is_one_of_few = before <= REPEATS_EXPLAINED, is_new = false;
    kind_t *kind = NULL;
    keel_buffer_t name;
    keel_buffer_initialize(&name, 0);
    keel_status_t status = make_name(load, &name);
    pthread_mutex_lock(&repeats->lock);
    if (!status) status = find_kind(repeats, load, keel_buffer_bytes(&name), &kind, &is_new);
    if (is_counted && kind && !is_new && !is_one_of_few) add(kind, load);
    pthread_mutex_unlock(&repeats->lock);
    keel_buffer_deinitialize(&name);
    keel_status_ignore(status); // without memory, they are written one by one
    if (is_one_of_few || (kind && is_new)) return REPEAT_EXPLAINED;
    return is_counted && kind ? REPEAT_COUNTED : REPEAT_WRITTEN;
}

repeat_t repeats_add(keel_engine_t *engine, const keel_journal_load_t *load, uint64_t before) {
    return meet(engine, load, before, true);
}

repeat_t repeats_compiled(keel_engine_t *engine, const keel_journal_subject_t *subject,
                          const keel_journal_site_t *site, uint64_t before) {
    static const keel_digest_t any;
    const keel_journal_load_t kind = {.subject = {&any, subject->name, subject->key},
                                      .tier = "compiled",
                                      .options = &any,
                                      .site = *site};
    return meet(engine, &kind, before, false);
}

bool repeats_are_pending(keel_engine_t *engine) {
    repeats_t *repeats = engine->repeats;
    bool are = false;
    pthread_mutex_lock(&repeats->lock);
    for (size_t i = 0; i < repeats->count && !are; ++i)
        are = repeats->kinds[i]->sum.times > 0;
    pthread_mutex_unlock(&repeats->lock);
    return are;
}

static keel_journal_load_t take(repeats_t *repeats, size_t index) {
    keel_journal_load_t taken = {0};
    pthread_mutex_lock(&repeats->lock);
    if (index < repeats->count) {
        keel_journal_load_t *sum = &repeats->kinds[index]->sum;
        taken = *sum;
        sum->seconds = sum->overhead_seconds = sum->compile_seconds = 0;
        sum->times = 0;
    }
    pthread_mutex_unlock(&repeats->lock);
    return taken;
}

void repeats_journal(keel_engine_t *engine) {
    for (size_t i = 0; i < REPEATS_KINDS; ++i) {
        keel_journal_load_t load = take(engine->repeats, i);
        if (!load.subject.program) return;
        if (load.times) keel_journal_load(engine->journal, &load);
    }
}
