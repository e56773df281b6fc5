#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "journal/journal.h"
#include "read/read.h"
#include "run/run.h"

enum { SHORTEST_DIGEST = 4 };

void cli_program_close(cli_program_t *program) {
    keel_free(program->label);
    keel_free(program->data);
    *program = (cli_program_t){0};
}

static bool is_compressed(const uint8_t *data, size_t size) {
    static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

static keel_status_t open_file(const char *path, cli_program_t *out) {
    KEEL_TRY(keel_strdup(keel_str(path), &out->label));
    KEEL_TRY(cli_read_file(path, &out->data, &out->size));
    if (!is_compressed(out->data, out->size))
        return keel_journal_check_name(path, keel_bytes(out->data, out->size));
    keel_free(out->data);
    out->data = NULL;
    return keel_journal_read_program(path, &out->data, &out->size);
}

static keel_status_t open_input(cli_program_t *out) {
    KEEL_TRY(keel_strdup(KEEL_STR("standard input"), &out->label));
    KEEL_TRY(cli_read_file("/dev/stdin", &out->data, &out->size));
    if (!is_compressed(out->data, out->size)) return NULL;
    return keel_status_make(
        KEEL_INVALID, "standard input: compressed; pipe it through `zstd -dc`, or name the file");
}

static keel_status_t open_digest(const char *run_dir, const char *hex, cli_program_t *out) {
    char *path;
    KEEL_TRY(keel_journal_find_program(run_dir, hex, &path));
    keel_status_t status = open_file(path, out);
    keel_free(path);
    return status;
}

// The digest of the one program of that name in the newest run.
static keel_status_t find_name(const keel_run_t *stats, const char *name, const char **out) {
    char choices[256] = "";
    size_t matches = 0;
    for (size_t i = 0; i < stats->program_count; ++i) {
        if (strcmp(stats->programs[i].name, name) != 0) continue;
        *out = stats->programs[i].program;
        size_t used = strlen(choices);
        if (matches++ < 5)
            snprintf(choices + used, sizeof choices - used, "%s%.12s", used ? ", " : "", *out);
    }
    if (matches == 1) return NULL;
    if (matches)
        return keel_status_make(KEEL_INVALID,
                                "%s: %zu programs of run %s have that name; give a digest: %s",
                                name, matches, stats->id, choices);
    return keel_status_make(KEEL_NOT_FOUND,
                            "%s: no such file, and no program of that digest or name in the newest "
                            "run; `keel stats` lists its programs",
                            name);
}

static keel_status_t open_name(const char *run_dir, const char *name, cli_program_t *out) {
    char *id;
    keel_status_t status = keel_journal_find_run(run_dir, NULL, &id);
    if (status) {
        keel_status_ignore(status);
        return keel_status_make(KEEL_NOT_FOUND,
                                "%s: no such file, and no run is recorded in %s; check the path",
                                name, run_dir);
    }
    keel_run_t stats;
    status = keel_run_read(run_dir, id, 0, &stats);
    keel_free(id);
    KEEL_TRY(status);
    const char *digest = "";
    status = find_name(&stats, name, &digest);
    if (!status) status = open_digest(run_dir, digest, out);
    keel_run_deinitialize(&stats);
    return status;
}

static keel_status_t open_any(const char *text, const char *run_dir, cli_program_t *out) {
    if (strcmp(text, "-") == 0) return open_input(out);
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(text, &facts);
    if (!status || keel_status_code(status) != KEEL_NOT_FOUND || strchr(text, '/')) {
        keel_status_ignore(status);
        return open_file(text, out);
    }
    keel_status_ignore(status);
    size_t length = strlen(text);
    if (length < SHORTEST_DIGEST || strspn(text, "0123456789abcdef") != length)
        return open_name(run_dir, text, out);
    return open_digest(run_dir, text, out);
}

keel_status_t cli_program_explain(const cli_program_t *program, keel_status_t status) {
    keel_bytes_t bytes = keel_bytes(program->data, program->size);
    keel_code_t code = keel_status_code(status);
    // HLO has no magic number: bytes that are not understood may be anything.
    bool none = code == KEEL_CORRUPT || (code == KEEL_UNSUPPORTED && !keel_read_is_mlir(bytes));
    if (!none || !bytes.size || keel_read_is_text(bytes))
        return keel_status_annotate(status, "%s", program->label);
    keel_status_t told = keel_status_make(
        code, "%s: not a program: %s; give MLIR bytecode or a serialized HloModuleProto",
        program->label, keel_status_message(status));
    keel_status_ignore(status);
    return told;
}

keel_status_t cli_program_open(const char *text, const char *run_dir, cli_program_t *out) {
    *out = (cli_program_t){0};
    keel_status_t status = open_any(text, run_dir, out);
    if (status) cli_program_close(out);
    return status;
}
