// A file of a run is unpacked: decompressed in pieces, each member checked by its name before it is
// written.
#include <jansson.h>
#include <stdio.h>
#include <zstd.h>

#include "journal/journal.h"
#include "pack/member.h"
#include "pack/pack.h"
#include "pack/unpack.h"

enum { PIECE = 1 << 20 };

// ---- names of members --------------------------------------------------------------------------

static bool is_digest(keel_str_t text) {
    keel_digest_t digest;
    for (size_t i = 0; i < text.size; ++i)
        if (text.data[i] >= 'A' && text.data[i] <= 'F') return false;
    return keel_digest_unhex(text, &digest);
}

// "<64 digits><ending>"
static bool is_kept(keel_str_t name, const char *const *endings) {
    enum { DIGITS = KEEL_DIGEST_HEX - 1 };
    if (name.size <= DIGITS || !is_digest((keel_str_t){name.data, DIGITS})) return false;
    return keel_str_is_one_of((keel_str_t){name.data + DIGITS, name.size - DIGITS}, endings);
}

static bool is_of_run(keel_str_t name, keel_str_t run) {
    static const char *const files[] = {"journal.ndjson", "explained.ndjson", "sources.tsv", NULL};
    if (!run.size || !keel_str_starts(name, run) || name.size <= run.size ||
        name.data[run.size] != '/')
        return false;
    return keel_str_is_one_of((keel_str_t){name.data + run.size + 1, name.size - run.size - 1},
                              files);
}

bool member_is_allowed(keel_str_t name, keel_str_t run) {
    static const char *const programs[] = {".mlir.zst", ".hlo.zst", ".options.zst", NULL};
    static const char *const sources[] = {".zst", NULL};
    const keel_str_t folders[] = {KEEL_STR("programs/"), KEEL_STR("sources/")};
    const char *const *const endings[] = {programs, sources};
    for (int i = 0; i < 2; ++i)
        if (keel_str_starts(name, folders[i]))
            return is_kept((keel_str_t){name.data + folders[i].size, name.size - folders[i].size},
                           endings[i]);
    return is_of_run(name, run);
}

// ---- the archive -------------------------------------------------------------------------------

void unpack_initialize(unpack_t *unpack, uint64_t most, unpack_take_t *take, void *context) {
    const uint64_t whole = most > UINT64_MAX / 2 ? UINT64_MAX : 2 * most; // with headers
    *unpack =
        (unpack_t){.most = most, .left = most, .whole = whole, .take = take, .context = context};
    keel_buffer_initialize(&unpack->pending, 0);
    keel_map_initialize(&unpack->seen);
}

void unpack_deinitialize(unpack_t *unpack) {
    keel_buffer_deinitialize(&unpack->pending);
    keel_map_deinitialize(&unpack->seen);
}

static keel_status_t refuse(const char *format, ...) KEEL_PRINTF(1, 2) KEEL_MUST_CHECK;

static keel_status_t refuse(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return keel_status_make(KEEL_CORRUPT, "%s", text);
}

static keel_status_t too_large(const unpack_t *unpack) {
    char most[16];
    keel_format_size(unpack->most, most);
    return refuse("it expands to more than %s, which no pack of its size does; get another copy, "
                  "or the run's folder",
                  most);
}

// The first member: which run it is.
static keel_status_t take_label(unpack_t *unpack, keel_bytes_t contents) {
    json_t *label = keel_journal_event(keel_bytes_str(contents));
    const char *run = keel_event_text(label, "run");
    uint64_t form = keel_event_count(label, "form");
    bool is_good = keel_journal_is_id(run) && strlen(run) < sizeof unpack->run;
    if (is_good) snprintf(unpack->run, sizeof unpack->run, "%s", run);
    json_decref(label);
    if (form != PACK_FORM)
        return refuse("it has the form %llu, and this Keel reads %d", (unsigned long long)form,
                      PACK_FORM);
    return is_good ? NULL : refuse("it does not say which run it is of");
}

static keel_status_t take_member(unpack_t *unpack, keel_bytes_t contents) {
    keel_str_t name = keel_str(unpack->member.name);
    if (!*unpack->run) return take_label(unpack, contents);
    return unpack->take(unpack->context, name.data, contents);
}

static keel_status_t begin_member(unpack_t *unpack) {
    enum { LARGEST_LABEL = 1 << 20, MOST = 1 << 20 };
    keel_str_t name = keel_str(unpack->member.name);
    bool is_label = !*unpack->run;
    if (is_label && (!keel_str_is(name, PACK_LABEL) || unpack->member.size > LARGEST_LABEL))
        return refuse("it does not begin with %s", PACK_LABEL);
    if (!is_label && !member_is_allowed(name, keel_str(unpack->run)))
        return refuse("it has a member that does not belong there");
    if (keel_map_find(&unpack->seen, keel_str_bytes(name)) || unpack->seen.count == MOST)
        return refuse("it has a member twice, or too many");
    if (unpack->member.size > unpack->left) return too_large(unpack);
    unpack->left -= unpack->member.size;
    unpack->is_inside = true;
    return keel_map_put(&unpack->seen, keel_str_bytes(name), 1);
}

// Takes one header, or one member with what pads it; *out_used is 0 if more bytes are needed.
static keel_status_t take_next(unpack_t *unpack, keel_bytes_t bytes, size_t *out_used) {
    *out_used = 0;
    if (unpack->is_inside) {
        uint64_t whole = unpack->member.size + keel_tar_padding(unpack->member.size);
        if (bytes.size < whole) return NULL;
        *out_used = (size_t)whole;
        KEEL_ASSERT(unpack->member.size <= unpack->most); // begin_member has looked
        unpack->is_inside = false;
        return take_member(unpack, keel_bytes(bytes.data, (size_t)unpack->member.size));
    }
    if (bytes.size < KEEL_TAR_BLOCK) return NULL;
    *out_used = KEEL_TAR_BLOCK;
    KEEL_TRY(keel_tar_read_header(bytes.data, &unpack->member, &unpack->is_over));
    return unpack->is_over ? NULL : begin_member(unpack);
}

keel_status_t unpack_feed(unpack_t *unpack, keel_bytes_t bytes) {
    if (bytes.size > unpack->whole) return too_large(unpack);
    unpack->whole -= bytes.size;
    keel_buffer_append(&unpack->pending, bytes.data, bytes.size);
    KEEL_TRY(keel_buffer_status(&unpack->pending));
    size_t at = 0;
    while (!unpack->is_over) {
        size_t used;
        KEEL_TRY(take_next(unpack, keel_bytes(unpack->pending.data + at, unpack->pending.size - at),
                           &used));
        if (!used) break;
        at += used;
    }
    KEEL_ASSERT(at <= unpack->pending.size);
    if (unpack->is_over) at = unpack->pending.size; // what follows the end says nothing
    if (at) memmove(unpack->pending.data, unpack->pending.data + at, unpack->pending.size - at);
    unpack->pending.size -= at;
    return NULL;
}

keel_status_t unpack_end(const unpack_t *unpack) {
    return unpack->is_over && *unpack->run ? NULL : refuse("it is truncated");
}

// ---- the compressed file -----------------------------------------------------------------------

typedef struct file_t {
    const char *path;
    uint64_t at;
    ZSTD_DStream *stream;
    bool is_whole; // the frame has ended
    uint8_t *out;  // a piece
} file_t;

static keel_status_t decompress(file_t *file, keel_bytes_t bytes, unpack_t *unpack) {
    ZSTD_inBuffer in = {bytes.data, bytes.size, 0};
    bool is_full = false;
    while (in.pos < in.size || is_full) {
        ZSTD_outBuffer out = {file->out, PIECE, 0};
        size_t left = ZSTD_decompressStream(file->stream, &out, &in);
        if (ZSTD_isError(left)) return refuse("it is damaged: %s", ZSTD_getErrorName(left));
        KEEL_TRY(unpack_feed(unpack, keel_bytes(file->out, out.pos)));
        file->is_whole = left == 0;
        is_full = out.pos == out.size;
        if (file->is_whole) break;
    }
    return NULL;
}

static keel_status_t read_all(file_t *file, unpack_t *unpack) {
    for (;;) {
        uint8_t *bytes;
        size_t size;
        KEEL_TRY(keel_file_read_from(file->path, file->at, PIECE, &bytes, &size));
        keel_status_t status = size ? decompress(file, keel_bytes(bytes, size), unpack) : NULL;
        keel_free(bytes);
        file->at += size;
        if (status) return status;
        // Its sum stands at its end, and so is checked before the run is used.
        if (file->is_whole) return unpack_end(unpack);
        if (!size) return refuse("it is truncated");
    }
}

static keel_status_t read_file(const char *path, unpack_t *unpack) {
    file_t file = {.path = path, .stream = ZSTD_createDStream()};
    void *memory;
    keel_status_t status = file.stream ? keel_alloc(PIECE, &memory)
                                       : keel_status_make(KEEL_NO_MEMORY, "%s: no memory", path);
    if (!status) {
        file.out = memory;
        ZSTD_initDStream(file.stream);
        status = read_all(&file, unpack);
        keel_free(file.out);
    }
    ZSTD_freeDStream(file.stream);
    return keel_status_annotate(status, "%s", path);
}

// ---- into a folder -----------------------------------------------------------------------------

typedef struct place_t {
    const char *folder, *run;       // the run is "" before the first member
    char id[KEEL_RUN_ID_SIZE + 16]; // under which the run is written; "" before that
} place_t;

static bool is_taken(const place_t *place) {
    char *path;
    keel_status_t status = keel_path(&path, "%s/%s", place->folder, place->id);
    bool is_taken = !status && keel_is_folder(path);
    if (!status) keel_free(path);
    keel_status_ignore(status);
    return is_taken;
}

static void choose_id(place_t *place) {
    enum { MOST = 1000 };
    snprintf(place->id, sizeof place->id, "%s", place->run);
    for (int i = 2; i < MOST && is_taken(place); ++i)
        snprintf(place->id, sizeof place->id, "%s.%d", place->run, i);
}

static keel_status_t make_folder(const place_t *place, const char *name) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", place->folder, name));
    keel_status_t status = keel_directory_make(path);
    keel_free(path);
    return status;
}

static keel_status_t write_file(const place_t *place, const char *of, const char *file,
                                keel_bytes_t contents, bool may_exist) {
    char *path;
    KEEL_TRY(make_folder(place, of));
    KEEL_TRY(keel_path(&path, "%s/%s/%s", place->folder, of, file));
    keel_status_t status =
        may_exist && keel_is_file(path) ? NULL : keel_file_create(path, contents);
    keel_free(path);
    return status;
}

// Another run may have brought the same program or source already.
static keel_status_t write_member(void *context, const char *name, keel_bytes_t contents) {
    place_t *place = context;
    const char *file = strchr(name, '/') + 1;
    if (strncmp(name, "programs/", 9) == 0)
        return write_file(place, "programs", file, contents, true);
    if (strncmp(name, "sources/", 8) == 0)
        return write_file(place, "sources", file, contents, true);
    if (!*place->id) choose_id(place);
    return write_file(place, place->id, file, contents, false);
}

keel_status_t keel_pack_unpack(const char *path, const char *folder, char **out_id) {
    keel_file_facts_t facts;
    unpack_t unpack;
    KEEL_TRY(keel_file_facts(path, &facts));
    place_t place = {.folder = folder, .run = unpack.run};
    uint64_t most = keel_limit_for(KEEL_LIMIT_PACK_LEAST, KEEL_LIMIT_PACK_RATIO, facts.size);
    unpack_initialize(&unpack, most, write_member, &place);
    keel_status_t status = read_file(path, &unpack);
    if (!status && !*place.id)
        status = keel_status_make(KEEL_CORRUPT, "%s: it has no journal", path);
    if (!status) status = keel_strdup(keel_str(place.id), out_id);
    unpack_deinitialize(&unpack);
    return status;
}

// ---- whether it is one -------------------------------------------------------------------------

bool keel_pack_is(const char *path) {
    enum { HEAD = 1 << 17 }; // more than zstd's first block
    uint8_t *bytes, block[KEEL_TAR_BLOCK];
    size_t size;
    keel_status_t status = keel_is_file(path) ? keel_file_read_from(path, 0, HEAD, &bytes, &size)
                                              : keel_status_make(KEEL_NOT_FOUND, "no file");
    if (status) {
        keel_status_ignore(status);
        return false;
    }
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {bytes, size, 0};
    ZSTD_outBuffer out = {block, sizeof block, 0};
    bool is_good = stream != NULL;
    while (is_good && out.pos < out.size && in.pos < in.size) {
        size_t before = out.pos + in.pos, left = ZSTD_decompressStream(stream, &out, &in);
        is_good = !ZSTD_isError(left) && out.pos + in.pos > before;
    }
    ZSTD_freeDStream(stream);
    keel_free(bytes);
    keel_tar_member_t member;
    bool is_end = true;
    status = is_good && out.pos == out.size ? keel_tar_read_header(block, &member, &is_end) : NULL;
    is_good = !status && !is_end && strcmp(member.name, PACK_LABEL) == 0;
    keel_status_ignore(status);
    return is_good;
}
