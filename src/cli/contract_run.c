// What a run asked for, from its journal: fingerprints, arguments, costs.
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/contract.h"
#include "journal/journal.h"
#include "read/read.h"

typedef struct reading_t {
    contract_run_t *run;
    const char *run_dir;
    size_t capacity;
    keel_map_t clients;   // "pid number" -> components
    keel_map_t values;    // component and digest -> text
    keel_map_t known;     // key -> program, from 0
    keel_map_t memory;    // key -> bytes
    keel_map_t compiled;  // key -> microseconds, in a rehearsal
    keel_map_t requests;  // key -> 0: all that were asked for
    keel_map_t processes; // pid -> number
} reading_t;

static keel_status_t keep(reading_t *reading, const char *text, const char **out) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(&reading->run->arena, keel_str(text), &kept));
    *out = kept.data;
    return NULL;
}

static keel_str_t name_of_client(const json_t *event, char out[64]) {
    int size = snprintf(out, 64, "%" PRId64 " %" PRIu64,
                        (int64_t)json_integer_value(json_object_get(event, "pid")),
                        keel_event_count(event, "client"));
    return (keel_str_t){out, (size_t)size};
}

// ---- keys --------------------------------------------------------------------------------------

typedef struct value_name_t {
    uint64_t component;
    keel_digest_t digest;
} value_name_t;

static keel_status_t read_components(reading_t *reading, const json_t *event, keel_key_t *key) {
    const json_t *digests = json_object_get(event, "components"),
                 *values = json_object_get(event, "values");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        const char *name = keel_component_name((keel_component_t)i), *kept;
        keel_event_digest(digests, name, &key->components[i]);
        const value_name_t value = {(uint64_t)i, key->components[i]};
        if (*keel_event_text(values, name)) {
            KEEL_TRY(keep(reading, keel_event_text(values, name), &kept));
            KEEL_TRY(keel_map_put(&reading->values, keel_bytes(&value, sizeof value),
                                  (uint64_t)(uintptr_t)kept));
        }
        const uint64_t *found = keel_map_find(&reading->values, keel_bytes(&value, sizeof value));
        key->values[i] = found ? (char *)(uintptr_t)*found : NULL;
    }
    return NULL;
}

// ---- what the run is ---------------------------------------------------------------------------

// One line that is safe to show, cut.
static keel_status_t keep_line(reading_t *reading, const char *text, keel_str_t *out) {
    enum { LONGEST = 120 };
    char line[LONGEST];
    size_t size = 0, length;
    keel_str_t whole = {text, strcspn(text, "\n")};
    for (size_t i = 0; i < whole.size; i += length) {
        bool shows = keel_utf8_shows(whole, i, &length);
        keel_str_t one = shows ? (keel_str_t){whole.data + i, length} : KEEL_STR("?");
        if (size + one.size > LONGEST) break;
        memcpy(line + size, one.data, one.size);
        size += one.size;
    }
    return keel_arena_str(&reading->run->arena, (keel_str_t){line, size}, out);
}

static keel_status_t read_start(reading_t *reading, const json_t *event) {
    contract_run_t *run = reading->run;
    void *memory;
    char name[64], plugin[512];
    KEEL_TRY(keel_arena_alloc(&run->arena, sizeof(keel_key_t), &memory));
    keel_key_t *key = memory;
    *key = (keel_key_t){0};
    KEEL_TRY(read_components(reading, event, key));
    KEEL_TRY(keel_map_put(&reading->clients, keel_str_bytes(name_of_client(event, name)),
                          (uint64_t)(uintptr_t)key));
    if (run->plugin.size) return NULL; // the first process describes the run
    const json_t *facts = json_object_get(event, "plugin");
    const char *platform = keel_event_text(facts, "platform"),
               *version = keel_event_text(facts, "version");
    bool says_more = strcmp(platform, version) != 0 && *version;
    snprintf(plugin, sizeof plugin, "%s%s%s", platform, says_more ? " " : "",
             says_more ? version : "");
    KEEL_TRY(keep_line(reading, plugin, &run->plugin));
    const char *profile = keel_event_text(json_object_get(event, "flags"), "KEEL_PROFILE");
    KEEL_TRY(keep_line(reading, *profile ? profile : "none", &run->profile));
    const char *devices = key->values[KEEL_COMPONENT_DEVICE_KINDS];
    return keep_line(reading, devices ? devices : "", &run->devices);
}

static keel_status_t read_bundle(reading_t *reading, const json_t *event) {
    keel_buffer_t text;
    const char *name;
    json_t *version;
    if (reading->run->client.size) return NULL;
    keel_buffer_initialize(&text, 0);
    json_object_foreach(json_object_get(json_object_get(event, "bundle"), "clients"), name, version)
        keel_buffer_format(&text, "%s%s %s", text.size ? ", " : "", name,
                           json_string_value(version) ? json_string_value(version) : "");
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keep_line(reading, keel_buffer_cstr(&text), &reading->run->client);
    keel_buffer_deinitialize(&text);
    return status;
}

// ---- programs ----------------------------------------------------------------------------------

// A program whose bytes are not kept is listed without arguments.
static keel_status_t read_arguments(reading_t *reading, const char *digest, const char *names,
                                    keel_contract_asked_t *asked) {
    char *path;
    uint8_t *data;
    size_t size;
    keel_program_t program;
    keel_status_t status = keel_journal_find_program(reading->run_dir, digest, &path);
    if (status) {
        keel_status_ignore(status);
        return NULL;
    }
    status = keel_journal_read_program(path, &data, &size);
    keel_free(path);
    KEEL_TRY(status);
    status = keel_read(keel_bytes(data, size), &program);
    if (!status) {
        status = keel_contract_ask(&program, names, &reading->run->arena, asked);
        keel_program_deinitialize(&program);
    }
    keel_free(data);
    return keel_status_annotate(status, "program %.16s", digest);
}

static keel_status_t name_program(reading_t *reading, const json_t *event,
                                  keel_contract_asked_t *asked) {
    const json_t *site = json_object_get(event, "site");
    const char *name;
    KEEL_TRY(keep(reading, keel_event_text(event, "name"), &name));
    asked->name = keel_str(*name ? name : "unnamed");
    return keel_contract_function(
        keel_str(keel_event_text(event, "origin")), keel_str(keel_event_text(site, "function")),
        keel_str(keel_event_text(site, "file")), &reading->run->arena, &asked->function);
}

static keel_status_t process_of(reading_t *reading, const json_t *event, uint32_t *out) {
    const int64_t pid = (int64_t)json_integer_value(json_object_get(event, "pid"));
    const uint64_t *known = keel_map_find(&reading->processes, keel_bytes(&pid, sizeof pid));
    *out = known ? (uint32_t)*known : reading->run->process_count;
    if (known) return NULL;
    KEEL_TRY(keel_map_put(&reading->processes, keel_bytes(&pid, sizeof pid), *out));
    ++reading->run->process_count;
    return NULL;
}

static keel_status_t note_process(reading_t *reading, const json_t *event,
                                  contract_program_t *program) {
    uint32_t process;
    void *grown = program->processes;
    KEEL_TRY(process_of(reading, event, &process));
    for (size_t i = program->process_count; i-- > 0;)
        if (program->processes[i] == process) return NULL;
    KEEL_TRY(keel_grow_array(program->process_count, sizeof process, &program->process_capacity,
                             &grown));
    program->processes = grown;
    program->processes[program->process_count++] = process;
    return NULL;
}

static keel_status_t read_ask(reading_t *reading, const json_t *event) {
    contract_run_t *run = reading->run;
    char client[64];
    const char *hex = keel_event_text(event, "key");
    keel_key_t key = {.components = {{{0}}}};
    const uint64_t *known = keel_map_find(&reading->known, keel_str_bytes(keel_str(hex)));
    const uint64_t *backend =
        keel_map_find(&reading->clients, keel_str_bytes(name_of_client(event, client)));
    if (backend)
        memcpy(key.components, ((const keel_key_t *)(uintptr_t)*backend)->components,
               sizeof key.components);
    KEEL_TRY(read_components(reading, event, &key));
    if (known) return note_process(reading, event, &run->programs[*known]);
    if (!*hex) return NULL;
    void *grown = run->programs;
    KEEL_TRY(keel_grow_array(run->count, sizeof *run->programs, &reading->capacity, &grown));
    run->programs = grown;
    contract_program_t *program = &run->programs[run->count];
    *program = (contract_program_t){.key = ""};
    KEEL_TRY(keep(reading, hex, &program->key));
    KEEL_TRY(keep(reading, keel_event_text(event, "program"), &program->program));
    KEEL_TRY(name_program(reading, event, &program->asked));
    program->asked.fingerprint = keel_fingerprint_of_program(&key);
    program->asked.options = keel_fingerprint_of_options(&key);
    program->asked.machine = keel_fingerprint_of_machine(&key);
    program->asked.placement = keel_fingerprint_of_placement(&key);
    program->asked.seconds = keel_event_number(event, "compile_seconds");
    if (*keel_event_text(event, "elsewhere"))
        KEEL_TRY(keep(reading, keel_event_text(event, "elsewhere"), &program->asked.elsewhere));
    KEEL_TRY(read_arguments(reading, program->program, keel_event_text(event, "names"),
                            &program->asked));
    KEEL_TRY(keel_map_put(&reading->known, keel_str_bytes(keel_str(hex)), run->count++));
    return note_process(reading, event, program);
}

static keel_status_t note(keel_map_t *map, const json_t *event, uint64_t value) {
    keel_bytes_t key = keel_str_bytes(keel_str(keel_event_text(event, "key")));
    return key.size && !keel_map_find(map, key) ? keel_map_put(map, key, value) : NULL;
}

static keel_status_t add_gap(reading_t *reading, const char *why) {
    return reading->run->gaps++ ? NULL : keep(reading, why, &reading->run->gap);
}

static keel_status_t read_fallback(reading_t *reading, const json_t *event) {
    const char *what = keel_event_text(event, "what");
    bool is_gap = strcmp(what, KEEL_JOURNAL_UNSEEN) == 0 || strcmp(what, KEEL_JOURNAL_LOST) == 0;
    return is_gap ? add_gap(reading, keel_event_text(event, "message")) : NULL;
}

// That events are lost may not be in the journal itself, which could not be written.
static keel_status_t look_for_loss(reading_t *reading, const char *id) {
    char *path;
    KEEL_TRY(keel_journal_lost_path(reading->run_dir, id, &path));
    bool is_there = access(path, F_OK) == 0;
    keel_free(path);
    return is_there && !reading->run->gaps ? add_gap(reading, "its journal could not be written")
                                           : NULL;
}

static keel_status_t read_event(void *context, const json_t *event) {
    reading_t *reading = context;
    const char *kind = keel_event_text(event, "event");
    if (strcmp(kind, "start") == 0) return read_start(reading, event);
    if (strcmp(kind, "bundle") == 0) return read_bundle(reading, event);
    if (strcmp(kind, "ask") == 0) return read_ask(reading, event);
    if (strcmp(kind, "memory") == 0)
        return note(&reading->memory, event, keel_event_count(event, "total"));
    if (strcmp(kind, "compiled") == 0)
        return note(&reading->compiled, event,
                    (uint64_t)(keel_event_number(event, "seconds") * 1e6));
    if (strcmp(kind, "compile") == 0 || strcmp(kind, "load") == 0)
        return note(&reading->requests, event, 0);
    if (strcmp(kind, "fallback") == 0) return read_fallback(reading, event);
    return NULL;
}

// ---- what the model of the run says about them -------------------------------------------------

static contract_program_t *find_program(const reading_t *reading, const char *key) {
    const uint64_t *at = keel_map_find(&reading->known, keel_str_bytes(keel_str(key)));
    return at ? &reading->run->programs[*at] : NULL;
}

static void take_figures(const reading_t *reading, contract_program_t *program) {
    keel_bytes_t key = keel_str_bytes(keel_str(program->key));
    const uint64_t *memory = keel_map_find(&reading->memory, key),
                   *took = keel_map_find(&reading->compiled, key);
    program->asked.memory = memory ? *memory : 0;
    bool is_rehearsal = *reading->run->why.run.rehearsal.target.name;
    if (is_rehearsal) program->asked.seconds = took ? (double)*took / 1e6 : 0;
}

// The explanation that says most: a recompile's, else any with a cause.
static bool says_more(const keel_why_entry_t *entry, const keel_why_entry_t *known) {
    if (!known) return true;
    if (entry->recompile != known->recompile) return entry->recompile;
    return entry->root_count && !known->root_count;
}

static keel_status_t join(reading_t *reading) {
    contract_run_t *run = reading->run;
    const keel_run_t *model = &run->why.run;
    keel_map_t digests; // of the first program with these bytes
    keel_map_initialize(&digests);
    keel_status_t status = NULL;
    for (size_t i = 0; i < run->count && !status; ++i) {
        take_figures(reading, &run->programs[i]);
        keel_bytes_t digest = keel_str_bytes(keel_str(run->programs[i].program));
        if (!keel_map_find(&digests, digest)) status = keel_map_put(&digests, digest, i);
    }
    for (size_t i = 0; i < model->request_count && !status; ++i) {
        const keel_run_request_t *request = &model->requests[i];
        const uint64_t *at = keel_map_find(&digests, keel_str_bytes(keel_str(request->program)));
        if (!at && !run->first_unread) run->first_unread = request;
        if (!at || run->programs[*at].request) continue;
        run->programs[*at].request = request;
        run->programs[*at].is_operation = request->operation != SIZE_MAX;
    }
    for (size_t i = 0; i < run->why.entry_count && !status; ++i) {
        const keel_why_entry_t *entry = &run->why.entries[i];
        contract_program_t *program = find_program(reading, entry->asked->key);
        if (program && says_more(entry, program->entry)) program->entry = entry;
        if (program) program->is_operation = program->is_operation || entry->asked->is_eager;
    }
    keel_map_deinitialize(&digests);
    return status;
}

static uint64_t count_unread(const reading_t *reading) {
    uint64_t unread = 0;
    for (const keel_map_slot_t *slot = NULL; (slot = keel_map_next(&reading->requests, slot));)
        unread += !keel_map_find(&reading->known, slot->key);
    return unread;
}

static keel_status_t read_run(reading_t *reading, const char *id) {
    keel_journal_damage_t damage;
    KEEL_TRY(keel_why_read(reading->run_dir, id, 0, &reading->run->why));
    keel_status_t status =
        keel_journal_scan(&reading->run->why.run.source, NULL, read_event, reading, &damage);
    if (!status) status = look_for_loss(reading, id);
    if (!status) status = join(reading);
    reading->run->unread = count_unread(reading);
    if (status) keel_why_deinitialize(&reading->run->why);
    return status;
}

static void free_programs(contract_run_t *run) {
    for (size_t i = 0; i < run->count; ++i)
        keel_free(run->programs[i].processes);
    keel_free(run->programs);
    keel_arena_deinitialize(&run->arena);
}

keel_status_t contract_run_read(const char *run_dir, const char *id, contract_run_t *out) {
    reading_t reading = {.run = out, .run_dir = run_dir};
    keel_map_t *const maps[] = {&reading.clients,  &reading.values,   &reading.known,
                                &reading.memory,   &reading.compiled, &reading.requests,
                                &reading.processes};
    *out = (contract_run_t){.client = KEEL_STR(""), .gap = ""};
    keel_arena_initialize(&out->arena, 0);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; ++i)
        keel_map_initialize(maps[i]);
    cli_analyze(run_dir, id);
    keel_status_t status = read_run(&reading, id);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; ++i)
        keel_map_deinitialize(maps[i]);
    if (status) free_programs(out);
    return status;
}

void contract_run_deinitialize(contract_run_t *run) {
    keel_why_deinitialize(&run->why);
    free_programs(run);
}

const keel_run_difference_t *contract_cause(const keel_why_entry_t *entry) {
    const keel_run_difference_t *root = entry ? keel_why_cause(entry) : NULL;
    bool says = root && root->kind != KEEL_CAUSE_FIRST && root->kind != KEEL_CAUSE_CACHE &&
                root->kind != KEEL_CAUSE_RETRACE;
    return says ? root : NULL;
}

// ---- a contract of it --------------------------------------------------------------------------

keel_status_t contract_add_program(keel_contract_t *contract, const contract_program_t *program) {
    keel_contract_asked_t asked = program->asked;
    for (size_t i = 0; i < program->process_count; ++i) {
        asked.process = program->processes[i];
        KEEL_TRY(keel_contract_add(contract, &asked));
    }
    return NULL;
}

static keel_status_t fill(const contract_run_t *run, const keel_contract_t *older,
                          keel_contract_t *contract) {
    for (size_t i = 0; i < run->count; ++i)
        if (!run->programs[i].is_operation || contract->operations)
            KEEL_TRY(contract_add_program(contract, &run->programs[i]));
    contract->settled = run->why.run.settled_at_step;
    KEEL_TRY(keel_arena_str(&contract->arena, run->client, &contract->client));
    KEEL_TRY(keel_arena_str(&contract->arena, run->plugin, &contract->plugin));
    KEEL_TRY(keel_arena_str(&contract->arena, run->devices, &contract->devices));
    if (run->profile.size)
        KEEL_TRY(keel_arena_str(&contract->arena, run->profile, &contract->profile));
    return keel_contract_settle(contract, older);
}

keel_status_t contract_of_run(const contract_run_t *run, const contract_lists_t *lists,
                              const keel_contract_t *older, keel_contract_t *out) {
    keel_contract_initialize(out);
    out->operations = lists->operations;
    out->machine = lists->machine;
    keel_status_t status = fill(run, older, out);
    if (status) keel_contract_deinitialize(out);
    return status;
}
