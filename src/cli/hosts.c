// The processes of a rehearsal on several hosts: one for each process of the target, all on this
// machine. Their environment is that of a cluster: JAX finds it by python/keel/rehearsal.py, and
// other programs by the names that torchrun uses. A TPU's hosts have libtpu's names too.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static const char host[] = "localhost";

keel_status_t cli_count_processes(const cli_rehearsal_t *rehearsal, uint32_t *out) {
    bool is_one = rehearsal->processes && strcmp(rehearsal->processes, "1") == 0;
    *out = is_one ? 1 : rehearsal->target.process_count;
    if (*out <= CLI_PROCESSES) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "%s has %u processes, and at most %d are started; give --processes 1, "
                            "or a smaller target",
                            rehearsal->target.name, *out, CLI_PROCESSES);
}

// Each process has a Python of its own, and all of them trace the same programs.
void cli_say_crowd(const cli_rehearsal_t *rehearsal, uint32_t processes, bool quiet) {
    enum { EACH = 4 }; // more on a processor take long
    cpu_set_t allowed;
    long cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
    if (quiet || cores < 1 || processes <= (uint32_t)cores * EACH) return;
    bool is_named = access(rehearsal->on, F_OK) != 0;
    int name = (int)strcspn(rehearsal->on, "/");
    cli_say("%u processes share %ld CPU%s and this machine's memory; %.*s%s has all its devices in "
            "one process",
            processes, cores, cores == 1 ? "" : "s", is_named ? name : 0, rehearsal->on,
            is_named ? "/1" : "a target of one process");
}

// ---- where they meet ---------------------------------------------------------------------------

// Ports that nobody uses now. All are held until all are known, so that they differ.
static keel_status_t find_ports(unsigned *out, size_t count) {
    int held[2] = {-1, -1}, error = 0;
    for (size_t i = 0; i < count && !error; ++i) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        socklen_t size = sizeof address;
        held[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (held[i] < 0 || bind(held[i], (struct sockaddr *)&address, size) ||
            getsockname(held[i], (struct sockaddr *)&address, &size))
            error = errno;
        out[i] = ntohs(address.sin_port);
    }
    for (size_t i = 0; i < count; ++i)
        if (held[i] >= 0) close(held[i]);
    if (!error) return NULL;
    return keel_status_make(KEEL_IO, "no free port of this machine: %s", strerror(error));
}

// Readable by this user only, and named after the run.
static keel_status_t make_folder(const char *run_id, char **out) {
    const char *above = getenv("TMPDIR");
    KEEL_TRY(keel_path(out, "%s/keel-%s", above && *above ? above : "/tmp", run_id));
    keel_status_t status = keel_directory_make(*out);
    if (!status) status = keel_directory_check_owner(*out);
    if (!status) return NULL;
    keel_free(*out);
    *out = NULL;
    return keel_status_annotate(status, "set TMPDIR to a folder that can be written");
}

keel_status_t cli_hosts_begin(const keel_target_t *target, const char *run_id, cli_hosts_t *out) {
    *out = (cli_hosts_t){.target = target};
    KEEL_TRY(find_ports(out->ports, sizeof out->ports / sizeof *out->ports));
    return make_folder(run_id, &out->folder);
}

// A file, or the folder of one launch of ranks (python/keel/rehearsal.py).
static keel_status_t remove_one(void *context, const char *name) {
    char *path;
    struct stat info;
    KEEL_TRY(keel_path(&path, "%s/%s", (const char *)context, name));
    bool is_folder = lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
    keel_status_t status = is_folder ? keel_directory_walk(path, remove_one, path) : NULL;
    if (!status) status = is_folder ? keel_directory_remove(path) : keel_file_remove(path);
    keel_free(path);
    return status;
}

void cli_hosts_end(cli_hosts_t *hosts) {
    if (!hosts->folder) return;
    keel_status_t status = keel_directory_walk(hosts->folder, remove_one, hosts->folder);
    if (!status) status = keel_directory_remove(hosts->folder);
    keel_status_ignore(status); // it is in the folder of temporary files
    keel_free(hosts->folder);
    hosts->folder = NULL;
}

// ---- the environment ---------------------------------------------------------------------------

static keel_status_t put(const char *name, const char *value) {
    if (setenv(name, value, 1) == 0) return NULL;
    return keel_status_make(KEEL_NO_MEMORY, "out of memory: setting %s", name);
}

static keel_status_t put_number(const char *name, unsigned value) {
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    return put(name, text);
}

static keel_status_t put_tpu(const keel_target_t *target, uint32_t number) {
    keel_buffer_t hosts;
    keel_buffer_initialize(&hosts, 0);
    for (uint32_t i = 0; i < target->process_count; ++i)
        keel_buffer_format(&hosts, "%s%s", i ? "," : "", host);
    keel_status_t status = keel_buffer_status(&hosts);
    if (!status) status = put("TPU_WORKER_HOSTNAMES", keel_buffer_cstr(&hosts));
    if (!status) status = put_number("TPU_WORKER_ID", number);
    keel_buffer_deinitialize(&hosts);
    return status;
}

keel_status_t cli_set_ranks(void *context, uint32_t number) {
    const cli_hosts_t *hosts = context;
    (void)number;
    return put("KEEL_REHEARSE_RANKS", hosts->folder);
}

keel_status_t cli_set_process(void *context, uint32_t number) {
    const cli_hosts_t *hosts = context;
    const keel_target_t *target = hosts->target;
    char address[64];
    snprintf(address, sizeof address, "%s:%u", host, hosts->ports[0]);
    KEEL_TRY(put("KEEL_REHEARSE_MEETING", hosts->folder));
    KEEL_TRY(put_number("KEEL_REHEARSE_PROCESS", number));
    KEEL_TRY(put_number("KEEL_REHEARSE_PROCESSES", target->process_count));
    KEEL_TRY(put("JAX_COORDINATOR_ADDRESS", address));
    KEEL_TRY(put_number("RANK", number));
    KEEL_TRY(put_number("WORLD_SIZE", target->process_count));
    KEEL_TRY(put("LOCAL_RANK", "0"));
    KEEL_TRY(put("LOCAL_WORLD_SIZE", "1"));
    KEEL_TRY(put("MASTER_ADDR", host));
    KEEL_TRY(put_number("MASTER_PORT", hosts->ports[1]));
    return target->platform == KEEL_TARGET_TPU ? put_tpu(target, number) : NULL;
}
