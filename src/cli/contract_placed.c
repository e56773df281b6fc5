// The sets of devices on which each process of a run has a contract's programs.
#include "cli/contract.h"

keel_status_t contract_placed_initialize(const contract_run_t *run, contract_placed_t *out) {
    void *memory;
    *out = (contract_placed_t){.count = run->process_count};
    KEEL_TRY(keel_calloc((size_t)run->process_count + 1, sizeof *out->processes, &memory));
    out->processes = memory;
    return NULL;
}

void contract_placed_deinitialize(contract_placed_t *placed) {
    if (!placed->processes) return;
    for (uint32_t i = 0; i < placed->count; ++i)
        keel_placements_deinitialize(&placed->processes[i]);
    keel_free(placed->processes);
    placed->processes = NULL;
}

keel_status_t contract_placed_add(contract_placed_t *placed, const keel_contract_t *contract,
                                  const keel_contract_pin_t *pin, const contract_program_t *program,
                                  bool *out) {
    *out = true;
    for (size_t i = 0; i < program->process_count; ++i) {
        bool may;
        KEEL_TRY(keel_placements_add(&placed->processes[program->processes[i]], contract, pin,
                                     &program->asked.placement, &may));
        *out = *out && may;
    }
    return NULL;
}
