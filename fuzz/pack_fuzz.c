// What a pack is made of. The first byte chooses: an archive, read in pieces, whose members all
// have names that are allowed; lines of a journal, which stay lines of one; or a program, which
// stays as long as it is and keeps its key.
#include <stdlib.h>

#include "pack/journal.h"
#include "pack/member.h"
#include "pack/program.h"
#include "pack/unpack.h"
#include "read/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 20 }; // bytes of members

static void check(bool good) {
    if (!good) abort();
}

// ---- an archive --------------------------------------------------------------------------------

typedef struct taken_t {
    const unpack_t *unpack;
    uint64_t bytes;
} taken_t;

static keel_status_t take(void *context, const char *name, keel_bytes_t contents) {
    taken_t *taken = context;
    keel_str_t text = keel_str(name);
    check(member_is_allowed(text, keel_str(taken->unpack->run)));
    check(!keel_str_contains(text, "..") && *name != '/' && strchr(name, '/'));
    check(strchr(name, '/') == strrchr(name, '/'));
    taken->bytes += contents.size;
    check(taken->bytes <= MOST);
    return NULL;
}

static void read_archive(keel_bytes_t bytes, size_t piece) {
    unpack_t unpack;
    taken_t taken = {.unpack = &unpack};
    keel_status_t status = NULL;
    unpack_initialize(&unpack, MOST, take, &taken);
    for (size_t at = 0; at < bytes.size && !status; at += piece) {
        size_t left = bytes.size - at;
        status = unpack_feed(&unpack, keel_bytes(bytes.data + at, left < piece ? left : piece));
    }
    if (!status) status = unpack_end(&unpack);
    check(!status || keel_status_code(status) == KEEL_CORRUPT);
    keel_status_ignore(status);
    unpack_deinitialize(&unpack);
}

// ---- a journal ---------------------------------------------------------------------------------

static keel_status_t count(void *context, const struct json_t *event) {
    (void)event;
    ++*(size_t *)context;
    return NULL;
}

static void strip_lines(keel_bytes_t lines, bool without_names) {
    const keel_pack_settings_t settings = {.without_names = without_names, .without_sources = true};
    names_t names;
    keel_map_t moved;
    keel_buffer_t out;
    keel_journal_damage_t damage;
    size_t before = 0, after = 0;
    names_initialize(&names);
    keel_map_initialize(&moved);
    keel_buffer_initialize(&out, 0);
    const journal_strip_t strip = {.settings = &settings, .names = &names, .moved = &moved};
    keel_status_t status = journal_strip(&strip, lines, &out);
    check(!status || keel_status_code(status) == KEEL_UNSUPPORTED);
    if (!status) {
        check(!keel_journal_parse(lines, count, &before, &damage));
        check(!keel_journal_parse(keel_buffer_bytes(&out), count, &after, &damage));
        check(damage.lines == 0 && after <= before);
    }
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
    keel_map_deinitialize(&moved);
    names_deinitialize(&names);
}

// ---- a program ---------------------------------------------------------------------------------

static void strip_program(keel_bytes_t bytes, bool is_hlo) {
    names_t names;
    uint8_t *copy;
    keel_program_t program;
    check(!keel_bytes_dup(bytes, &copy));
    names_initialize(&names);
    keel_status_t status = program_strip(&names, copy, bytes.size, is_hlo);
    if (!status) {
        keel_bytes_t stripped = keel_bytes(copy, bytes.size);
        check(!(is_hlo ? keel_read_hlo(stripped, &program) : keel_read_mlir(stripped, &program)));
        keel_program_deinitialize(&program);
    }
    keel_status_ignore(status);
    names_deinitialize(&names);
    keel_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    keel_bytes_t rest = keel_bytes(data + 1, size - 1);
    switch (*data % 5) {
        case 0:
            read_archive(rest, 1 + (size_t)(*data) * 7);
            break;
        case 1:
            strip_lines(rest, true);
            break;
        case 2:
            strip_lines(rest, false);
            break;
        default:
            strip_program(rest, *data % 5 == 4);
    }
    return 0;
}
