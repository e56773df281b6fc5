#include "run/rehearsal.h"

#include "metrics/metrics.h"
#include "run/steps.h"

typedef struct context_t {
    keel_run_rehearsal_t *rehearsal;
    const char *cwd;
    keel_texts_t *texts;
} context_t;

static keel_status_t keep_field(const context_t *to, const json_t *event, const char *name,
                                const char **out) {
    return keel_event_keep_field(to->texts, event, name, out);
}

static keel_status_t keep_shown(const context_t *to, const json_t *event, const char **out) {
    const json_t *site = json_object_get(event, "site");
    return keel_event_place(to->texts, keel_event_text(site, "file"), keel_event_line(site, "line"),
                            to->cwd, out);
}

// ---- lists without repetition ------------------------------------------------------------------

// What distinguishes one item from others of its list.
typedef struct item_name_t {
    const char *list;
    const char *texts[3];
    uint32_t line;
} item_name_t;

// The item's index in its list, `count` if it is new.
static keel_status_t find_item(keel_run_rehearsal_t *rehearsal, const item_name_t *name,
                               size_t count, size_t *out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "%s %u", name->list, name->line);
    for (size_t i = 0; i < sizeof name->texts / sizeof *name->texts; ++i)
        if (name->texts[i]) keel_buffer_append(&text, name->texts[i], strlen(name->texts[i]) + 1);
    keel_status_t status = keel_buffer_status(&text);
    const uint64_t *known =
        status ? NULL : keel_map_find(&rehearsal->known, keel_buffer_bytes(&text));
    *out = known ? (size_t)*known : count;
    if (!status && !known)
        status = keel_map_put(&rehearsal->known, keel_buffer_bytes(&text), count);
    keel_buffer_deinitialize(&text);
    return status;
}

static keel_status_t keep_assumed(const context_t *to, const json_t *from, const char **out,
                                  size_t most) {
    const json_t *list = json_object_get(from, "assumed");
    size_t kept = 0;
    for (size_t i = 0; i < json_array_size(list) && kept < most; ++i) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text || !*text) continue;
        KEEL_TRY(keel_texts_keep(to->texts, text, &out[kept++]));
    }
    return NULL;
}

// ---- events ------------------------------------------------------------------------------------

static keel_status_t meet_start(const context_t *to, const json_t *event) {
    const json_t *from = json_object_get(event, "target");
    keel_run_target_t *target = &to->rehearsal->target;
    if (*target->name) return NULL;
    target->devices = keel_event_count(from, "devices");
    target->processes = keel_event_count(from, "processes");
    target->memory = keel_event_count(from, "memory");
    KEEL_TRY(keep_field(to, from, "platform", &target->platform));
    KEEL_TRY(keep_field(to, from, "kind", &target->kind));
    KEEL_TRY(keep_field(to, from, "compile", &target->compiles));
    KEEL_TRY(keep_field(to, from, "values", &target->values));
    KEEL_TRY(
        keep_assumed(to, from, target->assumed, sizeof target->assumed / sizeof *target->assumed));
    return keep_field(to, from, "name", &target->name);
}

static keel_status_t describe_refusal(const context_t *to, const json_t *event,
                                      keel_refusal_t *out) {
    static const char keels[] = "keel: ";
    *out = (keel_refusal_t){.action = "compile"};
    if (*keel_event_text(event, "action")) KEEL_TRY(keep_field(to, event, "action", &out->action));
    KEEL_TRY(keep_field(to, event, "name", &out->name));
    KEEL_TRY(keep_field(to, event, "program", &out->program));
    KEEL_TRY(keep_field(to, event, "code", &out->code));
    KEEL_TRY(keep_field(to, event, "message", &out->message));
    out->is_keels = strncmp(out->message, keels, sizeof keels - 1) == 0;
    return keep_shown(to, event, &out->shown);
}

static keel_status_t find_refusal(const context_t *to, const json_t *event, keel_refusal_t **out) {
    keel_run_rehearsal_t *rehearsal = to->rehearsal;
    size_t at;
    const json_t *site = json_object_get(event, "site");
    const char *action = keel_event_text(event, "action");
    item_name_t name = {"refusal", {keel_event_identity(event)}, 0};
    if (*action)
        name = (item_name_t){action,
                             {keel_event_text(event, "name"), keel_event_text(event, "message"),
                              keel_event_text(site, "file")},
                             keel_event_line(site, "line")};
    KEEL_TRY(find_item(rehearsal, &name, rehearsal->refusal_count, &at));
    if (at == rehearsal->refusal_count) {
        void *grown = rehearsal->refusals;
        KEEL_TRY(keel_realloc_array(at + 1, sizeof *rehearsal->refusals, &grown));
        rehearsal->refusals = grown;
        KEEL_TRY(describe_refusal(to, event, &rehearsal->refusals[at]));
        ++rehearsal->refusal_count;
    }
    *out = &rehearsal->refusals[at];
    return NULL;
}

// Its compile_error follows, and is counted.
static keel_status_t meet_verdict(const context_t *to, const json_t *event) {
    keel_refusal_t *refusal;
    const char *verdict = keel_event_text(event, "verdict");
    if (strcmp(verdict, "refused") != 0 && strcmp(verdict, "stopped") != 0) return NULL;
    KEEL_TRY(find_refusal(to, event, &refusal));
    refusal->is_gates = true;
    return NULL;
}

static keel_status_t meet_error(const context_t *to, const json_t *event) {
    keel_refusal_t *refusal;
    uint64_t needed, available;
    if (keel_metrics_is_out_of_memory(keel_event_text(event, "code"),
                                      keel_event_text(event, "message"), &needed, &available))
        return NULL;
    KEEL_TRY(find_refusal(to, event, &refusal));
    if (!*refusal->code) KEEL_TRY(keep_field(to, event, "code", &refusal->code));
    ++refusal->times;
    return NULL;
}

static keel_status_t meet_refused(const context_t *to, const json_t *event) {
    keel_refusal_t *refusal;
    if (!*keel_event_text(event, "action")) return NULL;
    KEEL_TRY(find_refusal(to, event, &refusal));
    refusal->times += keel_event_count(event, "count");
    return NULL;
}

static keel_status_t describe_unreal(const context_t *to, const json_t *event, keel_unreal_t *out) {
    const json_t *site = json_object_get(event, "site");
    *out = (keel_unreal_t){.line = keel_event_line(site, "line")};
    KEEL_TRY(keep_field(to, event, "maker", &out->maker));
    KEEL_TRY(keep_field(to, event, "into", &out->into));
    KEEL_TRY(keep_field(to, site, "file", &out->file));
    KEEL_TRY(keep_field(to, site, "function", &out->function));
    return keep_shown(to, event, &out->shown);
}

static keel_status_t meet_unreal(const context_t *to, const json_t *event) {
    keel_run_rehearsal_t *rehearsal = to->rehearsal;
    const json_t *site = json_object_get(event, "site");
    size_t at;
    const item_name_t name = {"unreal",
                              {keel_event_text(event, "maker"), keel_event_text(event, "into"),
                               keel_event_text(site, "file")},
                              keel_event_line(site, "line")};
    KEEL_TRY(find_item(rehearsal, &name, rehearsal->unreal_count, &at));
    if (at == rehearsal->unreal_count) {
        void *grown = rehearsal->unreals;
        KEEL_TRY(keel_realloc_array(at + 1, sizeof *rehearsal->unreals, &grown));
        rehearsal->unreals = grown;
        KEEL_TRY(describe_unreal(to, event, &rehearsal->unreals[at]));
        ++rehearsal->unreal_count;
    }
    rehearsal->unreals[at].times += keel_event_count(event, "count");
    rehearsal->unreals[at].refused += keel_event_count(event, "refused");
    return NULL;
}

// Processes of one run end the same loop.
static keel_status_t meet_left(const context_t *to, const json_t *event) {
    keel_run_rehearsal_t *rehearsal = to->rehearsal;
    const json_t *loop = json_object_get(event, "loop");
    const char *file = keel_event_text(loop, "file");
    size_t at;
    const item_name_t name = {"left", {file}, keel_event_line(loop, "line")};
    KEEL_TRY(find_item(rehearsal, &name, rehearsal->left_count, &at));
    if (at < rehearsal->left_count) return NULL;
    void *grown = rehearsal->lefts;
    KEEL_TRY(keel_realloc_array(at + 1, sizeof *rehearsal->lefts, &grown));
    rehearsal->lefts = grown;
    keel_left_t *left = &rehearsal->lefts[at];
    *left = (keel_left_t){.round = keel_event_count(event, "round"),
                          .rounds = keel_event_count(event, "rounds"),
                          .decides = json_is_true(json_object_get(event, "decides")),
                          .raised = json_is_true(json_object_get(event, "raised"))};
    KEEL_TRY(keep_field(to, event, "maker", &left->maker));
    KEEL_TRY(keep_shown(to, event, &left->shown));
    KEEL_TRY(
        keel_event_place(to->texts, file, keel_event_line(loop, "line"), to->cwd, &left->loop));
    ++rehearsal->left_count;
    return NULL;
}

static keel_status_t meet_compile(const context_t *to, const json_t *event) {
    keel_run_rehearsal_t *rehearsal = to->rehearsal;
    size_t at;
    if (!json_is_true(json_object_get(event, "guess"))) return NULL;
    const item_name_t name = {"guess", {keel_event_identity(event)}, 0};
    KEEL_TRY(find_item(rehearsal, &name, rehearsal->guess_count, &at));
    if (at < rehearsal->guess_count) return NULL;
    void *grown = rehearsal->guesses;
    KEEL_TRY(keel_realloc_array(at + 1, sizeof *rehearsal->guesses, &grown));
    rehearsal->guesses = grown;
    keel_guess_t *guess = &rehearsal->guesses[at];
    KEEL_TRY(keep_field(to, event, "name", &guess->name));
    KEEL_TRY(keep_field(to, event, "program", &guess->program));
    KEEL_TRY(keep_shown(to, event, &guess->shown));
    ++rehearsal->guess_count;
    return NULL;
}

keel_status_t keel_rehearsal_add(keel_run_rehearsal_t *rehearsal, const keel_steps_t *steps,
                                 const json_t *event, const char *cwd, keel_texts_t *texts) {
    static const struct {
        const char *name;
        keel_status_t (*meet)(const context_t *to, const json_t *event);
    } kinds[] = {{"start", meet_start},   {"compile", meet_compile}, {"compile_error", meet_error},
                 {"drift", meet_verdict}, {"refused", meet_refused}, {"unreal", meet_unreal},
                 {"left", meet_left}};
    const context_t to = {rehearsal, cwd, texts};
    const char *kind = keel_event_text(event, "event");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kind, kinds[i].name) == 0) KEEL_TRY(kinds[i].meet(&to, event));
    return keel_drift_add(rehearsal, steps, event, cwd, texts);
}

keel_status_t keel_rehearsal_add_written(keel_run_rehearsal_t *rehearsal, const json_t *event,
                                         keel_texts_t *texts) {
    keel_journal_written_t *written = &rehearsal->written;
    const json_t *groups = json_object_get(event, "groups");
    size_t count = json_array_size(groups);
    rehearsal->is_discarded = true;
    *written = (keel_journal_written_t){.files = keel_event_count(event, "files"),
                                        .bytes = keel_event_count(event, "bytes"),
                                        .removed = keel_event_count(event, "removed")};
    for (size_t i = 0; i < count && i < KEEL_JOURNAL_WRITTEN_GROUPS; ++i) {
        const json_t *from = json_array_get(groups, i);
        keel_journal_written_group_t *group = &written->groups[written->group_count++];
        *group = (keel_journal_written_group_t){.path = "",
                                                .files = keel_event_count(from, "files"),
                                                .bytes = keel_event_count(from, "bytes"),
                                                .removed = keel_event_count(from, "removed")};
        KEEL_TRY(keel_event_keep_field(texts, from, "path", &group->path));
    }
    return NULL;
}

// ---- all together ------------------------------------------------------------------------------

void keel_rehearsal_initialize(keel_run_rehearsal_t *rehearsal) {
    *rehearsal = (keel_run_rehearsal_t){
        .target = {.name = "", .platform = "", .kind = "", .compiles = "", .values = ""}};
    keel_map_initialize(&rehearsal->known);
}

void keel_rehearsal_deinitialize(keel_run_rehearsal_t *rehearsal) {
    keel_free(rehearsal->refusals);
    keel_free(rehearsal->unreals);
    keel_free(rehearsal->lefts);
    keel_free(rehearsal->guesses);
    keel_drift_release(rehearsal);
    keel_map_deinitialize(&rehearsal->known);
    *rehearsal = (keel_run_rehearsal_t){.refusals = NULL};
}
