// A run is packed: which programs it names, what each becomes, and all of it into one file.
#define _GNU_SOURCE
#include "pack/pack.h"

#include <jansson.h>
#include <stdio.h>
#include <zstd.h>

#include "base/tar.h"
#include "journal/journal.h"
#include "pack/journal.h"
#include "pack/member.h"
#include "pack/program.h"

// A program, compile options or a source that the run names.
typedef struct kept_t {
    char digest[KEEL_DIGEST_HEX];
    const char *ending; // "mlir"
    uint8_t *stripped;  // its file without names; NULL: as it is
    size_t size;
    char *left_out; // why it is not packed
} kept_t;

typedef struct packing_t {
    const char *run_dir, *id;
    const keel_pack_settings_t *settings;
    keel_packed_t *packed;
    kept_t *kept;
    size_t count, room;
    keel_map_t known; // "digest.ending"
    names_t names;
    keel_map_t moved; // digest of a program in hex -> index in `digests`
    keel_digest_t *digests;
    size_t digest_count, digest_room;
    ZSTD_CCtx *stream;
    keel_buffer_t tar, out; // what is still to be compressed, and the file
} packing_t;

// ---- what the run names ------------------------------------------------------------------------

static keel_status_t keep(packing_t *packing, const char *digest, const char *ending) {
    char *name;
    if (strlen(digest) != KEEL_DIGEST_HEX - 1) return NULL;
    KEEL_TRY(keel_path(&name, "%s.%s", digest, ending));
    bool is_known = keel_map_find(&packing->known, keel_str_bytes(keel_str(name)));
    void *memory = packing->kept;
    keel_status_t status =
        is_known ? NULL : keel_map_put(&packing->known, keel_str_bytes(keel_str(name)), 1);
    keel_free(name);
    if (is_known || status) return status;
    KEEL_TRY(keel_grow_array(packing->count, sizeof *packing->kept, &packing->room, &memory));
    packing->kept = memory;
    kept_t *kept = &packing->kept[packing->count++];
    *kept = (kept_t){.ending = ending};
    memcpy(kept->digest, digest, sizeof kept->digest);
    return NULL;
}

static keel_status_t path_of(const packing_t *packing, const char *digest, const char *ending,
                             char **out) {
    return keel_path(out, "%s/programs/%s.%s.zst", packing->run_dir, digest, ending);
}

// A program that an explanation compares with may be of an earlier run, in either form.
static keel_status_t keep_other(packing_t *packing, const char *digest) {
    static const char *const endings[] = {"mlir", "hlo"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i) {
        char name[KEEL_DIGEST_HEX + 8];
        snprintf(name, sizeof name, "%.*s.%s", KEEL_DIGEST_HEX - 1, digest, endings[i]);
        if (keel_map_find(&packing->known, keel_str_bytes(keel_str(name)))) return NULL;
        char *path;
        KEEL_TRY(path_of(packing, digest, endings[i], &path));
        bool is_there = keel_is_file(path);
        keel_free(path);
        if (is_there) return keep(packing, digest, endings[i]);
    }
    return NULL;
}

static keel_status_t look_at(void *context, const json_t *event) {
    packing_t *packing = context;
    const char *format = keel_event_text(event, "format"),
               *program = keel_event_text(event, "program");
    const char *against = keel_event_text(json_object_get(event, "against"), "program");
    if (*program && *format)
        KEEL_TRY(keep(packing, program, strcmp(format, "hlo") == 0 ? "hlo" : "mlir"));
    else if (*program)
        KEEL_TRY(keep_other(packing, program)); // refused: no compile names its format
    if (*against) KEEL_TRY(keep_other(packing, against));
    return keep(packing, keel_event_text(event, "options"), "options");
}

// ---- without names -----------------------------------------------------------------------------

static keel_status_t leave_out(packing_t *packing, kept_t *kept, keel_status_t why) {
    if (!why || keel_status_code(why) == KEEL_NO_MEMORY) return why;
    ++packing->packed->left_out;
    if (!*packing->packed->first_left_out)
        snprintf(packing->packed->first_left_out, sizeof packing->packed->first_left_out,
                 "program %.12s: %s", kept->digest, keel_status_message(why));
    keel_status_t status = keel_strdup(keel_str(keel_status_message(why)), &kept->left_out);
    keel_status_ignore(why);
    return status;
}

static keel_status_t note_moved(packing_t *packing, const char *old, const keel_digest_t *new) {
    void *memory = packing->digests;
    KEEL_TRY(keel_grow_array(packing->digest_count, sizeof *new, &packing->digest_room, &memory));
    packing->digests = memory;
    packing->digests[packing->digest_count] = *new;
    return keel_map_put(&packing->moved, keel_str_bytes(keel_str(old)), packing->digest_count++);
}

static keel_status_t strip(packing_t *packing, kept_t *kept) {
    char *path;
    uint8_t *bytes;
    size_t size;
    KEEL_TRY(path_of(packing, kept->digest, kept->ending, &path));
    keel_status_t status = keel_is_file(path)
                               ? keel_journal_read_program(path, &bytes, &size)
                               : keel_status_make(KEEL_NOT_FOUND, "the run kept none");
    keel_free(path);
    KEEL_TRY(status);
    status = program_strip(&packing->names, bytes, size, strcmp(kept->ending, "hlo") == 0);
    keel_digest_t digest = keel_program_digest(keel_bytes(bytes, size));
    if (!status) status = note_moved(packing, kept->digest, &digest);
    if (!status) status = keel_pack(keel_bytes(bytes, size), &kept->stripped, &kept->size);
    keel_free(bytes);
    KEEL_TRY(status);
    keel_digest_hex(&digest, kept->digest);
    return NULL;
}

static keel_status_t strip_all(packing_t *packing) {
    static const char *const staying[] = {"main", "compile", "options"};
    for (size_t i = 0; i < sizeof staying / sizeof *staying; ++i)
        KEEL_TRY(names_keep(&packing->names, keel_str(staying[i])));
    for (size_t i = 0; i < packing->count; ++i) {
        kept_t *kept = &packing->kept[i];
        if (strcmp(kept->ending, "options") == 0) continue;
        KEEL_TRY(leave_out(packing, kept, strip(packing, kept)));
    }
    return NULL;
}

// ---- the file ----------------------------------------------------------------------------------

static keel_status_t compress(packing_t *packing, keel_bytes_t bytes, ZSTD_EndDirective how) {
    ZSTD_inBuffer in = {bytes.data, bytes.size, 0};
    size_t left = 1;
    while (in.pos < in.size || (how == ZSTD_e_end && left)) {
        size_t room = ZSTD_CStreamOutSize();
        uint8_t *to = keel_buffer_reserve(&packing->out, room);
        if (!to) return keel_buffer_status(&packing->out);
        ZSTD_outBuffer out = {to, room, 0};
        left = ZSTD_compressStream2(packing->stream, &out, &in, how);
        if (ZSTD_isError(left)) return keel_status_make(KEEL_NO_MEMORY, "a pack is compressed");
        packing->out.size += out.pos;
    }
    return NULL;
}

static keel_status_t put_member(packing_t *packing, const char *name, keel_bytes_t contents) {
    static const uint8_t zeros[KEEL_TAR_BLOCK];
    packing->tar.size = 0;
    keel_tar_put_header(&packing->tar, name, contents.size);
    KEEL_TRY(keel_buffer_status(&packing->tar));
    KEEL_TRY(compress(packing, keel_buffer_bytes(&packing->tar), ZSTD_e_continue));
    KEEL_TRY(compress(packing, contents, ZSTD_e_continue));
    return compress(packing, keel_bytes(zeros, keel_tar_padding(contents.size)), ZSTD_e_continue);
}

static keel_status_t put_named(packing_t *packing, keel_bytes_t contents, const char *format,
                               const char *first, const char *second) {
    char *name;
    KEEL_TRY(keel_path(&name, format, first, second));
    keel_status_t status = put_member(packing, name, contents);
    keel_free(name);
    return status;
}

// As it is in the run folder; what is not there is not packed.
static keel_status_t put_file(packing_t *packing, const char *name, bool *out_put) {
    const uint64_t largest = UINT64_C(4) << 30;
    char *path;
    uint8_t *bytes;
    size_t size;
    *out_put = false;
    KEEL_TRY(keel_path(&path, "%s/%s", packing->run_dir, name));
    keel_status_t status = keel_is_file(path) ? NULL : keel_status_make(KEEL_NOT_FOUND, "no file");
    if (!status) status = keel_file_read(path, largest, &bytes, &size);
    keel_free(path);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        return NULL;
    }
    KEEL_TRY(status);
    *out_put = true;
    status = put_member(packing, name, keel_bytes(bytes, size));
    keel_free(bytes);
    return status;
}

static keel_status_t put_kept(packing_t *packing) {
    for (size_t i = 0; i < packing->count; ++i) {
        const kept_t *kept = &packing->kept[i];
        char name[KEEL_TAR_NAME];
        bool is_put = true;
        if (kept->left_out) continue;
        snprintf(name, sizeof name, "programs/%s.%s.zst", kept->digest, kept->ending);
        // Two programs that differed only in names are one now.
        if (kept->stripped && keel_map_find(&packing->known, keel_str_bytes(keel_str(name))))
            continue;
        KEEL_TRY(keel_map_put(&packing->known, keel_str_bytes(keel_str(name)), 1));
        if (kept->stripped)
            KEEL_TRY(put_member(packing, name, keel_bytes(kept->stripped, kept->size)));
        else
            KEEL_TRY(put_file(packing, name, &is_put));
        if (!is_put)
            KEEL_TRY(leave_out(packing, &packing->kept[i],
                               keel_status_make(KEEL_NOT_FOUND, "the run kept none")));
        else if (strcmp(kept->ending, "options") != 0)
            ++packing->packed->programs;
    }
    return NULL;
}

// A line for each source: its digest, a tab, its path (analysis/sources.h).
static keel_status_t put_sources(packing_t *packing) {
    char *path, name[KEEL_TAR_NAME];
    uint8_t *bytes;
    size_t size;
    bool is_put;
    snprintf(name, sizeof name, "%s/sources.tsv", packing->id);
    KEEL_TRY(put_file(packing, name, &is_put));
    if (!is_put) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s", packing->run_dir, name));
    keel_status_t status = keel_file_read(path, 1 << 24, &bytes, &size);
    keel_free(path);
    KEEL_TRY(status);
    keel_str_t rest = {(const char *)bytes, size}, line;
    while (!status && keel_str_line(&rest, &line)) {
        keel_digest_t digest;
        char hex[KEEL_DIGEST_HEX] = "";
        const char *tab = memchr(line.data, '\t', line.size);
        size_t length = tab ? (size_t)(tab - line.data) : 0;
        if (!keel_digest_unhex((keel_str_t){line.data, length}, &digest)) continue;
        keel_digest_hex(&digest, hex);
        snprintf(name, sizeof name, "sources/%s.zst", hex);
        if (keel_map_find(&packing->known, keel_str_bytes(keel_str(name)))) continue;
        status = keel_map_put(&packing->known, keel_str_bytes(keel_str(name)), 1);
        if (!status) status = put_file(packing, name, &is_put);
    }
    keel_free(bytes);
    return status;
}

static keel_status_t put_label(packing_t *packing) {
    keel_buffer_t label;
    keel_buffer_initialize(&label, 0);
    keel_json_t json = keel_json(&label, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "event", "pack"); // it is read like the line of a journal
    keel_json_unsigned(&json, "form", PACK_FORM);
    keel_json_string(&json, "keel", KEEL_VERSION);
    keel_json_string(&json, "run", packing->id);
    keel_json_end_object(&json);
    keel_buffer_byte(&label, '\n');
    keel_status_t status = keel_buffer_status(&label);
    if (!status) status = put_member(packing, PACK_LABEL, keel_buffer_bytes(&label));
    keel_buffer_deinitialize(&label);
    return status;
}

// ---- the journal -------------------------------------------------------------------------------

static keel_status_t put_journal(packing_t *packing, keel_bytes_t journal, keel_bytes_t explained) {
    const keel_pack_settings_t *settings = packing->settings;
    if (!settings->without_names && !settings->without_sources) {
        KEEL_TRY(put_named(packing, journal, "%s/%s", packing->id, "journal.ndjson"));
        return explained.size
                   ? put_named(packing, explained, "%s/%s", packing->id, "explained.ndjson")
                   : NULL;
    }
    journal_strip_t strip = {.settings = settings,
                             .names = &packing->names,
                             .moved = &packing->moved,
                             .digests = packing->digests};
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = journal_strip(&strip, journal, &out);
    strip.journal_bytes = out.size;
    if (!status)
        status =
            put_named(packing, keel_buffer_bytes(&out), "%s/%s", packing->id, "journal.ndjson");
    out.size = 0;
    if (!status && explained.size) status = journal_strip(&strip, explained, &out);
    if (!status && explained.size)
        status =
            put_named(packing, keel_buffer_bytes(&out), "%s/%s", packing->id, "explained.ndjson");
    keel_buffer_deinitialize(&out);
    return status;
}

// ---- all of it ---------------------------------------------------------------------------------

static keel_status_t read_own(const packing_t *packing, bool explained, uint8_t **out,
                              size_t *out_size) {
    const uint64_t largest = UINT64_C(4) << 30;
    char *path;
    *out = NULL;
    *out_size = 0;
    KEEL_TRY(explained ? keel_journal_explained_path(packing->run_dir, packing->id, &path)
                       : keel_journal_path(packing->run_dir, packing->id, &path));
    keel_status_t status = keel_file_read(path, largest, out, out_size);
    keel_free(path);
    if (!explained || keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status); // nothing to explain
    return NULL;
}

static keel_status_t fill(packing_t *packing, keel_bytes_t journal, keel_bytes_t explained) {
    const keel_pack_settings_t *settings = packing->settings;
    keel_journal_damage_t damage;
    KEEL_TRY(keel_journal_parse(journal, look_at, packing, &damage));
    KEEL_TRY(keel_journal_parse(explained, look_at, packing, &damage));
    if (settings->without_names) KEEL_TRY(strip_all(packing));
    KEEL_TRY(put_label(packing));
    KEEL_TRY(put_journal(packing, journal, explained));
    KEEL_TRY(put_kept(packing));
    if (!settings->without_names && !settings->without_sources) KEEL_TRY(put_sources(packing));
    packing->tar.size = 0;
    keel_tar_put_end(&packing->tar);
    KEEL_TRY(keel_buffer_status(&packing->tar));
    return compress(packing, keel_buffer_bytes(&packing->tar), ZSTD_e_end);
}

static keel_status_t fill_from_run(packing_t *packing) {
    uint8_t *journal, *explained;
    size_t journal_size, explained_size;
    KEEL_TRY(read_own(packing, false, &journal, &journal_size));
    keel_status_t status = read_own(packing, true, &explained, &explained_size);
    if (!status) {
        // A live run writes on: a last line that is not whole is left out by readers.
        status =
            fill(packing, keel_bytes(journal, journal_size), keel_bytes(explained, explained_size));
        keel_free(explained);
    }
    keel_free(journal);
    return status;
}

static void release(packing_t *packing) {
    for (size_t i = 0; i < packing->count; ++i) {
        keel_free(packing->kept[i].stripped);
        keel_free(packing->kept[i].left_out);
    }
    keel_free(packing->kept);
    keel_free(packing->digests);
    keel_map_deinitialize(&packing->known);
    keel_map_deinitialize(&packing->moved);
    names_deinitialize(&packing->names);
    keel_buffer_deinitialize(&packing->tar);
    keel_buffer_deinitialize(&packing->out);
    ZSTD_freeCCtx(packing->stream);
}

keel_status_t keel_pack_write(const char *run_dir, const char *id,
                              const keel_pack_settings_t *settings, const char *path,
                              keel_packed_t *out) {
    packing_t packing = {.run_dir = run_dir, .id = id, .settings = settings, .packed = out};
    *out = (keel_packed_t){.programs = 0};
    keel_map_initialize(&packing.known);
    keel_map_initialize(&packing.moved);
    names_initialize(&packing.names);
    keel_buffer_initialize(&packing.tar, 0);
    keel_buffer_initialize(&packing.out, 0);
    packing.stream = ZSTD_createCCtx();
    keel_status_t status =
        packing.stream ? NULL : keel_status_make(KEEL_NO_MEMORY, "a pack is compressed");
    if (!status) {
        ZSTD_CCtx_setParameter(packing.stream, ZSTD_c_checksumFlag, 1);
        status = fill_from_run(&packing);
    }
    if (!status) status = keel_file_replace_public(path, keel_buffer_bytes(&packing.out));
    out->bytes = packing.out.size;
    release(&packing);
    return status;
}
