// A contract made of programs that were asked for; merging them into an older one.
#include "contract/internal.h"

#include <stdio.h>
#include <stdlib.h>

// ---- figures -----------------------------------------------------------------------------------

// Two digits, so that a diff of two recordings is small: "3.9s", "0.012s", "120s".
static void cost_text(double seconds, char out[24]) {
    double scale = 1;
    *out = 0;
    if (!(seconds > 0) || seconds > 1e9) return;
    while (seconds / scale >= 100)
        scale *= 10;
    while (seconds / scale < 10 && scale > 0.0001)
        scale /= 10;
    double rounded = (double)(uint64_t)(seconds / scale + 0.5) * scale;
    if (rounded <= 0) return;
    snprintf(out, 24, "%.*f", 4, rounded);
    char *end = out + strlen(out);
    while (end[-1] == '0')
        *--end = 0;
    if (end[-1] == '.') *--end = 0;
    memcpy(end, "s", 2);
}

// Three digits.
static void memory_text(uint64_t bytes, char out[24]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    *out = 0;
    if (!bytes) return;
    while (value >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        ++unit;
    }
    int decimals = !unit || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(out, 24, "%.*f%s", decimals, value, units[unit]);
}

static double cost_of(keel_str_t text) {
    return text.size ? strtod(text.data, NULL) : 0;
}

static double memory_of(keel_str_t text) {
    static const char units[] = "KMGT";
    char *end;
    if (!text.size) return 0;
    double value = strtod(text.data, &end);
    const char *unit = *end && *end != 'B' ? strchr(units, *end) : NULL;
    for (const char *at = units; unit && at <= unit; ++at)
        value *= 1024;
    return value;
}

static bool is_about(double a, double b, double factor) {
    return a > 0 && b > 0 && a <= b * factor && b <= a * factor;
}

// ---- adding ------------------------------------------------------------------------------------

static keel_status_t entry_of(keel_contract_t *contract, const keel_contract_asked_t *asked,
                              keel_contract_entry_t **out) {
    for (uint32_t i = 0; i < contract->entry_count; ++i) {
        *out = &contract->entries[i];
        if (keel_str_equal((*out)->name, asked->name) &&
            keel_str_equal((*out)->function, asked->function))
            return NULL;
    }
    void *grown = contract->entries;
    KEEL_TRY(
        contract_grow(&contract->arena, contract->entry_count, sizeof *contract->entries, &grown));
    contract->entries = grown;
    *out = &contract->entries[contract->entry_count];
    KEEL_TRY(keel_arena_str(&contract->arena, asked->name, &(*out)->name));
    KEEL_TRY(keel_arena_str(&contract->arena, asked->function, &(*out)->function));
    ++contract->entry_count;
    return NULL;
}

static bool has_arguments(const keel_contract_program_t *program,
                          const keel_contract_program_t *other) {
    if (!contract_is_alike(program, other)) return false;
    for (uint32_t i = 0; i < program->argument_count; ++i)
        if (!contract_argument_equal(&program->arguments[i], &other->arguments[i])) return false;
    return true;
}

// Programs that take the same and differ inside share one list of arguments.
static keel_status_t program_of(keel_contract_t *contract, keel_contract_entry_t *entry,
                                const keel_contract_asked_t *asked, keel_contract_program_t **out) {
    const keel_contract_program_t wanted = {
        .mesh = asked->mesh,
        .arguments = (keel_contract_argument_t *)(uintptr_t)asked->arguments,
        .argument_count = asked->argument_count};
    for (uint32_t i = 0; i < entry->program_count; ++i) {
        *out = &entry->programs[i];
        if (has_arguments(*out, &wanted)) return NULL;
    }
    void *grown = entry->programs;
    KEEL_TRY(
        contract_grow(&contract->arena, entry->program_count, sizeof *entry->programs, &grown));
    entry->programs = grown;
    *out = &entry->programs[entry->program_count];
    KEEL_TRY(contract_copy_program(&contract->arena, &wanted, *out));
    ++entry->program_count;
    return NULL;
}

static keel_contract_pin_t *find_asked(const keel_contract_entry_t *entry,
                                       const keel_contract_asked_t *asked,
                                       const keel_fingerprint_t *options) {
    for (uint32_t i = 0; i < entry->program_count; ++i)
        for (uint32_t k = 0; k < entry->programs[i].pin_count; ++k) {
            keel_contract_pin_t *pin = &entry->programs[i].pins[k];
            if (keel_fingerprint_equal(&pin->fingerprint, &asked->fingerprint) &&
                keel_fingerprint_equal(&pin->options, options))
                return pin;
        }
    return NULL;
}

typedef struct keel_contract_seen_t {
    keel_fingerprint_t placement;
    uint32_t process;
} seen_t;

static keel_status_t add_placement(keel_contract_t *contract, keel_contract_pin_t *pin,
                                   const keel_contract_asked_t *asked) {
    void *grown = (void *)(uintptr_t)pin->seen_;
    uint32_t count = 1;
    for (uint32_t i = 0; i < pin->seen_count_; ++i) {
        if (pin->seen_[i].process != asked->process) continue;
        if (keel_fingerprint_equal(&pin->seen_[i].placement, &asked->placement)) return NULL;
        ++count;
    }
    KEEL_TRY(contract_grow(&contract->arena, pin->seen_count_, sizeof(seen_t), &grown));
    ((seen_t *)grown)[pin->seen_count_++] = (seen_t){asked->placement, asked->process};
    pin->seen_ = grown;
    if (count <= pin->seen_most_) return NULL;
    pin->seen_most_ = count;
    ++pin->placements; // those of the file are besides
    return NULL;
}

keel_status_t keel_contract_add(keel_contract_t *contract, const keel_contract_asked_t *asked) {
    keel_contract_entry_t *entry;
    keel_contract_program_t *program;
    char cost[24], memory[24];
    const keel_fingerprint_t options =
        keel_contract_options(contract, &asked->options, &asked->machine);
    KEEL_TRY(entry_of(contract, asked, &entry));
    keel_contract_pin_t *known = find_asked(entry, asked, &options);
    if (known) return add_placement(contract, known, asked);
    KEEL_TRY(program_of(contract, entry, asked, &program));
    void *grown = program->pins;
    KEEL_TRY(contract_grow(&contract->arena, program->pin_count, sizeof *program->pins, &grown));
    program->pins = grown;
    keel_contract_pin_t *pin = &program->pins[program->pin_count];
    pin->fingerprint = asked->fingerprint;
    pin->options = options;
    cost_text(asked->seconds, cost);
    memory_text(asked->memory, memory);
    KEEL_TRY(keel_arena_str(&contract->arena, keel_str(cost), &pin->cost));
    KEEL_TRY(keel_arena_str(&contract->arena, keel_str(memory), &pin->memory));
    ++program->pin_count;
    return add_placement(contract, pin, asked);
}

// ---- merging programs that differ in sizes -----------------------------------------------------

typedef struct merging_t {
    keel_contract_t *contract;
    keel_contract_entry_t *entry;
    keel_contract_program_t **group;
    uint32_t count;
} merging_t;

static int64_t size_at(const keel_contract_program_t *program, uint32_t argument, uint32_t dim) {
    return program->arguments[argument].dims[dim].low;
}

static bool differs(const merging_t *merging, uint32_t argument, uint32_t dim) {
    for (uint32_t i = 1; i < merging->count; ++i)
        if (size_at(merging->group[i], argument, dim) != size_at(merging->group[0], argument, dim))
            return true;
    return false;
}

static bool is_in_step(const merging_t *merging, uint32_t argument, uint32_t dim,
                       uint32_t other_argument, uint32_t other_dim) {
    for (uint32_t i = 0; i < merging->count; ++i)
        if (size_at(merging->group[i], argument, dim) !=
            size_at(merging->group[i], other_argument, other_dim))
            return false;
    return true;
}

// Whether it is one dimension of the model that varies, wherever it appears: then the sizes say it
// all. Programs that differ in more are listed one by one.
static bool is_one_dimension(const merging_t *merging) {
    const keel_contract_program_t *first = merging->group[0];
    bool found = false;
    uint32_t argument = 0, dim = 0;
    for (uint32_t i = 0; i < first->argument_count; ++i)
        for (uint32_t k = 0; k < first->arguments[i].rank; ++k) {
            if (!differs(merging, i, k)) continue;
            if (found && !is_in_step(merging, i, k, argument, dim)) return false;
            found = true;
            argument = i;
            dim = k;
        }
    return found;
}

static keel_status_t vary_dimension(const merging_t *merging, uint32_t argument, uint32_t dim) {
    keel_arena_t *arena = &merging->contract->arena;
    void *memory;
    KEEL_TRY(keel_arena_array(arena, merging->count, sizeof(int64_t), &memory));
    int64_t *sizes = memory;
    for (uint32_t i = 0; i < merging->count; ++i)
        sizes[i] = size_at(merging->group[i], argument, dim);
    keel_sizes_t *dims = (keel_sizes_t *)(uintptr_t)merging->group[0]->arguments[argument].dims;
    return contract_sizes_of(sizes, merging->count, arena, &dims[dim]);
}

// The sizes of one program of the group, where the first one's dimensions now vary.
static keel_status_t sizes_of(const merging_t *merging, const keel_contract_program_t *whole,
                              const int64_t *lows, const int64_t **out) {
    void *memory;
    KEEL_TRY(keel_arena_array(&merging->contract->arena, (size_t)whole->varying + 1, sizeof **out,
                              &memory));
    int64_t *sizes = memory;
    uint32_t at = 0, place = 0;
    for (uint32_t i = 0; i < whole->argument_count; ++i)
        for (uint32_t k = 0; k < whole->arguments[i].rank; ++k, ++place)
            if (keel_sizes_vary(&whole->arguments[i].dims[k])) sizes[at++] = lows[place];
    *out = sizes;
    return NULL;
}

static keel_status_t note_lows(const merging_t *merging, const keel_contract_program_t *program,
                               const int64_t **out) {
    void *memory;
    uint32_t count = 0, at = 0;
    for (uint32_t i = 0; i < program->argument_count; ++i)
        count += program->arguments[i].rank;
    KEEL_TRY(keel_arena_array(&merging->contract->arena, (size_t)count + 1, sizeof **out, &memory));
    int64_t *lows = memory;
    for (uint32_t i = 0; i < program->argument_count; ++i)
        for (uint32_t k = 0; k < program->arguments[i].rank; ++k)
            lows[at++] = size_at(program, i, k);
    *out = lows;
    return NULL;
}

// Moves the pins of `from` into `whole`, whose dimensions are final.
static keel_status_t move_pins(const merging_t *merging, keel_contract_program_t *whole,
                               keel_contract_program_t *from, const int64_t *lows) {
    const int64_t *sizes;
    uint32_t count = from->pin_count;
    KEEL_TRY(sizes_of(merging, whole, lows, &sizes));
    for (uint32_t i = 0; i < count; ++i) {
        keel_contract_pin_t pin = from->pins[i];
        pin.sizes = whole->varying ? sizes : NULL;
        if (from == whole) {
            whole->pins[i] = pin;
            continue;
        }
        void *grown = whole->pins;
        KEEL_TRY(contract_grow(&merging->contract->arena, whole->pin_count, sizeof pin, &grown));
        whole->pins = grown;
        whole->pins[whole->pin_count++] = pin;
    }
    if (from != whole) from->pin_count = 0;
    return NULL;
}

static keel_status_t merge_group(const merging_t *merging) {
    keel_contract_program_t *first = merging->group[0];
    void *memory;
    if (merging->count < 2 || !is_one_dimension(merging)) return NULL;
    KEEL_TRY(
        keel_arena_array(&merging->contract->arena, merging->count, sizeof(int64_t *), &memory));
    const int64_t **lows = memory;
    for (uint32_t i = 0; i < merging->count; ++i)
        KEEL_TRY(note_lows(merging, merging->group[i], &lows[i]));
    uint32_t place = 0;
    for (uint32_t i = 0; i < first->argument_count; ++i)
        for (uint32_t k = 0; k < first->arguments[i].rank; ++k, ++place) {
            bool is_fixed = true;
            for (uint32_t n = 1; n < merging->count; ++n)
                is_fixed = is_fixed && lows[n][place] == lows[0][place];
            if (!is_fixed) KEEL_TRY(vary_dimension(merging, i, k));
        }
    first->varying = contract_varying(first);
    for (uint32_t i = 0; i < merging->count; ++i)
        KEEL_TRY(move_pins(merging, first, merging->group[i], lows[i]));
    return NULL;
}

// Programs without pins went into others.
static void drop_empty(keel_contract_entry_t *entry) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < entry->program_count; ++i)
        if (entry->programs[i].pin_count) entry->programs[kept++] = entry->programs[i];
    entry->program_count = kept;
}

static keel_status_t merge_sizes(keel_contract_t *contract, keel_contract_entry_t *entry) {
    void *memory;
    KEEL_TRY(keel_arena_array(&contract->arena, (size_t)entry->program_count + 1,
                              sizeof(keel_contract_program_t *), &memory));
    merging_t merging = {.contract = contract, .entry = entry, .group = memory};
    for (uint32_t i = 0; i < entry->program_count; ++i) {
        keel_contract_program_t *first = &entry->programs[i];
        if (!first->pin_count || first->varying) continue;
        merging.count = 0;
        for (uint32_t k = i; k < entry->program_count; ++k) {
            keel_contract_program_t *other = &entry->programs[k];
            if (other->pin_count && !other->varying && contract_is_alike(first, other))
                merging.group[merging.count++] = other;
        }
        KEEL_TRY(merge_group(&merging));
    }
    drop_empty(entry);
    return NULL;
}

// ---- what an older contract decided ------------------------------------------------------------

// Bounds that a person wrote allow sizes that no run had.
static bool has_open(const keel_contract_program_t *program) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < program->argument_count; ++i)
        for (uint32_t k = 0; k < program->arguments[i].rank; ++k) {
            const keel_sizes_t *sizes = &program->arguments[i].dims[k];
            if (!keel_sizes_vary(sizes)) continue;
            if (contract_is_open(program, sizes, at++)) return true;
        }
    return false;
}

static bool is_within(const keel_contract_program_t *bounds,
                      const keel_contract_program_t *program) {
    if (program->varying || !contract_is_alike(bounds, program)) return false;
    for (uint32_t i = 0; i < program->argument_count; ++i)
        for (uint32_t k = 0; k < program->arguments[i].rank; ++k)
            if (!keel_sizes_has(&bounds->arguments[i].dims[k], size_at(program, i, k)))
                return false;
    return true;
}

// Programs within bounds that a person wrote become one with these bounds.
static keel_status_t keep_bounds(keel_contract_t *contract, keel_contract_entry_t *entry,
                                 const keel_contract_program_t *bounds) {
    const merging_t merging = {.contract = contract, .entry = entry};
    keel_contract_program_t *whole = NULL;
    if (!has_open(bounds)) return NULL;
    for (uint32_t i = 0; i < entry->program_count; ++i) {
        keel_contract_program_t *program = &entry->programs[i];
        const int64_t *lows;
        if (!program->pin_count || !is_within(bounds, program)) continue;
        KEEL_TRY(note_lows(&merging, program, &lows));
        if (!whole) {
            whole = program;
            for (uint32_t k = 0; k < bounds->argument_count; ++k)
                KEEL_TRY(contract_copy_argument(&contract->arena, &bounds->arguments[k],
                                                &whole->arguments[k]));
            whole->varying = bounds->varying;
        }
        KEEL_TRY(move_pins(&merging, whole, program, lows));
    }
    return NULL;
}

static const keel_contract_pin_t *pin_of(const keel_contract_entry_t *entry,
                                         const keel_contract_pin_t *pin, uint32_t *out_program) {
    for (uint32_t i = 0; i < entry->program_count; ++i)
        for (uint32_t k = 0; k < entry->programs[i].pin_count; ++k)
            if (keel_fingerprint_equal(&entry->programs[i].pins[k].fingerprint,
                                       &pin->fingerprint)) {
                *out_program = i;
                return &entry->programs[i].pins[k];
            }
    return NULL;
}

// Figures differ a little from run to run; what is about the same stays as it was.
static keel_status_t keep_figures(keel_contract_t *contract, keel_contract_pin_t *pin,
                                  const keel_contract_pin_t *older) {
    bool is_cost = !pin->cost.size || is_about(cost_of(pin->cost), cost_of(older->cost), 2);
    bool is_memory =
        !pin->memory.size || is_about(memory_of(pin->memory), memory_of(older->memory), 1.05);
    if (is_cost && older->cost.size)
        KEEL_TRY(keel_arena_str(&contract->arena, older->cost, &pin->cost));
    if (is_memory && older->memory.size)
        KEEL_TRY(keel_arena_str(&contract->arena, older->memory, &pin->memory));
    return NULL;
}

typedef struct ranked_t {
    keel_contract_program_t program;
    uint32_t rank, place;
} ranked_t;

static int by_rank(const void *a, const void *b) {
    const ranked_t *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

// The order of the older entry's programs; new ones follow.
static keel_status_t keep_order(keel_contract_t *contract, keel_contract_entry_t *entry,
                                const keel_contract_entry_t *older) {
    void *memory;
    KEEL_TRY(keel_arena_array(&contract->arena, (size_t)entry->program_count + 1, sizeof(ranked_t),
                              &memory));
    ranked_t *ranked = memory;
    for (uint32_t i = 0; i < entry->program_count; ++i) {
        uint32_t rank = UINT32_MAX;
        for (uint32_t k = 0; k < entry->programs[i].pin_count; ++k) {
            uint32_t at;
            const keel_contract_pin_t *known = pin_of(older, &entry->programs[i].pins[k], &at);
            if (!known) continue;
            if (at < rank) rank = at;
            KEEL_TRY(keep_figures(contract, &entry->programs[i].pins[k], known));
        }
        if (rank != UINT32_MAX)
            KEEL_TRY(keel_arena_str(&contract->arena, older->programs[rank].comment,
                                    &entry->programs[i].comment));
        ranked[i] = (ranked_t){entry->programs[i], rank, i};
    }
    qsort(ranked, entry->program_count, sizeof *ranked, by_rank);
    for (uint32_t i = 0; i < entry->program_count; ++i)
        entry->programs[i] = ranked[i].program;
    return NULL;
}

static keel_status_t keep_entry(keel_contract_t *contract, keel_contract_entry_t *entry,
                                const keel_contract_entry_t *older) {
    entry->scope = older->scope;
    KEEL_TRY(keel_arena_str(&contract->arena, older->comment, &entry->comment));
    for (uint32_t i = 0; i < older->program_count; ++i)
        KEEL_TRY(keep_bounds(contract, entry, &older->programs[i]));
    drop_empty(entry);
    return NULL;
}

// ---- options -----------------------------------------------------------------------------------

static uint32_t count_options(const keel_contract_t *contract, const keel_fingerprint_t *options) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < contract->entry_count; ++i)
        for (uint32_t k = 0; k < contract->entries[i].program_count; ++k)
            for (uint32_t p = 0; p < contract->entries[i].programs[k].pin_count; ++p)
                count += keel_fingerprint_equal(&contract->entries[i].programs[k].pins[p].options,
                                                options);
    return count;
}

// Those of most pins stand in the header, so that a flag that was toggled is one line. The older
// contract's stay while any pin has them.
static void choose_options(keel_contract_t *contract, const keel_contract_t *older) {
    enum { TRIED = 64 };
    uint32_t most = 0, tried = 0;
    if (older && count_options(contract, &older->options)) {
        contract->options = older->options;
        return;
    }
    for (uint32_t i = 0; i < contract->entry_count && tried < TRIED; ++i)
        for (uint32_t k = 0; k < contract->entries[i].program_count && tried < TRIED; ++k) {
            const keel_contract_program_t *program = &contract->entries[i].programs[k];
            if (!program->pin_count) continue;
            uint32_t count = count_options(contract, &program->pins[0].options);
            if (count > most) contract->options = program->pins[0].options;
            if (count > most) most = count;
            ++tried;
        }
}

static int by_sizes(const void *a, const void *b) {
    const keel_contract_pin_t *x = a, *y = b;
    if (x->sizes && y->sizes && *x->sizes != *y->sizes) return *x->sizes < *y->sizes ? -1 : 1;
    int order = memcmp(x->fingerprint.bytes, y->fingerprint.bytes, KEEL_FINGERPRINT_SIZE);
    return order ? order : memcmp(x->options.bytes, y->options.bytes, KEEL_FINGERPRINT_SIZE);
}

static keel_status_t settle_entry(keel_contract_t *contract, keel_contract_entry_t *entry,
                                  const keel_contract_t *older) {
    const keel_contract_entry_t *known =
        older ? keel_contract_entry(older, entry->name, entry->function) : NULL;
    if (known) KEEL_TRY(keep_entry(contract, entry, known));
    KEEL_TRY(merge_sizes(contract, entry));
    if (known) KEEL_TRY(keep_order(contract, entry, known));
    for (uint32_t i = 0; i < entry->program_count; ++i)
        if (entry->programs[i].pin_count > 1)
            qsort(entry->programs[i].pins, entry->programs[i].pin_count,
                  sizeof *entry->programs[i].pins, by_sizes);
    return NULL;
}

keel_status_t keel_contract_settle(keel_contract_t *contract, const keel_contract_t *older) {
    for (uint32_t i = 0; i < contract->entry_count; ++i)
        KEEL_TRY(settle_entry(contract, &contract->entries[i], older));
    if (older) {
        contract->others = older->others;
        KEEL_TRY(keel_arena_str(&contract->arena, older->comment, &contract->comment));
    }
    choose_options(contract, older);
    return contract_index(contract);
}

keel_status_t keel_contract_update(keel_contract_t *contract, const keel_contract_t *fresh,
                                   keel_str_t name) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < contract->entry_count; ++i)
        if (!keel_contract_is_named(&contract->entries[i], name))
            contract->entries[kept++] = contract->entries[i];
    keel_contract_entry_t *entries = NULL;
    uint32_t count = 0;
    void *grown = NULL;
    for (uint32_t i = 0; i < kept; ++i, ++count) {
        KEEL_TRY(contract_grow(&contract->arena, count, sizeof *entries, &grown));
        entries = grown;
        entries[count] = contract->entries[i];
    }
    for (uint32_t i = 0; i < fresh->entry_count; ++i) {
        if (!keel_contract_is_named(&fresh->entries[i], name)) continue;
        KEEL_TRY(contract_grow(&contract->arena, count, sizeof *entries, &grown));
        entries = grown;
        KEEL_TRY(contract_copy_entry(&contract->arena, &fresh->entries[i], &entries[count]));
        ++count;
    }
    contract->entries = entries;
    contract->entry_count = count;
    return contract_index(contract);
}
