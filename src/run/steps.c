#include "run/steps.h"

#include "host/host.h"

// ---- fields ------------------------------------------------------------------------------------

keel_status_t keel_event_keep_field(keel_texts_t *texts, const json_t *object, const char *name,
                                    const char **out) {
    return keel_texts_keep(texts, keel_event_text(object, name), out);
}

keel_status_t keel_event_joined(keel_texts_t *texts, const json_t *list, const char **out) {
    keel_buffer_t line;
    keel_buffer_initialize(&line, 1 << 20);
    size_t index;
    json_t *word;
    json_array_foreach(list, index, word) {
        const char *text = json_string_value(word);
        keel_buffer_text(&line, index ? " " : "");
        keel_buffer_text(&line, text ? text : "?");
    }
    keel_status_t status = keel_buffer_status(&line);
    if (!status) status = keel_texts_keep(texts, keel_buffer_cstr(&line), out);
    keel_buffer_deinitialize(&line);
    return status;
}

const char *keel_run_relative(const char *file, const char *folder) {
    size_t length = strlen(folder);
    bool below = length > 1 && strncmp(file, folder, length) == 0 && file[length] == '/';
    return below ? file + length + 1 : file;
}

keel_status_t keel_event_place(keel_texts_t *texts, const char *file, uint32_t line,
                               const char *folder, const char **out) {
    const char *shown = keel_library_shown(file);
    if (shown == file) shown = keel_run_relative(file, folder);
    keel_buffer_t text;
    *out = "";
    if (!*file) return NULL;
    if (!line) return keel_texts_keep(texts, shown, out);
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, shown);
    keel_buffer_format(&text, ":%u", line);
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keel_texts_keep(texts, keel_buffer_cstr(&text), out);
    keel_buffer_deinitialize(&text);
    return status;
}

keel_status_t keel_event_site(keel_texts_t *texts, const json_t *site, const char *folder,
                              keel_run_place_t *out) {
    out->line = keel_event_line(site, "line");
    out->call_line = keel_event_line(site, "call_line");
    out->library_line = keel_event_line(site, "library_line");
    out->script_line = keel_event_line(site, "script_line");
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "file"), &out->file));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "function"), &out->function));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "call_file"), &out->call_file));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "library_file"), &out->library_file));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "scope"), &out->scope));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "application"), &out->application));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(site, "script_file"), &out->script_file));
    KEEL_TRY(
        keel_event_place(texts, out->script_file, out->script_line, folder, &out->script_shown));
    KEEL_TRY(
        keel_event_place(texts, out->library_file, out->library_line, folder, &out->library_shown));
    KEEL_TRY(keel_event_place(texts, out->file, out->line, folder, &out->shown));
    return keel_event_place(texts, out->call_file, out->call_line, folder, &out->call_shown);
}

// ---- programs and families ---------------------------------------------------------------------

static bool is_request(const json_t *event) {
    const char *kind = keel_event_text(event, "event");
    return strcmp(kind, "compile") == 0 || strcmp(kind, "load") == 0;
}

static keel_bytes_t name_bytes(const char *name) {
    return keel_str_bytes(keel_str(name));
}

static keel_status_t find_family(keel_steps_t *steps, keel_bytes_t name, size_t *out) {
    const uint64_t *known = keel_map_find(&steps->by_name, name);
    if (known) {
        *out = (size_t)*known;
        return NULL;
    }
    void *grown = steps->families;
    KEEL_TRY(keel_realloc_array(steps->family_count + 1, sizeof *steps->families, &grown));
    steps->families = grown;
    steps->families[steps->family_count] = (struct keel_steps_family_t){0};
    *out = steps->family_count++;
    return keel_map_put(&steps->by_name, name, *out);
}

static bool is_recorded(const json_t *event) {
    return strcmp(keel_event_text(event, "format"), "hlo") == 0;
}

// A client that compiles what it recorded gives all programs one name; the line that asked tells
// them apart.
static keel_status_t family_of(keel_steps_t *steps, const json_t *event, size_t *out) {
    keel_buffer_t name;
    keel_buffer_initialize(&name, 0);
    keel_buffer_text(&name, keel_event_text(event, "name"));
    if (is_recorded(event)) {
        const json_t *site = json_object_get(event, "site");
        keel_buffer_format(&name, "\n%u ", keel_event_line(site, "line"));
        keel_buffer_text(&name, keel_event_text(site, "file"));
    }
    keel_status_t status = keel_buffer_status(&name);
    if (!status) status = find_family(steps, keel_buffer_bytes(&name), out);
    keel_buffer_deinitialize(&name);
    return status;
}

static bool is_eager_event(const json_t *event) {
    return json_is_true(json_object_get(event, "eager"));
}

bool keel_event_compiled(const json_t *explain) {
    return strcmp(keel_event_text(explain, "what"), "compile") == 0 ||
           *keel_event_text(explain, "miss");
}

const char *keel_event_identity(const json_t *event) {
    const char *key = keel_event_text(event, "key");
    return *key ? key : keel_event_text(event, "program");
}

static keel_status_t add_program(keel_steps_t *steps, const json_t *event) {
    void *grown = steps->programs;
    KEEL_TRY(keel_realloc_array(steps->program_count + 1, sizeof *steps->programs, &grown));
    steps->programs = grown;
    keel_steps_program_t *program = &steps->programs[steps->program_count];
    *program = (keel_steps_program_t){.ops = keel_event_count(event, "ops"),
                                      .is_eager = is_eager_event(event)};
    KEEL_TRY(keel_texts_keep(&steps->texts, keel_event_identity(event), &program->identity));
    KEEL_TRY(keel_event_keep_field(&steps->texts, event, "program", &program->digest));
    KEEL_TRY(keel_event_keep_field(&steps->texts, event, "name", &program->name));
    KEEL_TRY(family_of(steps, event, &program->family));
    steps->families[program->family].is_eager |= program->is_eager;
    steps->families[program->family].is_recorded |= is_recorded(event);
    steps->families[program->family].has_gradient |=
        json_is_true(json_object_get(event, "gradient"));
    return keel_map_put(&steps->by_identity, name_bytes(program->identity), steps->program_count++);
}

const char *keel_steps_name(const keel_steps_t *steps, const char *digest) {
    const uint64_t *index = keel_map_find(&steps->by_program, name_bytes(digest));
    return index ? steps->programs[*index].name : "";
}

// ---- executions --------------------------------------------------------------------------------

// A process, and a number of its own or the index of a program or family.
typedef struct pair_t {
    int64_t pid;
    uint64_t number;
} pair_t;

static keel_bytes_t pair_bytes(const pair_t *pair) {
    return keel_bytes(pair, sizeof *pair);
}

static int64_t pid_of(const json_t *event) {
    return json_integer_value(json_object_get(event, "pid"));
}

keel_steps_program_t *keel_steps_counted(const keel_steps_t *steps, const json_t *event,
                                         const keel_counted_t *counted) {
    const pair_t pair = {pid_of(event), counted->number};
    const uint64_t *index = counted->digest
                                ? keel_map_find(&steps->by_program, name_bytes(counted->digest))
                                : keel_map_find(&steps->by_number, pair_bytes(&pair));
    return index ? &steps->programs[*index] : NULL;
}

// A later process may have the number of an earlier one, so both passes do this in order.
static keel_status_t meet_number(keel_steps_t *steps, const json_t *event, size_t program) {
    const pair_t pair = {pid_of(event), keel_event_program_number(event)};
    if (!pair.number || program == SIZE_MAX) return NULL;
    return keel_map_put(&steps->by_number, pair_bytes(&pair), program);
}

static const keel_steps_use_t *find_use(const keel_steps_t *steps, const char *digest,
                                        int64_t pid) {
    const uint64_t *program = keel_map_find(&steps->by_program, name_bytes(digest));
    const pair_t pair = {pid, program ? *program : UINT64_MAX};
    const uint64_t *use = keel_map_find(&steps->use_of, pair_bytes(&pair));
    return use ? &steps->uses[*use] : NULL;
}

static keel_status_t use_of(keel_steps_t *steps, int64_t pid, size_t program,
                            keel_steps_use_t **out) {
    const pair_t pair = {pid, program};
    const uint64_t *known = keel_map_find(&steps->use_of, pair_bytes(&pair));
    size_t at = known ? (size_t)*known : steps->use_count;
    if (!known) {
        void *grown = steps->uses;
        KEEL_TRY(keel_grow_array(at, sizeof *steps->uses, &steps->use_room, &grown));
        steps->uses = grown;
        steps->uses[at] = (keel_steps_use_t){0};
        KEEL_TRY(keel_map_put(&steps->use_of, pair_bytes(&pair), at));
        ++steps->use_count;
    }
    *out = &steps->uses[at];
    return NULL;
}

static uint64_t family_executes(const keel_steps_t *steps, int64_t pid, size_t family) {
    const pair_t pair = {pid, family};
    const uint64_t *sum = keel_map_find(&steps->family_of, pair_bytes(&pair));
    return sum ? *sum : 0;
}

static keel_status_t note_run(keel_steps_t *steps, int64_t pid, const keel_steps_program_t *program,
                              uint64_t times) {
    keel_steps_use_t *use;
    const pair_t family = {pid, program->family};
    KEEL_TRY(use_of(steps, pid, (size_t)(program - steps->programs), &use));
    use->ran = steps->event;
    return keel_map_add(&steps->family_of, pair_bytes(&family), times);
}

// After the event's own counts, which came before it.
static keel_status_t note_asked(keel_steps_t *steps, const json_t *event) {
    const uint64_t *program =
        keel_map_find(&steps->by_program, name_bytes(keel_event_text(event, "program")));
    keel_steps_use_t *use;
    if (!program) return NULL;
    KEEL_TRY(use_of(steps, pid_of(event), (size_t)*program, &use));
    if (use->asked) return NULL;
    use->asked = steps->event;
    const pair_t family = {pid_of(event), steps->programs[*program].family};
    const uint64_t *others = keel_map_find(&steps->asked_of, pair_bytes(&family));
    use->others = others ? *others : 0;
    KEEL_TRY(keel_map_add(&steps->asked_of, pair_bytes(&family), 1));
    use->is_partial = json_object_get(event, "leading") != NULL;
    use->before = family_executes(steps, pid_of(event), steps->programs[*program].family);
    return NULL;
}

// A load of what the process asked for before: nothing new, wherever it came from. Large programs
// are not kept in memory.
static bool is_repeated(const keel_steps_t *steps, const json_t *event) {
    const keel_steps_use_t *use = find_use(steps, keel_event_text(event, "program"), pid_of(event));
    return strcmp(keel_event_text(event, "event"), "load") == 0 && use && use->asked;
}

bool keel_steps_runs_behind(const keel_steps_t *steps, const char *digest, const char *other,
                            int64_t pid) {
    const keel_steps_use_t *use = find_use(steps, digest, pid),
                           *asked = find_use(steps, other, pid);
    return use && asked && asked->asked && use->ran > asked->asked;
}

bool keel_steps_goes_on(const keel_steps_t *steps, const char *digest, int64_t pid) {
    const uint64_t *program = keel_map_find(&steps->by_program, name_bytes(digest));
    const keel_steps_use_t *use = find_use(steps, digest, pid);
    if (!program || !use || !use->asked) return false;
    return family_executes(steps, pid, steps->programs[*program].family) > use->before + 1;
}

keel_run_uses_t keel_steps_uses(const keel_steps_t *steps, const char *digest, int64_t pid) {
    const uint64_t *program = keel_map_find(&steps->by_program, name_bytes(digest));
    const keel_steps_use_t *use = find_use(steps, digest, pid);
    if (!program || !use || !use->asked) return (keel_run_uses_t){.before = UINT64_MAX};
    size_t family = steps->programs[*program].family;
    return (keel_run_uses_t){.before = use->is_partial ? UINT64_MAX : use->before,
                             .others = use->others,
                             .has_gradient = steps->families[family].has_gradient};
}

bool keel_steps_is_rehearsed(const keel_steps_t *steps, int64_t pid) {
    json_int_t number = pid;
    const uint64_t *known = keel_map_find(&steps->by_pid, keel_bytes(&number, sizeof number));
    return known && steps->processes[*known].is_rehearsal;
}

size_t keel_steps_program(const keel_steps_t *steps, const json_t *event) {
    const uint64_t *index =
        keel_map_find(&steps->by_identity, name_bytes(keel_event_identity(event)));
    return index ? (size_t)*index : SIZE_MAX;
}

static keel_status_t meet_program(keel_steps_t *steps, const json_t *event) {
    if (!is_request(event)) return NULL;
    size_t index = keel_steps_program(steps, event);
    if (index == SIZE_MAX) {
        index = steps->program_count;
        if (index >= keel_limit(KEEL_LIMIT_REQUESTS)) return NULL;
        KEEL_TRY(add_program(steps, event));
    }
    KEEL_TRY(meet_number(steps, event, index));
    return keel_map_put(&steps->by_program, name_bytes(keel_event_text(event, "program")), index);
}

static keel_status_t count_executes(keel_steps_t *steps, const json_t *event) {
    keel_counts_t counts = keel_event_counts(event);
    keel_counted_t counted;
    while (keel_counts_next(&counts, &counted)) {
        keel_steps_program_t *program = keel_steps_counted(steps, event, &counted);
        if (!program) continue;
        program->executes += counted.times;
        KEEL_TRY(keel_warmups_ran(&steps->warmups, pid_of(event), program->family,
                                  (size_t)(program - steps->programs), counted.times));
    }
    return NULL;
}

// Programs with which the step went on in most of the executions that were followed (reads.h).
static void meet_pieces(keel_steps_t *steps, const json_t *event) {
    size_t at;
    const json_t *piece;
    json_array_foreach(json_object_get(event, "pieces"), at, piece) {
        const uint64_t *index =
            keel_map_find(&steps->by_program, name_bytes(keel_event_text(piece, "program")));
        uint64_t shared = keel_event_count(piece, "shared");
        if (index)
            steps->programs[*index].is_cut =
                shared && shared * 2 >= keel_event_count(piece, "sampled");
    }
}

// A program that ran once usually sets up or ends a run, so it must lead by far: a random array
// made without jit has more operations than four steps of a small model.
static double weight(double work, uint64_t executes) {
    enum { BY_FAR = 8 };
    return executes > 1 ? work : work / BY_FAR;
}

static keel_journal_function_t kind_of(const struct keel_steps_family_t *family) {
    return (keel_journal_function_t){.executions = family->executes,
                                     .has_gradient = family->has_gradient,
                                     .is_eager = family->is_eager,
                                     .is_recorded = family->is_recorded};
}

static bool is_training(const struct keel_steps_family_t *family) {
    return keel_journal_trains(kind_of(family));
}

// The step of a training loop goes before all others: beside it, loaders, samplers and metrics may
// run far more often.
static size_t heaviest(const keel_steps_t *steps, bool uncut, bool by_itself) {
    double most = 0;
    size_t found = SIZE_MAX;
    bool trains = false;
    for (size_t i = 0; !by_itself && i < steps->family_count; ++i)
        trains = trains || is_training(&steps->families[i]);
    for (size_t i = 0; i < steps->family_count; ++i) {
        const struct keel_steps_family_t *family = &steps->families[i];
        double own = uncut ? weight(family->uncut_work, family->uncut_executes)
                           : weight(family->work, family->executes);
        if (own <= most || family->is_eager != by_itself) continue;
        if (trains && !is_training(family)) continue;
        most = own;
        found = i;
    }
    return found;
}

// A step ends with a program that no read cuts, unless such programs run far less often: then reads
// do all the work.
static void find_leading(keel_steps_t *steps) {
    for (size_t i = 0; i < steps->program_count; ++i) {
        const keel_steps_program_t *program = &steps->programs[i];
        struct keel_steps_family_t *family = &steps->families[program->family];
        double work = (double)(program->ops ? program->ops : 1) * (double)program->executes;
        family->work += work;
        family->executes += program->executes;
        family->uncut_work += program->is_cut ? 0 : work;
        family->uncut_executes += program->is_cut ? 0 : program->executes;
    }
    // An operation by itself leads only if nothing else ran: it is part of a step, not a step.
    bool by_itself = heaviest(steps, false, false) == SIZE_MAX;
    size_t all = heaviest(steps, false, by_itself), uncut = heaviest(steps, true, by_itself);
    bool is_often = uncut != SIZE_MAX &&
                    steps->families[uncut].uncut_executes * 2 >= steps->families[all].executes;
    steps->leading = is_often ? uncut : all;
}

static keel_status_t process_of(keel_steps_t *steps, const json_t *event, size_t *out) {
    json_int_t pid = json_integer_value(json_object_get(event, "pid"));
    const uint64_t *known = keel_map_find(&steps->by_pid, keel_bytes(&pid, sizeof pid));
    if (known) {
        *out = (size_t)*known;
        KEEL_ASSERT(*out < steps->process_count);
        return NULL;
    }
    void *grown = steps->processes;
    KEEL_TRY(keel_realloc_array(steps->process_count + 1, sizeof *steps->processes, &grown));
    steps->processes = grown;
    steps->processes[steps->process_count] = (keel_steps_process_t){.pid = pid};
    *out = steps->process_count++;
    return keel_map_put(&steps->by_pid, keel_bytes(&pid, sizeof pid), *out);
}

static bool is_event(const json_t *event, const char *kind) {
    return strcmp(keel_event_text(event, "event"), kind) == 0;
}

static bool is_mark(const json_t *event) {
    return is_event(event, "step");
}

static keel_status_t meet_mark(keel_steps_t *steps, const json_t *event) {
    size_t index;
    if (!is_mark(event)) return NULL;
    KEEL_TRY(process_of(steps, event, &index));
    steps->processes[index].marks = true;
    return NULL;
}

// After the event's own counts, which came before it. A program that is not kept still counts as a
// request.
static keel_status_t meet_warmup(keel_steps_t *steps, const json_t *event) {
    if (!is_request(event)) return NULL;
    size_t program = keel_steps_program(steps, event);
    keel_journal_function_t kind = {.is_eager = true};
    size_t family = SIZE_MAX;
    if (program != SIZE_MAX) {
        family = steps->programs[program].family;
        kind = kind_of(&steps->families[family]);
    }
    return keel_warmups_asked(&steps->warmups, pid_of(event), family, program, kind,
                              json_object_get(event, "leading") != NULL);
}

static keel_status_t meet_rehearsal(keel_steps_t *steps, const json_t *event) {
    size_t index;
    if (!is_event(event, "start") || !json_object_get(event, "target")) return NULL;
    KEEL_TRY(process_of(steps, event, &index));
    steps->processes[index].is_rehearsal = steps->is_rehearsal = true;
    return NULL;
}

static keel_status_t meet_first(void *context, const struct json_t *event) {
    keel_steps_t *steps = context;
    KEEL_TRY(meet_program(steps, event));
    KEEL_TRY(meet_mark(steps, event));
    KEEL_TRY(meet_rehearsal(steps, event));
    KEEL_TRY(keel_outcomes_add(&steps->outcomes, event));
    meet_pieces(steps, event);
    KEEL_TRY(count_executes(steps, event));
    if (is_event(event, "freeze")) keel_warmups_frozen(&steps->warmups, pid_of(event));
    return meet_warmup(steps, event);
}

keel_status_t keel_steps_read(const keel_journal_source_t *source, keel_steps_t *out) {
    static const char *const events[] = {"ask",         "memory", "miss",   "explain",
                                         "publish",     "order",  "source", "device_memory",
                                         "uncacheable", "living", NULL};
    static const char *const lists[] = {"components", "values", "reads", NULL};
    enum { LONGEST = 1 << 14 }; // of a string: names and files
    const keel_journal_needless_t needless = {events, lists, LONGEST};
    keel_journal_damage_t damage; // which the second pass reports
    *out = (keel_steps_t){.leading = SIZE_MAX};
    keel_texts_initialize(&out->texts);
    keel_map_initialize(&out->by_number);
    keel_map_initialize(&out->use_of);
    keel_map_initialize(&out->family_of);
    keel_map_initialize(&out->asked_of);
    keel_map_initialize(&out->by_identity);
    keel_map_initialize(&out->by_program);
    keel_map_initialize(&out->by_name);
    keel_map_initialize(&out->by_pid);
    keel_map_initialize(&out->requests_of);
    keel_map_initialize(&out->last_of);
    keel_map_initialize(&out->by_operation);
    keel_map_initialize(&out->refused_at);
    keel_map_initialize(&out->frozen_at);
    keel_outcomes_initialize(&out->outcomes);
    keel_warmups_initialize(&out->warmups);
    KEEL_TRY(keel_journal_scan(source, &needless, meet_first, out, &damage));
    find_leading(out);
    return keel_warmups_settle(&out->warmups);
}

void keel_steps_deinitialize(keel_steps_t *steps) {
    keel_texts_deinitialize(&steps->texts);
    keel_map_deinitialize(&steps->by_number);
    keel_map_deinitialize(&steps->use_of);
    keel_map_deinitialize(&steps->family_of);
    keel_map_deinitialize(&steps->asked_of);
    keel_map_deinitialize(&steps->by_identity);
    keel_map_deinitialize(&steps->by_program);
    keel_map_deinitialize(&steps->by_name);
    keel_map_deinitialize(&steps->by_pid);
    keel_map_deinitialize(&steps->requests_of);
    keel_map_deinitialize(&steps->last_of);
    keel_map_deinitialize(&steps->by_operation);
    keel_map_deinitialize(&steps->refused_at);
    keel_map_deinitialize(&steps->frozen_at);
    keel_outcomes_deinitialize(&steps->outcomes);
    keel_warmups_deinitialize(&steps->warmups);
    keel_free(steps->operations);
    keel_free(steps->programs);
    keel_free(steps->families);
    keel_free(steps->processes);
    keel_free(steps->requests);
    keel_free(steps->uses);
    *steps = (keel_steps_t){0};
}

// ---- processes and steps -----------------------------------------------------------------------

// *out_leading: of the leading family.
static keel_status_t meet_counts(keel_steps_t *steps, const json_t *event, uint64_t *out_leading) {
    keel_counts_t counts = keel_event_counts(event);
    keel_counted_t counted;
    *out_leading = 0;
    while (keel_counts_next(&counts, &counted)) {
        const keel_steps_program_t *program = keel_steps_counted(steps, event, &counted);
        if (!program) continue;
        if (program->family == steps->leading) *out_leading += counted.times;
        KEEL_TRY(note_run(steps, pid_of(event), program, counted.times));
    }
    return NULL;
}

// Where counts are left for later, the event has the sum.
static void count_leading(const keel_steps_t *steps, const json_t *event, uint64_t counted,
                          keel_steps_process_t *process) {
    const json_t *leading = json_object_get(event, "leading");
    const uint64_t *index =
        keel_map_find(&steps->by_program, name_bytes(keel_event_text(leading, "program")));
    process->counted += counted;
    if (process->counted > process->ran) process->ran = process->counted;
    if (!index || steps->programs[*index].family != steps->leading) return;
    uint64_t told = keel_event_count(leading, "executes");
    if (told > process->ran) process->ran = told;
}

static bool leads_as_warmup(const keel_steps_t *steps) {
    return steps->leading != SIZE_MAX &&
           keel_journal_can_warm_up(kind_of(&steps->families[steps->leading]));
}

// Executions of a warm-up are no steps.
static void leave_out_warmup(const keel_steps_t *steps, const json_t *event, uint64_t before,
                             keel_steps_process_t *process) {
    bool is_warm = keel_warmups_have(&steps->warmups, process->pid, process->requests);
    process->requests += is_request(event);
    if (is_warm && leads_as_warmup(steps)) process->warm += process->ran - before;
    process->steps = process->ran - process->warm;
}

// Several loads that were counted come later than the last of them. The process knows its steps if
// they are marked, or if what it took for the leading family is that.
static uint64_t waiting_step(const keel_steps_t *steps, const json_t *event,
                             const keel_steps_process_t *process) {
    uint64_t told = keel_event_count(event, "step");
    const char *leading = keel_event_text(json_object_get(event, "leading"), "program");
    const uint64_t *index = keel_map_find(&steps->by_program, name_bytes(leading));
    bool is_known = process->marks || (index && steps->programs[*index].family == steps->leading);
    if (!told || !is_known) return process->steps + 1;
    return process->warm < told ? told - process->warm : 1;
}

// The program in its process, and whether it was compiled. A retrace that is loaded comes from
// whichever tier had the program: while it is still being published, that may be the disk.
static void request_key(keel_buffer_t *out, size_t process, const json_t *event, bool is_compile) {
    keel_buffer_initialize(out, 0);
    keel_buffer_format(out, "%zu %d ", process, is_compile);
    keel_buffer_text(out, keel_event_text(event, "program"));
}

static keel_status_t link_request(keel_steps_t *steps, keel_bytes_t key, size_t index) {
    const uint64_t *last = keel_map_find(&steps->last_of, key);
    if (last) steps->requests[*last].next = index;
    if (!keel_map_find(&steps->requests_of, key))
        KEEL_TRY(keel_map_put(&steps->requests_of, key, index));
    return keel_map_put(&steps->last_of, key, index);
}

// An operation that ran by itself: its programs are counted by name and line.
static keel_status_t find_operation(keel_steps_t *steps, const json_t *event, size_t *out) {
    const json_t *site = json_object_get(event, "site");
    keel_buffer_t name;
    keel_buffer_initialize(&name, 0);
    keel_buffer_text(&name, keel_event_text(event, "name"));
    keel_buffer_format(&name, "\n%u ", keel_event_line(site, "line"));
    keel_buffer_text(&name, keel_event_text(site, "file"));
    keel_status_t status = keel_buffer_status(&name);
    const uint64_t *known = keel_map_find(&steps->by_operation, keel_buffer_bytes(&name));
    *out = known ? (size_t)*known : steps->operation_count;
    void *grown = steps->operations;
    if (!status && !known)
        status = keel_realloc_array(steps->operation_count + 1, sizeof *steps->operations, &grown);
    steps->operations = grown;
    if (!status && !known) {
        steps->operations[steps->operation_count++] = (keel_steps_operation_t){0};
        status = keel_map_put(&steps->by_operation, keel_buffer_bytes(&name), *out);
    }
    keel_buffer_deinitialize(&name);
    return status;
}

static keel_status_t count_operation(keel_steps_t *steps, const json_t *event,
                                     keel_steps_request_t *request) {
    KEEL_TRY(find_operation(steps, event, &request->operation));
    keel_steps_operation_t *eager = &steps->operations[request->operation];
    eager->programs += request->took.times;
    // Of several that were counted, no more is known than how many steps they were for.
    uint64_t since = request->step > eager->last_step ? request->step - eager->last_step : 0;
    eager->steps += since < request->took.times ? since : request->took.times;
    eager->last_step = request->step;
    return NULL;
}

bool keel_steps_is_endless(const keel_steps_t *steps, size_t operation) {
    enum {
        STEPS = 4,     // of the run that had a new program of it
        PROGRAMS = 32, // if there are no steps
    };
    if (operation >= steps->operation_count) return false;
    bool has_steps = steps->leading != SIZE_MAX && !steps->families[steps->leading].is_eager;
    for (size_t i = 0; i < steps->process_count; ++i)
        has_steps = has_steps || steps->processes[i].marks;
    const keel_steps_operation_t *eager = &steps->operations[operation];
    return has_steps ? eager->steps >= STEPS : eager->programs >= PROGRAMS;
}

static keel_status_t find_took(keel_steps_t *steps, const json_t *event, size_t process,
                               keel_steps_request_t *out) {
    out->is_rehearsed =
        steps->processes[process].is_rehearsal || *keel_event_text(event, "rehearsed");
    if (out->is_rehearsed)
        return keel_outcomes_take(&steps->outcomes, event, &out->took, &out->fate);
    out->took = (keel_took_t){.times = keel_event_times(event), .seconds = out->seconds};
    return NULL;
}

static keel_status_t link_new(keel_steps_t *steps, const json_t *event, size_t process) {
    keel_buffer_t key;
    request_key(&key, process, event, is_event(event, "compile"));
    keel_status_t status = keel_buffer_status(&key);
    if (!status) status = link_request(steps, keel_buffer_bytes(&key), steps->request_count - 1);
    keel_buffer_deinitialize(&key);
    return status;
}

static keel_status_t add_request(keel_steps_t *steps, const json_t *event, size_t process,
                                 bool from_memory, uint64_t step, keel_steps_request_t **out) {
    keel_steps_request_t request = {.step = step,
                                    .program = keel_steps_program(steps, event),
                                    .seconds = keel_event_number(event, "seconds"),
                                    .overhead_seconds =
                                        keel_event_number(event, "overhead_seconds"),
                                    .is_counted = keel_event_count(event, "times") > 0,
                                    .next = SIZE_MAX,
                                    .operation = SIZE_MAX};
    KEEL_TRY(find_took(steps, event, process, &request));
    request.is_summed =
        request.program == SIZE_MAX || steps->request_count >= keel_limit(KEEL_LIMIT_REQUESTS);
    if (request.is_summed) {
        steps->summed = request;
        *out = &steps->summed;
        return NULL;
    }
    if (is_eager_event(event) && !from_memory) KEEL_TRY(count_operation(steps, event, &request));
    void *grown = steps->requests;
    KEEL_TRY(keel_realloc_array(steps->request_count + 1, sizeof *steps->requests, &grown));
    steps->requests = grown;
    *out = &steps->requests[steps->request_count++];
    **out = request;
    return request.is_counted ? NULL : link_new(steps, event, process);
}

static keel_status_t note_freeze(keel_steps_t *steps, const json_t *event) {
    const int64_t pid = pid_of(event);
    keel_bytes_t name = keel_bytes(&pid, sizeof pid);
    return keel_map_find(&steps->frozen_at, name)
               ? NULL
               : keel_map_put(&steps->frozen_at, name, steps->event);
}

bool keel_steps_is_seen(const keel_steps_t *steps, const char *digest, int64_t pid) {
    const keel_steps_use_t *asked = find_use(steps, digest, pid);
    const uint64_t *frozen = keel_map_find(&steps->frozen_at, keel_bytes(&pid, sizeof pid));
    return frozen && asked && asked->asked && asked->asked < *frozen;
}

static keel_bytes_t refusal_key(keel_buffer_t *out, const json_t *event) {
    keel_buffer_initialize(out, 0);
    keel_buffer_format(out, "%lld ", (long long)pid_of(event));
    keel_buffer_text(out, keel_event_text(event, "program"));
    return keel_buffer_bytes(out);
}

static keel_status_t note_refusal(keel_steps_t *steps, const json_t *event, uint64_t step) {
    keel_buffer_t key;
    keel_bytes_t name = refusal_key(&key, event);
    keel_status_t status = keel_buffer_status(&key);
    if (!status && !keel_map_find(&steps->refused_at, name))
        status = keel_map_put(&steps->refused_at, name, step);
    keel_buffer_deinitialize(&key);
    return status;
}

keel_status_t keel_steps_refused(const keel_steps_t *steps, const json_t *event, uint64_t *out) {
    keel_buffer_t key;
    keel_bytes_t name = refusal_key(&key, event);
    keel_status_t status = keel_buffer_status(&key);
    const uint64_t *step = status ? NULL : keel_map_find(&steps->refused_at, name);
    *out = step ? *step : 0;
    keel_buffer_deinitialize(&key);
    return status;
}

keel_status_t keel_steps_advance(keel_steps_t *steps, const json_t *event,
                                 keel_steps_process_t **out_process,
                                 keel_steps_request_t **out_request) {
    size_t index;
    uint64_t counted;
    *out_request = NULL;
    ++steps->event;
    KEEL_TRY(process_of(steps, event, &index));
    keel_steps_process_t *process = *out_process = &steps->processes[index];
    if (is_request(event)) KEEL_TRY(meet_number(steps, event, keel_steps_program(steps, event)));
    KEEL_TRY(meet_counts(steps, event, &counted));
    if (!process->marks) {
        uint64_t before = process->ran;
        count_leading(steps, event, counted, process);
        leave_out_warmup(steps, event, before, process);
    } else if (is_mark(event)) {
        process->steps += keel_event_count(event, "count");
    }
    if (is_event(event, "end")) {
        process->ended = true;
        process->wall = keel_event_number(event, "wall");
    }
    if (is_event(event, "freeze")) KEEL_TRY(note_freeze(steps, event));
    if (is_event(event, "compile_error")) return note_refusal(steps, event, process->steps + 1);
    if (!is_request(event)) return NULL;
    bool is_new = !is_repeated(steps, event);
    KEEL_TRY(note_asked(steps, event));
    bool from_memory = strcmp(keel_event_text(event, "tier"), "memory") == 0;
    uint64_t step = waiting_step(steps, event, process);
    if (!from_memory && is_new) process->settled = step;
    return add_request(steps, event, index, from_memory, step, out_request);
}

// ---- which compile or load an explanation is about ---------------------------------------------

// The oldest of the list that took as long; otherwise the newest. Moves *first past what was
// explained, so that a long list is not walked repeatedly.
static keel_steps_request_t *choose_request(keel_steps_t *steps, uint64_t *first, size_t last,
                                            double seconds) {
    keel_steps_request_t *requests = steps->requests;
    while (requests[*first].explained && requests[*first].next != SIZE_MAX)
        *first = requests[*first].next;
    enum { LOOKED_AT = 64 };
    size_t at = (size_t)*first;
    for (int i = 0; i < LOOKED_AT && at != SIZE_MAX; ++i, at = requests[at].next)
        if (!requests[at].explained && requests[at].seconds == seconds) return &requests[at];
    return &requests[last];
}

keel_status_t keel_steps_explained(keel_steps_t *steps, const json_t *event,
                                   keel_steps_request_t **out) {
    size_t process;
    *out = NULL;
    KEEL_TRY(process_of(steps, event, &process));
    keel_buffer_t key;
    request_key(&key, process, event, keel_event_compiled(event));
    keel_status_t status = keel_buffer_status(&key);
    uint64_t *first = NULL;
    if (!status) first = keel_map_find(&steps->requests_of, keel_buffer_bytes(&key));
    if (first) {
        uint64_t last = *keel_map_find(&steps->last_of, keel_buffer_bytes(&key));
        *out = choose_request(steps, first, (size_t)last, keel_event_number(event, "seconds"));
        (*out)->explained = true;
    }
    keel_buffer_deinitialize(&key);
    return status;
}
