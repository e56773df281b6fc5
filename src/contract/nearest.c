// The listed program that is nearest to one that is not listed, and what differs.
#include "contract/internal.h"

#include <stdio.h>

// ---- bounds ------------------------------------------------------------------------------------

static bool has_pin_of(const keel_contract_program_t *program, uint32_t at, int64_t size) {
    for (uint32_t i = 0; i < program->pin_count; ++i)
        if (program->pins[i].sizes[at] == size) return true;
    return false;
}

bool contract_is_open(const keel_contract_program_t *program, const keel_sizes_t *sizes,
                      uint32_t at) {
    uint64_t distinct = 0;
    for (uint32_t i = 0; i < program->pin_count; ++i) {
        bool is_first = true;
        for (uint32_t k = 0; k < i && is_first; ++k)
            is_first = program->pins[k].sizes[at] != program->pins[i].sizes[at];
        distinct += is_first;
    }
    return contract_size_count(sizes) > distinct;
}

typedef struct varying_t {
    const keel_sizes_t *sizes;
    int64_t asked;
} varying_t;

// Dimensions whose bounds are the same and whose sizes agree in each pin are one dimension of the
// model.
static bool is_one(const keel_contract_program_t *program, const varying_t *varying, uint32_t a,
                   uint32_t b) {
    if (!keel_sizes_equal(varying[a].sizes, varying[b].sizes)) return false;
    for (uint32_t i = 0; i < program->pin_count; ++i)
        if (program->pins[i].sizes[a] != program->pins[i].sizes[b]) return false;
    return true;
}

// Whether sizes that the bounds allow and that no pin has are asked for. If each of the sizes has a
// pin, the program would have to be one of these.
static bool is_in_bounds(const keel_contract_program_t *program, const varying_t *varying) {
    bool is_fresh = false;
    for (uint32_t i = 0; i < program->varying; ++i) {
        for (uint32_t k = 0; k < i; ++k)
            if (varying[i].asked != varying[k].asked && is_one(program, varying, i, k))
                return false;
        is_fresh = is_fresh || !has_pin_of(program, i, varying[i].asked);
    }
    return is_fresh;
}

// ---- differences -------------------------------------------------------------------------------

typedef struct looking_t {
    const keel_contract_asked_t *asked;
    keel_fingerprint_t options; // keel_contract_options
    keel_map_t places;          // of the asked arguments, by name
    keel_arena_t *arena;
} looking_t;

// Whether the listed argument allows the asked one.
static bool allows(const keel_contract_argument_t *listed, const keel_contract_argument_t *asked) {
    if (listed->rank != asked->rank || listed->is_array != asked->is_array ||
        listed->donated != asked->donated || !keel_str_equal(listed->element, asked->element) ||
        !keel_str_equal(listed->sharding, asked->sharding))
        return false;
    for (uint32_t i = 0; i < listed->rank; ++i)
        if (!keel_sizes_has(&listed->dims[i], asked->dims[i].low)) return false;
    return true;
}

static const keel_contract_argument_t *asked_of(const looking_t *looking, keel_str_t name) {
    const uint64_t *at = keel_map_find(&looking->places, keel_str_bytes(name));
    return at ? &looking->asked->arguments[*at] : NULL;
}

static uint32_t count_differences(const looking_t *looking,
                                  const keel_contract_program_t *program) {
    uint32_t met = 0, differ = 0;
    for (uint32_t i = 0; i < program->argument_count; ++i) {
        const keel_contract_argument_t *asked = asked_of(looking, program->arguments[i].name);
        met += asked != NULL;
        differ += !asked || !allows(&program->arguments[i], asked);
    }
    return differ + looking->asked->argument_count - met +
           !keel_str_equal(program->mesh, looking->asked->mesh);
}

static keel_status_t text_of(const looking_t *looking, const keel_contract_argument_t *argument,
                             const keel_contract_argument_t *other, const char **out) {
    keel_buffer_t text;
    keel_str_t kept;
    keel_buffer_initialize(&text, 0);
    if (!argument) {
        *out = "absent";
        return NULL;
    }
    keel_contract_type(argument, &text);
    if (other && !keel_str_equal(argument->sharding, other->sharding)) {
        keel_buffer_byte(&text, ' ');
        keel_buffer_str(&text,
                        argument->sharding.size ? argument->sharding : KEEL_STR("unsharded"));
    }
    if (other && argument->donated != other->donated)
        keel_buffer_text(&text, argument->donated ? " donated" : " not donated");
    keel_status_t status = keel_buffer_status(&text);
    if (!status)
        status = keel_arena_str(looking->arena, keel_bytes_str(keel_buffer_bytes(&text)), &kept);
    if (!status) *out = kept.data;
    keel_buffer_deinitialize(&text);
    return status;
}

static keel_status_t add_difference(const looking_t *looking, keel_contract_nearest_t *nearest,
                                    const keel_contract_argument_t *asked,
                                    const keel_contract_argument_t *listed) {
    if (nearest->total++ >= KEEL_CONTRACT_SHOWN) return NULL;
    keel_contract_difference_t *difference = &nearest->differences[nearest->count++];
    difference->name = asked ? asked->name : listed->name;
    KEEL_TRY(text_of(looking, asked, listed, &difference->asked));
    return text_of(looking, listed, asked, &difference->listed);
}

static keel_status_t mesh_text(const looking_t *looking, keel_str_t mesh, const char **out) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(looking->arena, mesh.size ? mesh : KEEL_STR("absent"), &kept));
    *out = kept.data;
    return NULL;
}

static keel_status_t list_differences(const looking_t *looking, keel_contract_nearest_t *nearest) {
    const keel_contract_program_t *program = nearest->program;
    const keel_contract_asked_t *asked = looking->asked;
    if (!keel_str_equal(program->mesh, asked->mesh)) {
        keel_contract_difference_t *difference = &nearest->differences[nearest->count++];
        ++nearest->total;
        difference->name = KEEL_STR("mesh");
        KEEL_TRY(mesh_text(looking, asked->mesh, &difference->asked));
        KEEL_TRY(mesh_text(looking, program->mesh, &difference->listed));
    }
    keel_map_t listed;
    keel_map_initialize(&listed);
    keel_status_t status = NULL;
    for (uint32_t i = 0; i < program->argument_count && !status; ++i)
        status = keel_map_put(&listed, keel_str_bytes(program->arguments[i].name), i);
    for (uint32_t i = 0; i < asked->argument_count && !status; ++i) {
        const uint64_t *at = keel_map_find(&listed, keel_str_bytes(asked->arguments[i].name));
        const keel_contract_argument_t *known = at ? &program->arguments[*at] : NULL;
        if (!known || !allows(known, &asked->arguments[i]))
            status = add_difference(looking, nearest, &asked->arguments[i], known);
    }
    keel_map_deinitialize(&listed);
    for (uint32_t i = 0; i < program->argument_count && !status; ++i)
        if (!asked_of(looking, program->arguments[i].name))
            status = add_difference(looking, nearest, NULL, &program->arguments[i]);
    return status;
}

static keel_status_t check_bounds(const looking_t *looking, keel_contract_nearest_t *nearest) {
    const keel_contract_program_t *program = nearest->program;
    void *memory;
    uint32_t at = 0;
    bool has_options = false;
    for (uint32_t i = 0; i < program->pin_count; ++i)
        has_options =
            has_options || keel_fingerprint_equal(&program->pins[i].options, &looking->options);
    if (nearest->placements || nearest->total || !program->varying || !has_options) return NULL;
    KEEL_TRY(keel_arena_array(looking->arena, program->varying, sizeof(varying_t), &memory));
    varying_t *varying = memory;
    for (uint32_t i = 0; i < program->argument_count; ++i) {
        const keel_contract_argument_t *asked = asked_of(looking, program->arguments[i].name);
        for (uint32_t k = 0; k < program->arguments[i].rank; ++k)
            if (keel_sizes_vary(&program->arguments[i].dims[k]))
                varying[at++] =
                    (varying_t){&program->arguments[i].dims[k], asked ? asked->dims[k].low : -1};
    }
    nearest->fits = is_in_bounds(program, varying);
    return NULL;
}

static keel_status_t look(const keel_contract_t *contract, looking_t *looking,
                          keel_contract_nearest_t *out) {
    const keel_contract_asked_t *asked = looking->asked;
    keel_contract_found_t found;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < asked->argument_count; ++i)
        KEEL_TRY(keel_map_put(&looking->places, keel_str_bytes(asked->arguments[i].name), i));
    out->entry = keel_contract_entry(contract, asked->name, asked->function);
    out->options = keel_contract_match(contract, &asked->fingerprint, &looking->options, &found) ==
                   KEEL_CONTRACT_OTHER_OPTIONS;
    out->machine = out->options && contract->machine;
    if (!out->entry) return NULL;
    for (uint32_t i = 0; i < out->entry->program_count; ++i) {
        uint32_t differ = count_differences(looking, &out->entry->programs[i]);
        if (differ >= least) continue;
        least = differ;
        out->program = &out->entry->programs[i];
    }
    if (!out->program) return NULL;
    KEEL_TRY(list_differences(looking, out));
    return check_bounds(looking, out);
}

keel_status_t keel_contract_nearest(const keel_contract_t *contract,
                                    const keel_contract_asked_t *asked,
                                    const keel_contract_pin_t *placed, keel_arena_t *arena,
                                    keel_contract_nearest_t *out) {
    looking_t looking = {.asked = asked,
                         .arena = arena,
                         .options =
                             keel_contract_options(contract, &asked->options, &asked->machine)};
    *out = (keel_contract_nearest_t){.placements =
                                         placed ? keel_contract_placements(contract, placed) : 0};
    keel_map_initialize(&looking.places);
    keel_status_t status = look(contract, &looking, out);
    keel_map_deinitialize(&looking.places);
    return status;
}

// ---- the sentence ------------------------------------------------------------------------------

// "argument 2" for an argument without a name, as `keel why` calls it.
static void put_name(keel_buffer_t *out, keel_str_t name) {
    if (name.size > 1 && *name.data == '#') {
        keel_buffer_text(out, "argument ");
        name = (keel_str_t){name.data + 1, name.size - 1};
    }
    keel_buffer_str(out, name);
}

static void put_difference(keel_buffer_t *out, const keel_contract_difference_t *difference,
                           const char *path) {
    put_name(out, difference->name);
    if (strcmp(difference->asked, "absent") == 0)
        keel_buffer_format(out, " is missing; %s lists it: %s", path, difference->listed);
    else if (strcmp(difference->listed, "absent") == 0)
        keel_buffer_format(out, " %s is not in %s", difference->asked, path);
    else
        keel_buffer_format(out, " %s is not in %s (listed: %s)", difference->asked, path,
                           difference->listed);
}

void keel_contract_tell(const keel_contract_asked_t *asked, const keel_contract_nearest_t *nearest,
                        const char *path, keel_buffer_t *out) {
    keel_buffer_str(out, keel_contract_short_name(asked->name, asked->function));
    if (nearest->placements) {
        uint32_t count = nearest->placements;
        keel_buffer_format(out,
                           ": %s lists it on %u set%s of devices, and this is another one; if "
                           "that is right, write placements %u at its pin",
                           path, count, count == 1 ? "" : "s", count + 1);
    } else if (nearest->options) {
        keel_buffer_format(out, ": it is in %s with other compile options or flags%s", path,
                           nearest->machine ? ", or for another machine" : "");
    } else if (!nearest->program) {
        keel_buffer_format(out, " is not in %s", path);
    } else if (!nearest->count) {
        keel_buffer_format(out, ": its arguments are in %s, but not this program", path);
    } else {
        keel_buffer_text(out, ": ");
        put_difference(out, &nearest->differences[0], path);
        if (nearest->total > 1)
            keel_buffer_format(out, "; %u more argument%s", nearest->total - 1,
                               nearest->total == 2 ? " differs" : "s differ");
    }
}
