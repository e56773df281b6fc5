// Contracts: refused in one line, or written as something that is read and written the same, in
// which each pin is found.
#include <stdlib.h>

#include "contract/contract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void find_pins(const keel_contract_t *contract) {
    keel_contract_found_t found;
    uint32_t count = 0;
    for (uint32_t i = 0; i < contract->entry_count; ++i)
        for (uint32_t k = 0; k < contract->entries[i].program_count; ++k)
            for (uint32_t p = 0; p < contract->entries[i].programs[k].pin_count; ++p) {
                const keel_contract_pin_t *pin = &contract->entries[i].programs[k].pins[p];
                check(keel_contract_match(contract, &pin->fingerprint, &pin->options, &found) ==
                      KEEL_CONTRACT_LISTED);
                check(pin->number == count || (found.pin != pin && pin->number < count));
                check(pin->number == found.pin->number);
                check(keel_contract_placements(contract, pin) >= pin->placements);
                ++count;
            }
    check(count == contract->pin_count);
}

// What a program asks for that is listed is near to itself.
static void look(const keel_contract_t *contract) {
    keel_arena_t arena;
    keel_contract_nearest_t nearest;
    keel_buffer_t text;
    keel_arena_initialize(&arena, 0);
    keel_buffer_initialize(&text, 0);
    for (uint32_t i = 0; i < contract->entry_count; ++i) {
        const keel_contract_entry_t *entry = &contract->entries[i];
        if (!entry->program_count) continue;
        const keel_contract_asked_t asked = {.name = entry->name,
                                             .function = entry->function,
                                             .arguments = entry->programs[0].arguments,
                                             .argument_count = entry->programs[0].argument_count,
                                             .mesh = entry->programs[0].mesh};
        check(!keel_contract_nearest(contract, &asked, NULL, &arena, &nearest));
        check(nearest.entry == entry && nearest.program);
        keel_contract_tell(&asked, &nearest, "it", &text);
    }
    keel_buffer_deinitialize(&text);
    keel_arena_deinitialize(&arena);
}

static void compare_with_itself(const keel_contract_t *contract) {
    keel_contract_changes_t changes;
    check(!keel_contract_compare(contract, contract, &changes));
    check(!changes.programs);
    keel_contract_changes_deinitialize(&changes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_contract_t contract, again;
    keel_buffer_t first, second;
    keel_status_t status = keel_contract_parse("it", keel_bytes(data, size), &contract);
    check(!status ||
          (keel_status_code(status) == KEEL_INVALID && !strchr(keel_status_message(status), '\n')));
    if (status) {
        keel_status_ignore(status);
        return 0;
    }
    keel_buffer_initialize(&first, 0);
    keel_buffer_initialize(&second, 0);
    keel_contract_write(&contract, &first);
    check(!keel_contract_parse("it", keel_buffer_bytes(&first), &again));
    keel_contract_write(&again, &second);
    check(keel_bytes_equal(keel_buffer_bytes(&first), keel_buffer_bytes(&second)));
    find_pins(&again);
    look(&again);
    compare_with_itself(&again);
    keel_contract_deinitialize(&contract);
    keel_contract_deinitialize(&again);
    keel_buffer_deinitialize(&first);
    keel_buffer_deinitialize(&second);
    return 0;
}
