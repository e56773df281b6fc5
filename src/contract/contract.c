// A contract in memory; whether a program is listed.
#include "contract/internal.h"

#include <stdlib.h>

// Open addressing; at most half of the slots are used. The first pin of a fingerprint and of its
// options is entered under both, and the first of a fingerprint under that alone.
struct keel_contract_slot_t {
    keel_contract_found_t found; // `pin` is NULL: empty
    bool is_first;               // under the fingerprint alone
};

// ---- identity ----------------------------------------------------------------------------------

static keel_fingerprint_t half(const keel_digest_t *digest) {
    keel_fingerprint_t out;
    memcpy(out.bytes, digest->bytes, sizeof out.bytes);
    return out;
}

keel_fingerprint_t keel_fingerprint_of_program(const keel_key_t *key) {
    return half(&key->components[KEEL_COMPONENT_PROGRAM]);
}

// Lists with an item for each argument or result. They say what the program says anyway, and would
// make other options of each program.
static bool is_of_signature(keel_str_t option) {
    return keel_str_starts(option, KEEL_STR("allow_spmd_sharding_propagation_to_"));
}

// By the readable text, if it is whole.
static void put_options(keel_hasher_t *hasher, const keel_key_t *key) {
    keel_str_t rest = keel_str(key->values[KEEL_COMPONENT_OPTIONS]), line;
    if (!rest.size || rest.size >= KEEL_KEY_VALUE_LIMIT) {
        keel_hasher_update(hasher, key->components[KEEL_COMPONENT_OPTIONS].bytes, KEEL_DIGEST_SIZE);
        return;
    }
    while (keel_str_line(&rest, &line)) {
        if (is_of_signature(line)) continue;
        keel_hasher_update(hasher, line.data, line.size);
        keel_hasher_update(hasher, "\n", 1);
    }
}

keel_fingerprint_t keel_fingerprint_of_options(const keel_key_t *key) {
    static const keel_component_t flags[] = {KEEL_COMPONENT_XLA_FLAGS, KEEL_COMPONENT_LIBTPU_FLAGS};
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    put_options(&hasher, key);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i)
        keel_hasher_update(&hasher, key->components[flags[i]].bytes, KEEL_DIGEST_SIZE);
    keel_digest_t digest = keel_hasher_finish(&hasher);
    return half(&digest);
}

keel_fingerprint_t keel_fingerprint_of_machine(const keel_key_t *key) {
    static const keel_component_t parts[] = {
        KEEL_COMPONENT_ENVIRONMENT, KEEL_COMPONENT_PLUGIN_BUILD, KEEL_COMPONENT_PLATFORM,
        KEEL_COMPONENT_TOPOLOGY,    KEEL_COMPONENT_DEVICE_KINDS, KEEL_COMPONENT_CREATE_OPTIONS,
        KEEL_COMPONENT_CPU,         KEEL_COMPONENT_TOOLKIT,
    };
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        keel_hasher_update(&hasher, key->components[parts[i]].bytes, KEEL_DIGEST_SIZE);
    keel_digest_t digest = keel_hasher_finish(&hasher);
    return half(&digest);
}

keel_fingerprint_t keel_fingerprint_of_placement(const keel_key_t *key) {
    return half(&key->components[KEEL_COMPONENT_DEVICE_ASSIGNMENT]);
}

const char *keel_contract_scope_word(keel_contract_scope_t scope) {
    static const char *const words[] = {
#define SCOPE_WORD(name, word, sentence) word,
        KEEL_CONTRACT_SCOPES(SCOPE_WORD)
#undef SCOPE_WORD
    };
    return (unsigned)scope < KEEL_CONTRACT_SCOPE_COUNT ? words[scope] : "";
}

// ---- parts -------------------------------------------------------------------------------------

void keel_contract_initialize(keel_contract_t *contract) {
    *contract = (keel_contract_t){.key_version = KEEL_KEY_VERSION, .profile = KEEL_STR("none")};
    keel_arena_initialize(&contract->arena, 0);
}

void keel_contract_deinitialize(keel_contract_t *contract) {
    keel_free(contract->slots_);
    keel_free(contract->placements_);
    keel_arena_deinitialize(&contract->arena);
    *contract = (keel_contract_t){0};
}

keel_status_t contract_grow(keel_arena_t *arena, uint32_t count, size_t size, void **inout) {
    enum { FIRST = 4 };
    bool is_full = !count || (count >= FIRST && !(count & (count - 1)));
    if (is_full) {
        void *memory;
        if (count > UINT32_MAX / 4)
            return keel_status_make(KEEL_INVALID, "more than %u items in a list", count);
        KEEL_TRY(keel_arena_array(arena, count ? 2 * (size_t)count : FIRST, size, &memory));
        if (count) memcpy(memory, *inout, count * size);
        *inout = memory;
    }
    memset((char *)*inout + count * size, 0, size);
    return NULL;
}

uint32_t contract_varying(const keel_contract_program_t *program) {
    uint32_t varying = 0;
    for (uint32_t i = 0; i < program->argument_count; ++i)
        for (uint32_t k = 0; k < program->arguments[i].rank; ++k)
            varying += keel_sizes_vary(&program->arguments[i].dims[k]);
    return varying;
}

const keel_contract_argument_t *contract_argument(const keel_contract_program_t *program,
                                                  keel_str_t name) {
    for (uint32_t i = 0; i < program->argument_count; ++i)
        if (keel_str_equal(program->arguments[i].name, name)) return &program->arguments[i];
    return NULL;
}

static bool is_same_kind(const keel_contract_argument_t *a, const keel_contract_argument_t *b) {
    return a->rank == b->rank && a->is_array == b->is_array && a->donated == b->donated &&
           keel_str_equal(a->element, b->element) && keel_str_equal(a->sharding, b->sharding);
}

bool contract_argument_equal(const keel_contract_argument_t *a, const keel_contract_argument_t *b) {
    if (!is_same_kind(a, b)) return false;
    for (uint32_t i = 0; i < a->rank; ++i)
        if (!keel_sizes_equal(&a->dims[i], &b->dims[i])) return false;
    return true;
}

bool contract_is_alike(const keel_contract_program_t *a, const keel_contract_program_t *b) {
    if (a->argument_count != b->argument_count || !keel_str_equal(a->mesh, b->mesh)) return false;
    for (uint32_t i = 0; i < a->argument_count; ++i)
        if (!keel_str_equal(a->arguments[i].name, b->arguments[i].name) ||
            !is_same_kind(&a->arguments[i], &b->arguments[i]))
            return false;
    return true;
}

// ---- copies ------------------------------------------------------------------------------------

static keel_status_t copy_sizes(keel_arena_t *arena, keel_sizes_t *sizes) {
    void *memory;
    if (!sizes->list) return NULL;
    KEEL_TRY(keel_arena_array(arena, sizes->count, sizeof *sizes->list, &memory));
    memcpy(memory, sizes->list, sizes->count * sizeof *sizes->list);
    sizes->list = memory;
    return NULL;
}

keel_status_t contract_copy_argument(keel_arena_t *arena, const keel_contract_argument_t *from,
                                     keel_contract_argument_t *out) {
    void *memory;
    *out = *from;
    KEEL_TRY(keel_arena_str(arena, from->name, &out->name));
    KEEL_TRY(keel_arena_str(arena, from->element, &out->element));
    KEEL_TRY(keel_arena_str(arena, from->sharding, &out->sharding));
    if (!from->rank) return NULL;
    KEEL_TRY(keel_arena_array(arena, from->rank, sizeof *from->dims, &memory));
    keel_sizes_t *dims = memory;
    out->dims = dims;
    for (uint32_t i = 0; i < from->rank; ++i) {
        dims[i] = from->dims[i];
        KEEL_TRY(copy_sizes(arena, &dims[i]));
    }
    return NULL;
}

static keel_status_t copy_pin(keel_arena_t *arena, const keel_contract_pin_t *from,
                              uint32_t varying, keel_contract_pin_t *out) {
    void *memory;
    *out = *from;
    KEEL_TRY(keel_arena_str(arena, from->cost, &out->cost));
    KEEL_TRY(keel_arena_str(arena, from->memory, &out->memory));
    if (!varying) return NULL;
    KEEL_TRY(keel_arena_array(arena, varying, sizeof *from->sizes, &memory));
    memcpy(memory, from->sizes, varying * sizeof *from->sizes);
    out->sizes = memory;
    return NULL;
}

keel_status_t contract_copy_program(keel_arena_t *arena, const keel_contract_program_t *from,
                                    keel_contract_program_t *out) {
    *out = (keel_contract_program_t){.varying = from->varying};
    KEEL_TRY(keel_arena_str(arena, from->comment, &out->comment));
    KEEL_TRY(keel_arena_str(arena, from->mesh, &out->mesh));
    for (uint32_t i = 0; i < from->argument_count; ++i) {
        void *grown = out->arguments;
        KEEL_TRY(contract_grow(arena, i, sizeof *out->arguments, &grown));
        out->arguments = grown;
        KEEL_TRY(contract_copy_argument(arena, &from->arguments[i], &out->arguments[i]));
        ++out->argument_count;
    }
    for (uint32_t i = 0; i < from->pin_count; ++i) {
        void *grown = out->pins;
        KEEL_TRY(contract_grow(arena, i, sizeof *out->pins, &grown));
        out->pins = grown;
        KEEL_TRY(copy_pin(arena, &from->pins[i], from->varying, &out->pins[i]));
        ++out->pin_count;
    }
    return NULL;
}

keel_status_t contract_copy_entry(keel_arena_t *arena, const keel_contract_entry_t *from,
                                  keel_contract_entry_t *out) {
    *out = (keel_contract_entry_t){.scope = from->scope};
    KEEL_TRY(keel_arena_str(arena, from->comment, &out->comment));
    KEEL_TRY(keel_arena_str(arena, from->name, &out->name));
    KEEL_TRY(keel_arena_str(arena, from->function, &out->function));
    for (uint32_t i = 0; i < from->program_count; ++i) {
        void *grown = out->programs;
        KEEL_TRY(contract_grow(arena, i, sizeof *out->programs, &grown));
        out->programs = grown;
        KEEL_TRY(contract_copy_program(arena, &from->programs[i], &out->programs[i]));
        ++out->program_count;
    }
    return NULL;
}

// ---- the index ---------------------------------------------------------------------------------

static int by_name(const void *a, const void *b) {
    const keel_contract_entry_t *x = a, *y = b;
    int order = keel_str_compare(x->name, y->name);
    return order ? order : keel_str_compare(x->function, y->function);
}

// The slot of a fingerprint with these options, or of the first one with any if `options` is NULL;
// otherwise the free slot for it. A file can choose the bytes, so all of them count.
static struct keel_contract_slot_t *slot_of(const keel_contract_t *contract,
                                            const keel_fingerprint_t *fingerprint,
                                            const keel_fingerprint_t *options) {
    keel_fingerprint_t both[2] = {*fingerprint};
    if (options) both[1] = *options;
    KEEL_ASSERT(contract->slot_count_ && !(contract->slot_count_ & (contract->slot_count_ - 1)));
    uint32_t at = (uint32_t)keel_quick_hash(keel_bytes(both, options ? sizeof both : sizeof *both));
    for (;; ++at) {
        struct keel_contract_slot_t *slot = &contract->slots_[at & (contract->slot_count_ - 1)];
        const keel_contract_pin_t *pin = slot->found.pin;
        if (!pin) return slot;
        if (slot->is_first == !options && keel_fingerprint_equal(&pin->fingerprint, fingerprint) &&
            (!options || keel_fingerprint_equal(&pin->options, options)))
            return slot;
    }
}

// Functions may share a program. Their pins are then one executable on each set of devices,
// whichever of them asks for it.
static void number_pin(keel_contract_t *contract, keel_contract_pin_t *pin, uint32_t number) {
    keel_contract_found_t equal;
    pin->number = keel_contract_match(contract, &pin->fingerprint, &pin->options, &equal) ==
                          KEEL_CONTRACT_LISTED
                      ? equal.pin->number
                      : number;
    uint32_t *placements = &contract->placements_[pin->number];
    bool is_too_many = pin->placements > UINT32_MAX - *placements;
    *placements = is_too_many ? UINT32_MAX : *placements + pin->placements;
}

static void enter(keel_contract_t *contract, const keel_contract_found_t *found) {
    const keel_contract_pin_t *pin = found->pin;
    struct keel_contract_slot_t *slot = slot_of(contract, &pin->fingerprint, &pin->options);
    if (slot->found.pin) return;
    *slot = (struct keel_contract_slot_t){.found = *found};
    slot = slot_of(contract, &pin->fingerprint, NULL);
    if (!slot->found.pin) *slot = (struct keel_contract_slot_t){.found = *found, .is_first = true};
}

static keel_status_t make_slots(keel_contract_t *contract) {
    void *memory;
    uint32_t count = 4;
    if (contract->pin_count > UINT32_MAX / 8)
        return keel_status_make(KEEL_INVALID, "%u pins are too many", contract->pin_count);
    while (count < 4 * contract->pin_count)
        count *= 2;
    KEEL_TRY(keel_calloc(count, sizeof *contract->slots_, &memory));
    keel_free(contract->slots_);
    contract->slots_ = memory;
    contract->slot_count_ = count;
    KEEL_TRY(keel_calloc((size_t)contract->pin_count + 1, sizeof *contract->placements_, &memory));
    keel_free(contract->placements_);
    contract->placements_ = memory;
    return NULL;
}

keel_status_t contract_index(keel_contract_t *contract) {
    if (contract->entry_count)
        qsort(contract->entries, contract->entry_count, sizeof *contract->entries, by_name);
    contract->pin_count = 0;
    for (uint32_t i = 0; i < contract->entry_count; ++i)
        for (uint32_t k = 0; k < contract->entries[i].program_count; ++k)
            contract->pin_count += contract->entries[i].programs[k].pin_count;
    KEEL_TRY(make_slots(contract));
    uint32_t number = 0;
    for (uint32_t i = 0; i < contract->entry_count; ++i)
        for (uint32_t k = 0; k < contract->entries[i].program_count; ++k) {
            const keel_contract_program_t *program = &contract->entries[i].programs[k];
            for (uint32_t pin = 0; pin < program->pin_count; ++pin) {
                number_pin(contract, &program->pins[pin], number++);
                enter(contract, &(keel_contract_found_t){&contract->entries[i], program,
                                                         &program->pins[pin]});
            }
        }
    return NULL;
}

keel_fingerprint_t keel_contract_options(const keel_contract_t *contract,
                                         const keel_fingerprint_t *options,
                                         const keel_fingerprint_t *machine) {
    if (!contract->machine) return *options;
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, options->bytes, sizeof options->bytes);
    keel_hasher_update(&hasher, machine->bytes, sizeof machine->bytes);
    keel_digest_t digest = keel_hasher_finish(&hasher);
    return half(&digest);
}

keel_contract_match_t keel_contract_match(const keel_contract_t *contract,
                                          const keel_fingerprint_t *program,
                                          const keel_fingerprint_t *options,
                                          keel_contract_found_t *out) {
    if (!contract->slot_count_) return KEEL_CONTRACT_UNLISTED;
    const keel_contract_found_t *found = &slot_of(contract, program, options)->found;
    bool is_listed = found->pin;
    if (!is_listed) found = &slot_of(contract, program, NULL)->found;
    if (found->pin && out) *out = *found;
    return is_listed    ? KEEL_CONTRACT_LISTED
           : found->pin ? KEEL_CONTRACT_OTHER_OPTIONS
                        : KEEL_CONTRACT_UNLISTED;
}

uint32_t keel_contract_placements(const keel_contract_t *contract, const keel_contract_pin_t *pin) {
    KEEL_ASSERT(pin->number < contract->pin_count); // it is one of this contract's
    return contract->placements_[pin->number];
}

// The first entry of that name or of a later one.
static uint32_t first_of(const keel_contract_t *contract, keel_str_t name) {
    uint32_t low = 0, high = contract->entry_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keel_str_compare(contract->entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const keel_contract_entry_t *keel_contract_entry(const keel_contract_t *contract, keel_str_t name,
                                                 keel_str_t function) {
    uint32_t first = first_of(contract, name), i = first;
    for (; i < contract->entry_count; ++i) {
        const keel_contract_entry_t *entry = &contract->entries[i];
        if (!keel_str_equal(entry->name, name)) break;
        if (keel_str_equal(entry->function, function)) return entry;
    }
    return i == first + 1 ? &contract->entries[first] : NULL;
}

keel_contract_scope_t keel_contract_scope(const keel_contract_t *contract, keel_str_t name,
                                          keel_str_t function) {
    const keel_contract_entry_t *entry = keel_contract_entry(contract, name, function);
    return entry ? entry->scope : contract->others;
}

// ---- names -------------------------------------------------------------------------------------

// "make.<locals>.step" of "make.<locals>.step in train.py".
static keel_str_t without_file(keel_str_t function) {
    static const char in[] = " in ";
    for (size_t i = function.size; i-- > 0;)
        if (i + sizeof in - 1 <= function.size && memcmp(function.data + i, in, sizeof in - 1) == 0)
            return (keel_str_t){function.data, i};
    return function;
}

bool keel_contract_is_named(const keel_contract_entry_t *entry, keel_str_t name) {
    return keel_str_equal(entry->name, name) ||
           (name.size && (keel_str_equal(entry->function, name) ||
                          keel_str_equal(without_file(entry->function), name)));
}

// JAX's names have the function's in them: "jit_step". PyTorch/XLA has one for all its programs.
keel_str_t keel_contract_short_name(keel_str_t name, keel_str_t function) {
    bool is_jax =
        keel_str_starts(name, KEEL_STR("jit_")) || keel_str_starts(name, KEEL_STR("pmap_"));
    return is_jax || !without_file(function).size ? name : without_file(function);
}
