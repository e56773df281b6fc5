// What changed between two contracts, as a reviewer would say it.
#include "contract/internal.h"

#include <stdio.h>

typedef struct comparing_t {
    const keel_contract_t *before, *after;
    keel_contract_changes_t *out;
    size_t capacity;
    keel_str_t entry;
} comparing_t;

static keel_status_t keep_text(comparing_t *comparing, keel_str_t text, const char **out) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(&comparing->out->arena, text, &kept));
    *out = kept.data;
    return NULL;
}

static keel_status_t add_change(comparing_t *comparing, const char *kind, const char *what,
                                keel_str_t name, keel_str_t before, keel_str_t after) {
    keel_contract_changes_t *out = comparing->out;
    void *grown = out->list;
    KEEL_TRY(keel_grow_array(out->count, sizeof *out->list, &comparing->capacity, &grown));
    out->list = grown;
    keel_contract_change_t *change = &out->list[out->count];
    *change = (keel_contract_change_t){
        .kind = kind, .what = what, .entry = comparing->entry, .name = name};
    KEEL_TRY(keep_text(comparing, before, &change->old_value));
    KEEL_TRY(keep_text(comparing, after, &change->new_value));
    ++out->count;
    return NULL;
}

static keel_status_t add_changed(comparing_t *comparing, const char *what, keel_str_t before,
                                 keel_str_t after) {
    if (keel_str_equal(before, after)) return NULL;
    return add_change(comparing, "changed", what, KEEL_STR(""), before, after);
}

static keel_status_t add_scope(comparing_t *comparing, const char *what,
                               keel_contract_scope_t before, keel_contract_scope_t after) {
    if (before == after) return NULL;
    comparing->out->programs = true;
    return add_changed(comparing, what, keel_str(keel_contract_scope_word(before)),
                       keel_str(keel_contract_scope_word(after)));
}

// ---- arguments ---------------------------------------------------------------------------------

static keel_status_t argument_text(comparing_t *comparing, const keel_contract_argument_t *argument,
                                   const char **out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_contract_type(argument, &text);
    if (argument->sharding.size) keel_buffer_byte(&text, ' ');
    keel_buffer_str(&text, argument->sharding);
    if (argument->donated) keel_buffer_text(&text, " donated");
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = keep_text(comparing, keel_bytes_str(keel_buffer_bytes(&text)), out);
    keel_buffer_deinitialize(&text);
    return status;
}

static keel_status_t compare_argument(comparing_t *comparing,
                                      const keel_contract_argument_t *before,
                                      const keel_contract_argument_t *after) {
    const char *was = "", *is = "";
    if (before && after && contract_argument_equal(before, after)) return NULL;
    comparing->out->programs = true;
    if (before) KEEL_TRY(argument_text(comparing, before, &was));
    if (after) KEEL_TRY(argument_text(comparing, after, &is));
    return add_change(comparing,
                      !before  ? "added"
                      : !after ? "removed"
                               : "changed",
                      "argument", before ? before->name : after->name, keel_str(was), keel_str(is));
}

static keel_status_t map_names(const keel_contract_program_t *program, keel_map_t *out) {
    for (uint32_t i = 0; i < program->argument_count; ++i)
        KEEL_TRY(keel_map_put(out, keel_str_bytes(program->arguments[i].name), i));
    return NULL;
}

static keel_status_t compare_arguments(comparing_t *comparing,
                                       const keel_contract_program_t *before,
                                       const keel_contract_program_t *after) {
    keel_map_t names, names_after;
    keel_map_initialize(&names);
    keel_map_initialize(&names_after);
    keel_status_t status = map_names(before, &names);
    if (!status) status = map_names(after, &names_after);
    for (uint32_t i = 0; i < after->argument_count && !status; ++i) {
        const uint64_t *at = keel_map_find(&names, keel_str_bytes(after->arguments[i].name));
        status =
            compare_argument(comparing, at ? &before->arguments[*at] : NULL, &after->arguments[i]);
    }
    for (uint32_t i = 0; i < before->argument_count && !status; ++i)
        if (!keel_map_find(&names_after, keel_str_bytes(before->arguments[i].name)))
            status = compare_argument(comparing, &before->arguments[i], NULL);
    keel_map_deinitialize(&names);
    keel_map_deinitialize(&names_after);
    return status;
}

// ---- programs ----------------------------------------------------------------------------------

static const keel_contract_pin_t *find_pin(const keel_contract_program_t *program,
                                           const keel_contract_pin_t *pin) {
    for (uint32_t i = 0; i < program->pin_count; ++i)
        if (keel_fingerprint_equal(&program->pins[i].fingerprint, &pin->fingerprint))
            return &program->pins[i];
    return NULL;
}

static uint32_t shared_pins(const keel_contract_program_t *a, const keel_contract_program_t *b) {
    uint32_t shared = 0;
    for (uint32_t i = 0; i < a->pin_count; ++i)
        shared += find_pin(b, &a->pins[i]) != NULL;
    return shared;
}

static uint32_t count_same(const keel_contract_program_t *a, const keel_contract_program_t *b) {
    uint32_t same = 0;
    for (uint32_t i = 0; i < a->argument_count; ++i) {
        const keel_contract_argument_t *other = contract_argument(b, a->arguments[i].name);
        same += other && contract_argument_equal(&a->arguments[i], other);
    }
    return same;
}

// What a program is called in a list of changes: its pins, and what its sizes are.
static keel_status_t program_text(comparing_t *comparing, const keel_contract_program_t *program,
                                  const char **out) {
    char text[96], first[9];
    keel_hex(program->pins[0].fingerprint.bytes, 4, first);
    if (program->pin_count == 1)
        snprintf(text, sizeof text, "%s, %u arguments", first, program->argument_count);
    else
        snprintf(text, sizeof text, "%s and %u more, %u arguments", first, program->pin_count - 1,
                 program->argument_count);
    return keep_text(comparing, keel_str(text), out);
}

static keel_status_t add_pin(comparing_t *comparing, const char *kind,
                             const keel_contract_program_t *program,
                             const keel_contract_pin_t *pin) {
    keel_buffer_t text;
    char first[9];
    bool is_added = *kind == 'a';
    comparing->out->programs = true;
    keel_hex(pin->fingerprint.bytes, 4, first);
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, first);
    for (uint32_t i = 0; i < program->varying; ++i)
        if (!i || pin->sizes[i] != pin->sizes[0])
            keel_buffer_format(&text, "%s%lld", i ? "," : " for sizes ", (long long)pin->sizes[i]);
    keel_status_t status = keel_buffer_status(&text);
    keel_str_t value = keel_bytes_str(keel_buffer_bytes(&text)), none = KEEL_STR("");
    if (!status)
        status = add_change(comparing, kind, "pin", none, is_added ? none : value,
                            is_added ? value : none);
    keel_buffer_deinitialize(&text);
    return status;
}

static keel_status_t compare_options(comparing_t *comparing, const keel_fingerprint_t *before,
                                     const keel_fingerprint_t *after) {
    char was[9], is[9];
    if (keel_fingerprint_equal(before, after)) return NULL;
    keel_hex(before->bytes, 4, was);
    keel_hex(after->bytes, 4, is);
    comparing->out->programs = true;
    return add_changed(comparing, "options", keel_str(was), keel_str(is));
}

// The header tells of a change once.
static bool has_default(const keel_contract_t *contract, const keel_contract_pin_t *pin) {
    return keel_fingerprint_equal(&contract->options, &pin->options);
}

static keel_status_t compare_placements(comparing_t *comparing, uint32_t before, uint32_t after) {
    char was[16], is[16];
    snprintf(was, sizeof was, "%u", before);
    snprintf(is, sizeof is, "%u", after);
    comparing->out->programs = comparing->out->programs || before != after;
    return add_changed(comparing, "placements", keel_str(was), keel_str(is));
}

static keel_status_t compare_pins(comparing_t *comparing, const keel_contract_program_t *before,
                                  const keel_contract_program_t *after) {
    for (uint32_t i = 0; i < after->pin_count; ++i) {
        const keel_contract_pin_t *pin = &after->pins[i], *known = find_pin(before, pin);
        if (!known) KEEL_TRY(add_pin(comparing, "added", after, pin));
        if (!known) continue;
        bool is_told = has_default(comparing->before, known) && has_default(comparing->after, pin);
        if (!is_told) KEEL_TRY(compare_options(comparing, &known->options, &pin->options));
        KEEL_TRY(compare_placements(comparing, known->placements, pin->placements));
        KEEL_TRY(add_changed(comparing, "cost", known->cost, pin->cost));
        KEEL_TRY(add_changed(comparing, "memory", known->memory, pin->memory));
    }
    for (uint32_t i = 0; i < before->pin_count; ++i)
        if (!find_pin(after, &before->pins[i]))
            KEEL_TRY(add_pin(comparing, "removed", before, &before->pins[i]));
    return NULL;
}

static keel_status_t compare_program(comparing_t *comparing, const keel_contract_program_t *before,
                                     const keel_contract_program_t *after) {
    if (!keel_str_equal(before->mesh, after->mesh)) comparing->out->programs = true;
    KEEL_TRY(add_changed(comparing, "mesh", before->mesh, after->mesh));
    KEEL_TRY(compare_arguments(comparing, before, after));
    return compare_pins(comparing, before, after);
}

static keel_status_t add_program(comparing_t *comparing, const char *kind,
                                 const keel_contract_program_t *program) {
    const char *text;
    bool is_added = *kind == 'a';
    comparing->out->programs = true;
    KEEL_TRY(program_text(comparing, program, &text));
    return add_change(comparing, kind, "program", KEEL_STR(""), keel_str(is_added ? "" : text),
                      keel_str(is_added ? text : ""));
}

// The program of `before` that became this one: first by pins, then, among those that share none
// with any program, by arguments.
static uint32_t partner_of(const keel_contract_entry_t *before, const keel_contract_entry_t *after,
                           const keel_contract_program_t *program, const bool *taken) {
    uint32_t best = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < before->program_count; ++i) {
        uint32_t shared = taken[i] ? 0 : shared_pins(&before->programs[i], program);
        if (shared > most) best = i;
        if (shared > most) most = shared;
    }
    for (uint32_t i = 0; !most && i < before->program_count; ++i) {
        bool is_known = false;
        for (uint32_t k = 0; k < after->program_count && !is_known; ++k)
            is_known = shared_pins(&before->programs[i], &after->programs[k]) > 0;
        if (taken[i] || is_known) continue;
        if (best == UINT32_MAX || count_same(&before->programs[i], program) >
                                      count_same(&before->programs[best], program))
            best = i;
    }
    return best;
}

static keel_status_t compare_entry(comparing_t *comparing, const keel_contract_entry_t *before,
                                   const keel_contract_entry_t *after) {
    void *memory;
    comparing->entry = after->name;
    KEEL_TRY(add_scope(comparing, "scope", before->scope, after->scope));
    KEEL_TRY(keel_calloc((size_t)before->program_count + 1, sizeof(bool), &memory));
    bool *taken = memory;
    keel_status_t status = NULL;
    for (uint32_t i = 0; i < after->program_count && !status; ++i) {
        uint32_t partner = partner_of(before, after, &after->programs[i], taken);
        if (partner == UINT32_MAX) {
            status = add_program(comparing, "added", &after->programs[i]);
            continue;
        }
        taken[partner] = true;
        status = compare_program(comparing, &before->programs[partner], &after->programs[i]);
    }
    for (uint32_t i = 0; i < before->program_count && !status; ++i)
        if (!taken[i]) status = add_program(comparing, "removed", &before->programs[i]);
    keel_free(taken);
    return status;
}

// ---- all of it ---------------------------------------------------------------------------------

static keel_status_t add_listed(comparing_t *comparing, const char *what, bool before, bool after) {
    static const char *const words[] = {"free", "listed"};
    if (before != after) comparing->out->programs = true;
    return add_changed(comparing, what, keel_str(words[before]), keel_str(words[after]));
}

static keel_status_t compare_header(comparing_t *comparing, const keel_contract_t *before,
                                    const keel_contract_t *after) {
    char was[24], is[24];
    KEEL_TRY(add_changed(comparing, "client", before->client, after->client));
    KEEL_TRY(add_changed(comparing, "plugin", before->plugin, after->plugin));
    KEEL_TRY(add_changed(comparing, "devices", before->devices, after->devices));
    KEEL_TRY(add_changed(comparing, "profile", before->profile, after->profile));
    KEEL_TRY(compare_options(comparing, &before->options, &after->options));
    KEEL_TRY(add_listed(comparing, "operations", before->operations, after->operations));
    KEEL_TRY(add_listed(comparing, "machine", before->machine, after->machine));
    KEEL_TRY(add_scope(comparing, "others", before->others, after->others));
    snprintf(was, sizeof was, "%u", before->pin_count);
    snprintf(is, sizeof is, "%u", after->pin_count);
    KEEL_TRY(add_changed(comparing, "programs", keel_str(was), keel_str(is)));
    snprintf(was, sizeof was, "step %llu", (unsigned long long)before->settled);
    snprintf(is, sizeof is, "step %llu", (unsigned long long)after->settled);
    return add_changed(comparing, "settled", keel_str(was), keel_str(is));
}

static keel_status_t add_entry(comparing_t *comparing, const char *kind,
                               const keel_contract_entry_t *entry) {
    bool is_added = *kind == 'a';
    comparing->out->programs = true;
    comparing->entry = entry->name;
    return add_change(comparing, kind, "entry", KEEL_STR(""),
                      is_added ? KEEL_STR("") : entry->function,
                      is_added ? entry->function : KEEL_STR(""));
}

static int order_of(const keel_contract_entry_t *a, const keel_contract_entry_t *b) {
    int order = keel_str_compare(a->name, b->name);
    return order ? order : keel_str_compare(a->function, b->function);
}

static keel_status_t compare(comparing_t *comparing, const keel_contract_t *before,
                             const keel_contract_t *after) {
    uint32_t i = 0, k = 0;
    KEEL_TRY(compare_header(comparing, before, after));
    while (i < before->entry_count || k < after->entry_count) {
        int order = i == before->entry_count  ? 1
                    : k == after->entry_count ? -1
                                              : order_of(&before->entries[i], &after->entries[k]);
        if (order < 0)
            KEEL_TRY(add_entry(comparing, "removed", &before->entries[i++]));
        else if (order > 0)
            KEEL_TRY(add_entry(comparing, "added", &after->entries[k++]));
        else
            KEEL_TRY(compare_entry(comparing, &before->entries[i++], &after->entries[k++]));
    }
    return NULL;
}

keel_status_t keel_contract_compare(const keel_contract_t *before, const keel_contract_t *after,
                                    keel_contract_changes_t *out) {
    comparing_t comparing = {.before = before, .after = after, .out = out, .entry = KEEL_STR("")};
    *out = (keel_contract_changes_t){.list = NULL};
    keel_arena_initialize(&out->arena, 0);
    keel_status_t status = compare(&comparing, before, after);
    if (status) keel_contract_changes_deinitialize(out);
    return status;
}

void keel_contract_changes_deinitialize(keel_contract_changes_t *changes) {
    keel_free(changes->list);
    keel_arena_deinitialize(&changes->arena);
    *changes = (keel_contract_changes_t){.list = NULL};
}
