#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "meet/meet.h"

static void add_part(keel_buffer_t *out, const char *value) {
    if (out->size) keel_buffer_byte(out, '/');
    keel_buffer_text(out, value);
}

static bool add_variable(keel_buffer_t *out, const char *name) {
    const char *value = getenv(name);
    bool is_set = value && *value;
    if (is_set) add_part(out, value);
    return is_set;
}

static bool is_this_machine(const char *host) {
    return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "::1") == 0;
}

// torchrun and others: where the first process listens. A loopback address means something else on
// each machine.
static bool add_master(keel_buffer_t *out) {
    const char *address = getenv("MASTER_ADDR");
    char host[256] = "";
    if (!address || !*address || !add_variable(out, "MASTER_PORT")) return false;
    add_part(out, address);
    if (is_this_machine(address) && gethostname(host, sizeof host - 1) == 0) add_part(out, host);
    return true;
}

keel_status_t keel_meet_job(char **out) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 16);
    const char *torch = getenv("TORCHELASTIC_RUN_ID");
    bool is_slurm = add_variable(&text, "SLURM_JOB_ID");
    if (torch && strcmp(torch, "none") != 0) add_variable(&text, "TORCHELASTIC_RUN_ID");
    // Launchers may use a Slurm step for each machine, so a step is not a job if they name one.
    bool is_named = add_master(&text);
    if (is_slurm && !is_named) add_variable(&text, "SLURM_STEP_ID");
    if (!text.size) add_variable(&text, "TPU_WORKER_HOSTNAMES");
    if (!text.size) add_variable(&text, "KEEL_RUN_ID");
    keel_status_t status = keel_buffer_status(&text);
    if (!status && !text.size)
        status = keel_status_make(KEEL_NOT_FOUND, "no variable of a launcher names this job; write "
                                                  "redis://HOST:PORT?job=NAME");
    // Of any length and any characters: its digest is the name.
    char hex[KEEL_DIGEST_HEX];
    keel_digest_t digest = keel_digest(keel_buffer_bytes(&text));
    keel_digest_hex(&digest, hex);
    if (!status) status = keel_strdup((keel_str_t){hex, 32}, out);
    keel_buffer_deinitialize(&text);
    return status;
}
