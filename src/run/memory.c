#include "run/memory.h"

#include <stdlib.h>

#include "run/steps.h"

typedef struct context_t {
    keel_memory_reading_t *reading;
    const char *cwd;
    keel_texts_t *texts;
} context_t;

static keel_bytes_t text_bytes(const char *text) {
    return keel_str_bytes(keel_str(text));
}

// ---- events ------------------------------------------------------------------------------------

// Where a program was asked for; the memory event may come before or after.
static keel_status_t meet_request(const context_t *to, const json_t *event) {
    keel_memory_reading_t *reading = to->reading;
    const json_t *site = json_object_get(event, "site");
    const char *program = keel_event_text(event, "program");
    struct keel_memory_asker_t asker = {.ops = keel_event_count(event, "ops")};
    if (keel_map_find(&reading->asked, text_bytes(program)) ||
        reading->asker_count >= keel_limit(KEEL_LIMIT_REQUESTS))
        return NULL;
    KEEL_TRY(keel_texts_keep(to->texts, program, &asker.program));
    KEEL_TRY(keel_texts_keep(to->texts, keel_event_identity(event), &asker.identity));
    KEEL_TRY(keel_event_keep_field(to->texts, event, "name", &asker.name));
    KEEL_TRY(keel_event_place(to->texts, keel_event_text(site, "file"),
                              keel_event_line(site, "line"), to->cwd, &asker.shown));
    void *grown = reading->askers;
    KEEL_TRY(keel_realloc_array(reading->asker_count + 1, sizeof *reading->askers, &grown));
    reading->askers = grown;
    KEEL_TRY(keel_map_put(&reading->asked, text_bytes(program), reading->asker_count));
    reading->askers[reading->asker_count++] = asker;
    return NULL;
}

static keel_status_t note_most(keel_map_t *map, const char *program, uint64_t bytes) {
    uint64_t *known = keel_map_find(map, text_bytes(program));
    if (!known) return keel_map_put(map, text_bytes(program), bytes);
    if (bytes > *known) *known = bytes;
    return NULL;
}

static keel_status_t meet_living(const context_t *to, const json_t *event) {
    const char *program = keel_event_text(event, "program");
    KEEL_TRY(note_most(&to->reading->living, program, keel_event_count(event, "bytes")));
    return note_most(&to->reading->added, program, keel_event_count(event, "adds"));
}

static keel_status_t add_program(keel_memory_t *memory, keel_memory_program_t **out) {
    void *grown = memory->programs;
    KEEL_TRY(keel_realloc_array(memory->program_count + 1, sizeof *memory->programs, &grown));
    memory->programs = grown;
    *out = &memory->programs[memory->program_count++];
    **out = (keel_memory_program_t){.identity = "", .program = "", .name = "", .shown = ""};
    return NULL;
}

static keel_status_t find_program(const context_t *to, const json_t *event,
                                  keel_memory_program_t **out) {
    keel_memory_reading_t *reading = to->reading;
    keel_memory_t *memory = reading->memory;
    const char *identity = keel_event_identity(event);
    const uint64_t *found = keel_map_find(&reading->programs, text_bytes(identity));
    if (found) {
        *out = &memory->programs[*found];
        return NULL;
    }
    KEEL_TRY(add_program(memory, out));
    (*out)->is_known = true;
    KEEL_TRY(keel_texts_keep(to->texts, identity, &(*out)->identity));
    KEEL_TRY(keel_event_keep_field(to->texts, event, "program", &(*out)->program));
    KEEL_TRY(keel_event_keep_field(to->texts, event, "name", &(*out)->name));
    return keel_map_put(&reading->programs, text_bytes(identity), memory->program_count - 1);
}

static keel_status_t meet_memory(const context_t *to, const json_t *event) {
    keel_memory_program_t *program;
    bool is_full = to->reading->memory->program_count >= keel_limit(KEEL_LIMIT_REQUESTS);
    keel_bytes_t identity = text_bytes(keel_event_identity(event));
    if (is_full && !keel_map_find(&to->reading->programs, identity)) return NULL;
    KEEL_TRY(find_program(to, event, &program));
    program->arguments = keel_event_count(event, "arguments");
    program->outputs = keel_event_count(event, "outputs");
    program->aliased = keel_event_count(event, "aliased");
    program->temporaries = keel_event_count(event, "temporaries");
    program->code = keel_event_count(event, "code");
    program->total = keel_event_count(event, "total");
    program->host = keel_event_count(event, "host");
    program->peak = keel_event_count(event, "peak");
    return NULL;
}

static keel_status_t meet_device(const context_t *to, const json_t *event) {
    enum { DEVICES = 4096 };
    keel_memory_t *memory = to->reading->memory;
    const char *name = keel_event_text(event, "device");
    size_t at = 0;
    while (at < memory->device_count && strcmp(memory->devices[at].device, name) != 0)
        ++at;
    if (at == DEVICES) return NULL;
    if (at == memory->device_count) {
        void *grown = memory->devices;
        KEEL_TRY(keel_realloc_array(at + 1, sizeof *memory->devices, &grown));
        memory->devices = grown;
        memory->devices[at] = (keel_memory_device_t){.device = ""};
        KEEL_TRY(keel_event_keep_field(to->texts, event, "device", &memory->devices[at].device));
        KEEL_TRY(keel_event_keep_field(to->texts, event, "kind", &memory->devices[at].kind));
        ++memory->device_count;
    }
    keel_memory_device_t *device = &memory->devices[at];
    device->in_use = keel_event_count(event, "in_use");
    device->peak = keel_event_count(event, "peak");
    device->limit = keel_event_count(event, "limit");
    if (device->in_use > device->most) device->most = device->in_use;
    if (device->peak > device->most) device->most = device->peak;
    return NULL;
}

static keel_status_t meet_unknown(const context_t *to, const json_t *event) {
    keel_memory_t *memory = to->reading->memory;
    bool is_programs = strcmp(keel_event_text(event, "what"), "programs") == 0;
    const char **unknown = is_programs ? &memory->programs_unknown : &memory->devices_unknown;
    return **unknown ? NULL : keel_event_keep_field(to->texts, event, "message", unknown);
}

keel_status_t keel_memory_add(keel_memory_reading_t *reading, const json_t *event, const char *cwd,
                              keel_texts_t *texts) {
    static const struct {
        const char *name;
        keel_status_t (*meet)(const context_t *to, const json_t *event);
    } kinds[] = {
        {"compile", meet_request},      {"load", meet_request},           {"memory", meet_memory},
        {"device_memory", meet_device}, {"memory_unknown", meet_unknown}, {"living", meet_living},
    };
    const context_t to = {reading, cwd, texts};
    const char *kind = keel_event_text(event, "event");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kind, kinds[i].name) == 0) return kinds[i].meet(&to, event);
    return NULL;
}

// ---- all together ------------------------------------------------------------------------------

static int by_total(const void *a, const void *b) {
    const keel_memory_program_t *x = a, *y = b;
    if (x->most != y->most) return x->most < y->most ? 1 : -1;
    if (x->total != y->total) return x->total < y->total ? 1 : -1;
    return strcmp(x->identity, y->identity);
}

void keel_memory_begin(keel_memory_reading_t *reading, bool is_rehearsal, keel_memory_t *memory) {
    *memory = (keel_memory_t){.programs_unknown = "", .devices_unknown = ""};
    *reading = (keel_memory_reading_t){.memory = memory, .is_rehearsal = is_rehearsal};
    keel_map_initialize(&reading->programs);
    keel_map_initialize(&reading->asked);
    keel_map_initialize(&reading->living);
    keel_map_initialize(&reading->added);
}

// A journal that Keel did not write may have any numbers.
static uint64_t sum_of(uint64_t a, uint64_t b) {
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

// What lived when it began has its arguments, and the code of all programs stays loaded. A program
// that never ran is counted as if it were alone. Of one that was not compiled, `added` is what is
// known.
static void find_most(keel_memory_program_t *program, const uint64_t *living, const uint64_t *added,
                      uint64_t code) {
    program->has_run = living;
    program->living = living ? *living : 0;
    program->most = living ? *living : program->arguments;
    uint64_t fresh = program->outputs > program->aliased ? program->outputs - program->aliased : 0;
    if (!program->is_known && added) fresh = *added;
    program->most = sum_of(program->most, sum_of(fresh, program->temporaries));
    program->most = sum_of(program->most, living ? code : program->code);
}

// Programs that ran. Those with the key of another have its executable: what lived when they began
// counts for that. One that was not compiled has no sizes.
static keel_status_t add_living(keel_memory_reading_t *reading) {
    keel_memory_t *memory = reading->memory;
    for (size_t i = 0; i < reading->asker_count; ++i) {
        const struct keel_memory_asker_t *asker = &reading->askers[i];
        const uint64_t *bytes = keel_map_find(&reading->living, text_bytes(asker->program));
        const uint64_t *at = keel_map_find(&reading->programs, text_bytes(asker->identity));
        keel_memory_program_t *program;
        if (bytes && at) {
            KEEL_TRY(note_most(&reading->living, memory->programs[*at].program, *bytes));
        } else if (bytes) {
            KEEL_TRY(add_program(memory, &program));
            program->identity = asker->identity;
            program->program = asker->program;
            program->name = asker->name;
            KEEL_TRY(keel_map_put(&reading->programs, text_bytes(asker->identity),
                                  memory->program_count - 1));
        }
    }
    return NULL;
}

keel_status_t keel_memory_settle(keel_memory_reading_t *reading) {
    keel_memory_t *memory = reading->memory;
    uint64_t code = 0;
    if (reading->living.count) KEEL_TRY(add_living(reading));
    for (size_t i = 0; i < memory->program_count; ++i)
        code = sum_of(code, memory->programs[i].code);
    for (size_t i = 0; i < memory->program_count; ++i) {
        keel_memory_program_t *program = &memory->programs[i];
        keel_bytes_t name = text_bytes(program->program);
        const uint64_t *asker = keel_map_find(&reading->asked, name);
        if (asker) program->shown = reading->askers[*asker].shown;
        if (asker) program->ops = reading->askers[*asker].ops;
        if (reading->is_rehearsal)
            find_most(program, keel_map_find(&reading->living, name),
                      keel_map_find(&reading->added, name), code);
    }
    if (memory->program_count)
        qsort(memory->programs, memory->program_count, sizeof *memory->programs, by_total);
    return NULL;
}

void keel_memory_end(keel_memory_reading_t *reading) {
    keel_map_deinitialize(&reading->programs);
    keel_map_deinitialize(&reading->asked);
    keel_map_deinitialize(&reading->living);
    keel_map_deinitialize(&reading->added);
    keel_free(reading->askers);
}

void keel_memory_deinitialize(keel_memory_t *memory) {
    keel_free(memory->programs);
    keel_free(memory->devices);
    *memory = (keel_memory_t){0};
}

uint64_t keel_memory_limit(const keel_memory_t *memory) {
    uint64_t least = 0;
    for (size_t i = 0; i < memory->device_count; ++i) {
        uint64_t limit = memory->devices[i].limit;
        if (limit && (!least || limit < least)) least = limit;
    }
    return least;
}
