#include "cli/contract.h"

keel_status_t contract_read(const char *path, keel_contract_t *out) {
    keel_file_facts_t facts = {0};
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_file_facts(path, &facts);
    bool is_pipe = !status && !facts.is_file && !facts.is_directory;
    keel_status_ignore(status);
    if (!is_pipe) return keel_contract_read(path, out);
    KEEL_TRY(keel_file_read(path, KEEL_CONTRACT_LIMIT, &data, &size));
    status = keel_contract_parse(path, keel_bytes(data, size), out);
    keel_free(data);
    return status;
}
