// Programs that the client loaded by itself, and whose traced form is not known.
#include "contract/internal.h"

// What the partitioner made of an argument has other sizes, and a compiler may pack many arguments
// into one.
static bool is_comparable(const keel_contract_program_t *listed,
                          const keel_contract_asked_t *asked) {
    bool is_packed = asked->argument_count == 1 && !asked->arguments[0].is_array;
    if (!asked->argument_count || is_packed || listed->mesh.size) return false;
    for (uint32_t i = 0; i < listed->argument_count; ++i)
        if (listed->arguments[i].sharding.size) return false;
    return true;
}

static bool takes(const keel_contract_argument_t *listed, const keel_contract_argument_t *asked) {
    if (listed->rank != asked->rank || listed->is_array != asked->is_array ||
        !keel_str_equal(listed->element, asked->element))
        return false;
    for (uint32_t i = 0; i < listed->rank; ++i)
        if (!keel_sizes_has(&listed->dims[i], asked->dims[i].low)) return false;
    return true;
}

static bool takes_all(const keel_contract_program_t *listed, const keel_contract_asked_t *asked) {
    if (listed->argument_count != asked->argument_count) return false;
    for (uint32_t i = 0; i < listed->argument_count; ++i)
        if (!takes(&listed->arguments[i], &asked->arguments[i])) return false;
    return true;
}

bool keel_contract_may_list(const keel_contract_t *contract, const keel_contract_asked_t *asked) {
    for (uint32_t i = 0; i < contract->entry_count; ++i) {
        const keel_contract_entry_t *entry = &contract->entries[i];
        if (!keel_str_equal(entry->name, asked->name)) continue;
        for (uint32_t k = 0; k < entry->program_count; ++k) {
            const keel_contract_program_t *listed = &entry->programs[k];
            if (!is_comparable(listed, asked) || takes_all(listed, asked)) return true;
        }
    }
    return false;
}

void keel_contract_tell_unchecked(const keel_contract_asked_t *asked, const char *path,
                                  keel_buffer_t *out) {
    keel_buffer_str(out, keel_contract_short_name(asked->name, asked->function));
    keel_buffer_format(out,
                       " was loaded from elsewhere (%s), so whether it is what %s lists could not "
                       "be checked; record the contract from a run that loads it, or let Keel "
                       "compile it",
                       asked->elsewhere, path);
}
