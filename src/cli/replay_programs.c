// The programs of a run, from its journal. The first pass finds them; the second one, what the
// journal says about each beside: the components of its key, the size of its executable, the memory
// that it takes.
#define _GNU_SOURCE
#include <jansson.h>
#include <stdio.h>

#include "cli/replay.h"
#include "journal/journal.h"

// ---- the client --------------------------------------------------------------------------------

static keel_status_t take_components(const json_t *event, keel_key_t *out) {
    for (unsigned i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        KEEL_TRY(cli_key_component(event, (keel_component_t)i, out));
    return NULL;
}

// The processor has as many devices as the client had: "4 x cpu".
static keel_status_t name_processor(const json_t *event, char out[32]) {
    const char *kinds = keel_event_text(json_object_get(event, "values"), "device kinds");
    unsigned count = 0;
    if (sscanf(kinds, "%u x", &count) != 1 || !count) count = 1;
    snprintf(out, 32, "cpu:%u", count);
    return NULL;
}

// The target is the one that is asked for, else that of the run.
static keel_status_t take_target(replay_t *replay, const json_t *event) {
    const char *platform = keel_event_text(json_object_get(event, "plugin"), "platform");
    const char *rehearsed = keel_event_text(json_object_get(event, "target"), "name");
    char name[32];
    const char *on = replay->on ? replay->on : *rehearsed ? rehearsed : name;
    if (!replay->on && !*rehearsed && strcmp(platform, "cpu") == 0)
        KEEL_TRY(name_processor(event, name));
    else if (!replay->on && !*rehearsed)
        return keel_status_make(
            KEEL_UNSUPPORTED,
            "the run was on devices of the platform %s; name them with --on, as "
            "in --on h200:8: its programs are compiled for them and not run",
            *platform ? platform : "of an unknown name");
    replay->has_target = true; // which is deinitialized after a failure too
    return keel_target_read(on, &replay->target);
}

static bool is_of_target(const replay_t *replay, const json_t *start) {
    const char *platform = keel_event_text(json_object_get(start, "plugin"), "platform");
    return strcmp(platform, keel_target_platform_names[replay->target.platform]) == 0;
}

static keel_status_t take_start(replay_t *replay, const json_t *event) {
    const json_t *plugin = json_object_get(event, "plugin");
    if (!replay->has_target) KEEL_TRY(take_target(replay, event));
    if (*replay->recorded_build || !is_of_target(replay, event)) return NULL;
    snprintf(replay->recorded_build, sizeof replay->recorded_build, "%s",
             keel_event_text(plugin, "build"));
    return take_components(event, &replay->recorded_key);
}

// ---- programs ----------------------------------------------------------------------------------

static keel_status_t kept_path(const replay_t *replay, const char *digest, const char *format,
                               char **out) {
    return keel_path(out, "%s/programs/%s.%s.zst",
                     keel_settings_text(&replay->settings, KEEL_SETTING_RUN_DIR), digest, format);
}

// Who asked for it first, as the run's reports show it.
static void set_names(const replay_t *replay, const json_t *event, replay_program_t *program) {
    const char *digest = keel_event_text(event, "program");
    const uint64_t *index = keel_map_find(&replay->shown, keel_str_bytes(keel_str(digest)));
    program->name = program->shown = program->digest = "";
    if (!index) return;
    const keel_run_program_t *of_run = &replay->run.programs[*index];
    program->name = of_run->name;
    program->shown = of_run->site.shown ? of_run->site.shown : "";
    program->digest = of_run->program;
}

static keel_status_t add_replayed(replay_t *replay, const json_t *event, replay_program_t **out) {
    void *memory = replay->programs;
    KEEL_TRY(keel_grow_array(replay->count, sizeof *replay->programs, &replay->room, &memory));
    replay->programs = memory;
    KEEL_TRY(keel_calloc(1, sizeof **out, &memory));
    replay_program_t *program = memory;
    replay->programs[replay->count++] = program;
    keel_key_initialize(&program->recorded);
    keel_key_initialize(&program->key);
    keel_explanation_initialize(&program->moved);
    set_names(replay, event, program);
    const char *digest = keel_event_text(event, "program");
    const char *options = keel_event_text(event, "options");
    program->is_hlo = strcmp(keel_event_text(event, "format"), "hlo") == 0;
    program->has_key = keel_event_digest(event, "key", &program->recorded_key);
    KEEL_TRY(kept_path(replay, digest, program->is_hlo ? "hlo" : "mlir", &program->path));
    if (*options) KEEL_TRY(kept_path(replay, options, "options", &program->options));
    *out = program;
    return NULL;
}

static keel_status_t find_replayed(replay_t *replay, const json_t *event, replay_program_t **out) {
    keel_buffer_t name;
    keel_buffer_initialize(&name, 0);
    keel_buffer_format(&name, "%s %s", keel_event_text(event, "program"),
                       keel_event_text(event, "options"));
    keel_status_t status = keel_buffer_status(&name);
    const uint64_t *index = status ? NULL : keel_map_find(&replay->known, keel_buffer_bytes(&name));
    if (index) {
        *out = replay->programs[*index];
    } else if (!status) {
        status = add_replayed(replay, event, out);
        if (!status)
            status = keel_map_put(&replay->known, keel_buffer_bytes(&name), replay->count - 1);
    }
    keel_buffer_deinitialize(&name);
    return status;
}

// The fastest of its compiles, since others may have waited for each other.
static void take_seconds(replay_program_t *program, double seconds) {
    replay_figures_t *figures = &program->figures[REPLAY_RUN_OWN];
    bool is_known = figures->is_known[REPLAY_TIME];
    if (seconds > 0 && (!is_known || seconds < figures->value[REPLAY_TIME]))
        replay_figure(figures, REPLAY_TIME, seconds);
}

static keel_status_t take_request(replay_t *replay, const json_t *event, bool is_load) {
    replay_program_t *program;
    if (!*keel_event_text(event, "program")) return NULL;
    KEEL_TRY(find_replayed(replay, event, &program));
    ++program->asked;
    // What a rehearsal's client waited says nothing about the compiler.
    if (*keel_event_text(event, "rehearsed")) return NULL;
    take_seconds(program, keel_event_number(event, is_load ? "compile_seconds" : "seconds"));
    uint64_t bytes = is_load ? keel_event_count(event, "payload_bytes") : 0;
    if (bytes) replay_figure(&program->figures[REPLAY_RUN_OWN], REPLAY_CODE, (double)bytes);
    return NULL;
}

static keel_status_t take_event(void *context, const json_t *event) {
    replay_t *replay = context;
    const char *kind = keel_event_text(event, "event");
    if (strcmp(kind, "start") == 0) KEEL_TRY(take_start(replay, event));
    if (!replay->has_target) return NULL;
    KEEL_TRY(cli_recorded_add(&replay->recorded, event,
                              keel_target_platform_names[replay->target.platform]));
    bool is_load = strcmp(kind, "load") == 0;
    return is_load || strcmp(kind, "compile") == 0 ? take_request(replay, event, is_load) : NULL;
}

// ---- what the journal says beside --------------------------------------------------------------

static keel_status_t take_more(replay_program_t *program, const json_t *event, const char *kind) {
    replay_figures_t *figures = &program->figures[REPLAY_RUN_OWN];
    bool is_compiled = strcmp(kind, "compiled") == 0;
    if (strcmp(kind, "miss") == 0 && !program->has_components) {
        program->has_components = true;
        return take_components(event, &program->recorded);
    }
    if (strcmp(kind, "memory") == 0)
        replay_figure(figures, REPLAY_MEMORY, (double)keel_event_count(event, "total"));
    if (is_compiled) take_seconds(program, keel_event_number(event, "seconds"));
    uint64_t bytes =
        is_compiled || strcmp(kind, "publish") == 0 ? keel_event_count(event, "payload_bytes") : 0;
    if (bytes) replay_figure(figures, REPLAY_CODE, (double)bytes);
    return NULL;
}

static keel_status_t add_to_program(void *context, const json_t *event) {
    static const char *const kinds[] = {"miss", "publish", "memory", "compiled", NULL};
    replay_t *replay = context;
    const char *kind = keel_event_text(event, "event");
    keel_digest_t key;
    if (!keel_str_is_one_of(keel_str(kind), kinds)) return NULL;
    bool has_key = keel_event_digest(event, "key", &key);
    const char *digest = keel_event_text(event, "program");
    for (size_t i = 0; i < replay->count; ++i) {
        replay_program_t *program = replay->programs[i];
        bool is_it = has_key && program->has_key ? keel_digest_equal(&key, &program->recorded_key)
                                                 : *digest && strcmp(program->digest, digest) == 0;
        if (is_it) KEEL_TRY(take_more(program, event, kind));
    }
    return NULL;
}

// ---- all of it ---------------------------------------------------------------------------------

static keel_status_t index_shown(replay_t *replay) {
    for (size_t i = replay->run.program_count; i-- > 0;)
        KEEL_TRY(keel_map_put(&replay->shown,
                              keel_str_bytes(keel_str(replay->run.programs[i].program)), i));
    return NULL;
}

keel_status_t replay_programs_read(replay_t *replay) {
    KEEL_TRY(index_shown(replay));
    KEEL_TRY(keel_run_visit(&replay->run, take_event, replay));
    if (!replay->count)
        return keel_status_make(
            KEEL_NOT_FOUND, "run %s has no programs; `keel runs` lists all runs", replay->run.id);
    return keel_run_visit(&replay->run, add_to_program, replay);
}

static void release(replay_program_t *program) {
    keel_free(program->path);
    keel_free(program->options);
    keel_free(program->why);
    keel_free(program->why_not_run);
    keel_key_deinitialize(&program->recorded);
    keel_key_deinitialize(&program->key);
    keel_explanation_deinitialize(&program->moved);
    keel_free(program);
}

void replay_programs_release(replay_t *replay) {
    for (size_t i = 0; i < replay->count; ++i)
        release(replay->programs[i]);
    keel_free((void *)replay->programs);
    replay->programs = NULL;
    replay->count = 0;
}
