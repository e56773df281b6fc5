#define _GNU_SOURCE
#include "base/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"

enum { STAT_LIMIT = 1024, BOOT_LENGTH = 36 };

// The state's letter and the start time: fields 3 and 22 of proc(5)'s stat. The second field, a
// name in parentheses, may contain any character.
static bool read_stat(long pid, char *out_state, uint64_t *out_start) {
    char path[64], text[STAT_LIMIT];
    size_t size = 0;
    keel_file_facts_t facts;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    keel_status_t status =
        keel_file_read_head(path, (uint8_t *)text, sizeof text - 1, &size, &facts);
    bool good = !status;
    keel_status_ignore(status);
    if (!good) return false;
    text[size] = 0;
    const char *at = strrchr(text, ')');
    return at && sscanf(at + 1,
                        " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                        "%*s %" SCNu64,
                        out_state, out_start) == 2;
}

// Identifies this boot and container.
static bool read_world(char out[KEEL_PROCESS_NAME]) {
    char boot[BOOT_LENGTH + 1], link[48];
    size_t size = 0;
    keel_file_facts_t facts;
    keel_status_t status = keel_file_read_head("/proc/sys/kernel/random/boot_id", (uint8_t *)boot,
                                               BOOT_LENGTH, &size, &facts);
    bool good = !status && size == BOOT_LENGTH;
    keel_status_ignore(status);
    ssize_t length = readlink("/proc/self/ns/pid", link, sizeof link - 1);
    if (!good || length < 0) return false;
    boot[BOOT_LENGTH] = link[length] = 0;
    return snprintf(out, KEEL_PROCESS_NAME, "%s %s", link, boot) > 0;
}

void keel_process_name(char out[KEEL_PROCESS_NAME]) {
    char world[KEEL_PROCESS_NAME], state;
    uint64_t start;
    *out = 0;
    if (!read_world(world) || !read_stat(getpid(), &state, &start)) return;
    int size = snprintf(out, KEEL_PROCESS_NAME, "%ld %" PRIu64 " %s", (long)getpid(), start, world);
    if (size < 0 || size >= KEEL_PROCESS_NAME) *out = 0;
}

keel_process_state_t keel_process_state(keel_str_t name) {
    char text[KEEL_PROCESS_NAME], world[KEEL_PROCESS_NAME], state;
    uint64_t start, now;
    long pid;
    int rest = 0;
    if (name.size >= sizeof text) return KEEL_PROCESS_UNKNOWN;
    memcpy(text, name.data, name.size);
    text[name.size] = 0;
    if (sscanf(text, "%ld %" SCNu64 " %n", &pid, &start, &rest) != 2 || !rest || pid <= 0 ||
        !read_world(world) || strcmp(text + rest, world))
        return KEEL_PROCESS_UNKNOWN;
    if (!read_stat(pid, &state, &now)) {
        char folder[64]; // hidepid hides other users' processes
        snprintf(folder, sizeof folder, "/proc/%ld", pid);
        return keel_is_folder("/proc/1") && !keel_is_folder(folder) ? KEEL_PROCESS_GONE
                                                                    : KEEL_PROCESS_UNKNOWN;
    }
    if (now != start || strchr("ZXx", state)) return KEEL_PROCESS_GONE;
    return strchr("Tt", state) ? KEEL_PROCESS_STOPPED : KEEL_PROCESS_RUNS;
}

bool keel_process_is_stopped(long pid) {
    char state;
    uint64_t start;
    return read_stat(pid, &state, &start) && state == 'T';
}

// The number behind `label` in a file of the kernel's; UINT64_MAX if there is none.
static uint64_t kernel_number(const char *path, const char *label) {
    enum { LIMIT = 4096 };
    char text[LIMIT + 1];
    size_t size = 0;
    uint64_t number;
    keel_file_facts_t facts;
    keel_status_t status = keel_file_read_head(path, (uint8_t *)text, LIMIT, &size, &facts);
    bool good = !status;
    keel_status_ignore(status);
    if (!good) return UINT64_MAX;
    text[size] = 0;
    const char *at = strstr(text, label);
    return at && sscanf(at + strlen(label), " %" SCNu64, &number) == 1 ? number : UINT64_MAX;
}

uint64_t keel_memory_available(void) {
    uint64_t available = kernel_number("/proc/meminfo", "MemAvailable:"),
             most = kernel_number("/sys/fs/cgroup/memory.max", ""),
             used = kernel_number("/sys/fs/cgroup/memory.current", "");
    available = available > UINT64_MAX / 1024 ? 0 : available * 1024;
    if (most == UINT64_MAX || used == UINT64_MAX) return available;
    uint64_t left = most > used ? most - used : 1;
    return available && available < left ? available : left;
}
