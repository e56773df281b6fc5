// The processor, as far as generated code depends on it: vendor, model, features, and how many of
// its CPUs may be used (XLA splits work by that).
#define _GNU_SOURCE // sched_getaffinity
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "key/key.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

// Leaves with feature bits, and the bits of each register that code can depend on. Left out are
// bits about virtual machines and mitigations, and those that differ from core to core.
static const struct {
    uint32_t leaf, subleaf;
    uint32_t masks[4]; // eax, ebx, ecx, edx
} leaves[] = {
    {0x1, 0, {0x0fff0ff0, 0, 0x7fffffff, 0xffffffff}}, // family and model, without stepping
    {0x7, 0, {0, 0xffffffff, 0xffffffff, 0x03f75000 | 0x1fc}},
    {0x7, 1, {0xffffffff, 0, 0, 0xffffffff}},
    {0xd, 1, {0xf, 0, 0, 0}},
    {0x14, 0, {0, 0x10, 0, 0}},
    {0x19, 0, {0, 0x5, 0, 0}},
    {0x1e, 1, {0xffffffff, 0, 0, 0}},
    {0x24, 0, {0, 0xffffffff, 0, 0}},
    {0x80000001, 0, {0, 0, 0xffffffff, 0xffffffff}},
    {0x80000008, 0, {0, 0x3ff, 0, 0}},
};

// The registers that the operating system saves decide which of the features may be used.
static uint64_t saved_state(void) {
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (uint64_t)d << 32 | a;
}

static void put_processor(keel_buffer_t *out) {
    uint32_t r[4] = {0};
    char vendor[13] = {0};
    if (__get_cpuid(0, &r[0], &r[1], &r[2], &r[3])) {
        memcpy(vendor, &r[1], 4);
        memcpy(vendor + 4, &r[3], 4);
        memcpy(vendor + 8, &r[2], 4);
    }
    keel_buffer_format(out, "vendor=%s\n", vendor);
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; ++i) {
        if (!__get_cpuid_count(leaves[i].leaf, leaves[i].subleaf, &r[0], &r[1], &r[2], &r[3]))
            continue;
        keel_buffer_format(out, "cpuid.%x.%x=", leaves[i].leaf, leaves[i].subleaf);
        for (int k = 0; k < 4; ++k)
            keel_buffer_format(out, "%s%x", k ? "," : "", r[k] & leaves[i].masks[k]);
        keel_buffer_byte(out, '\n');
    }
    keel_buffer_format(out, "xcr0=%llx\n", (unsigned long long)saved_state());
}

#else

static bool is_identifying(keel_str_t line) {
    static const char *const names[] = {"CPU implementer", "CPU architecture",
                                        "CPU variant",     "CPU part",
                                        "Features",        "isa",
                                        "uarch",           "cpu",
                                        "machine"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (keel_str_starts(line, keel_str(names[i]))) return true;
    return false;
}

// The lines about the first processor.
static void put_processor(keel_buffer_t *out) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    keel_status_t status = keel_file_read("/proc/cpuinfo", 16 << 20, &bytes, &size);
    keel_status_ignore(status);
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(bytes + at, '\n', size - at);
        keel_str_t line = {(const char *)bytes + at, end ? (size_t)(end - bytes) - at : size - at};
        if (!line.size) break;
        if (is_identifying(line)) {
            keel_buffer_str(out, line);
            keel_buffer_byte(out, '\n');
        }
        at += line.size + 1;
    }
    keel_free(bytes);
}

#endif

// ---- threads -----------------------------------------------------------------------------------

// The number that a variable holds, in absl's syntax: spaces around it are allowed, anything else
// is no number. Then XLA ignores it. A negative one counts as none.
static bool read_count(const char *name, uint64_t *out) {
    const char *text = getenv(name);
    char *end;
    if (!text) return false;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || errno || value != (int)value) return false;
    if (end[strspn(end, " \t\n\v\f\r")]) return false;
    *out = value > 0 ? (uint64_t)value : 0;
    return true;
}

// XLA's CPU client makes a pool of as many threads as NPROC or PJRT_NPROC says, or as there are
// CPUs, but at least one for each device, and compiles for their number. Besides, it looks at the
// CPUs themselves when it decides how to split what only moves memory.
static uint64_t pool_threads(uint64_t devices, uint64_t cpus) {
    uint64_t count = cpus;
    if (!read_count("PJRT_NPROC", &count) && !read_count("NPROC", &count)) count = cpus;
    return count > devices ? count : devices;
}

keel_status_t keel_key_cpu(uint64_t devices, keel_buffer_t *canonical) {
    put_processor(canonical);
    cpu_set_t sets[16]; // 1024 processors each
    CPU_ZERO_S(sizeof sets, sets);
    int count = sched_getaffinity(0, sizeof sets, sets) == 0 ? CPU_COUNT_S(sizeof sets, sets) : 0;
    keel_buffer_format(canonical, "cpus=%d\n", count);
    uint64_t threads = pool_threads(devices, (uint64_t)count);
    if (threads != ((uint64_t)count > devices ? (uint64_t)count : devices))
        keel_buffer_format(canonical, "threads=%llu\n", (unsigned long long)threads);
    return keel_buffer_status(canonical);
}
