#include "enforce/differ.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/pack.h"
#include "compiler/compiler.h"

enum {
    PIECES_MOST = 32,      // of a packed program
    DIFFERENCES_SHOWN = 6, // lines
};

static void name_piece(const differ_side_t *side, unsigned piece, char out[KEEL_MEET_KEY]) {
    snprintf(out, KEEL_MEET_KEY, "%s-%u", side->key, piece);
}

// ---- handing over ------------------------------------------------------------------------------

// Pieces from 1 on, then how many there are as piece 0; none of a program that is too large.
static keel_status_t give_packed(const letters_t *letters, const differ_side_t *side,
                                 keel_bytes_t packed) {
    char key[KEEL_MEET_KEY], text[16];
    size_t count = (packed.size + LETTERS_MOST - 1) / LETTERS_MOST;
    if (count > PIECES_MOST) count = 0;
    for (size_t i = 0; i < count; ++i) {
        size_t left = packed.size - i * LETTERS_MOST;
        name_piece(side, (unsigned)i + 1, key);
        KEEL_TRY(letters_put(
            letters, key,
            keel_bytes(packed.data + i * LETTERS_MOST, left < LETTERS_MOST ? left : LETTERS_MOST)));
    }
    name_piece(side, 0, key);
    snprintf(text, sizeof text, "%zu", count);
    return letters_put(letters, key, keel_str_bytes(keel_str(text)));
}

keel_status_t differ_give(const letters_t *letters, const differ_side_t *side) {
    uint8_t *packed;
    size_t size;
    KEEL_TRY(keel_pack(side->code, &packed, &size));
    keel_status_t status = give_packed(letters, side, keel_bytes(packed, size));
    keel_free(packed);
    return status;
}

static keel_status_t take_pieces(letters_t *letters, const differ_side_t *side, uint64_t until,
                                 keel_buffer_t *out) {
    char key[KEEL_MEET_KEY];
    keel_buffer_t text;
    keel_buffer_initialize(&text, 16);
    name_piece(side, 0, key);
    keel_status_t status = letters_get(letters, side->process, key, until, &text);
    unsigned long count = status ? 0 : strtoul(keel_buffer_cstr(&text), NULL, 10);
    keel_buffer_deinitialize(&text);
    KEEL_TRY(status);
    if (!count || count > PIECES_MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "the program is too large to hand over");
    for (unsigned i = 1; i <= count; ++i) {
        name_piece(side, i, key);
        KEEL_TRY(letters_get(letters, side->process, key, until, out));
    }
    return NULL;
}

// ---- comparing ---------------------------------------------------------------------------------

static keel_status_t write_file(letters_t *letters, const char *folder, const differ_side_t *side,
                                uint64_t until, char **out) {
    keel_buffer_t packed;
    if (side->is_kept) return keel_strdup(keel_str(side->digest), out);
    keel_buffer_initialize(&packed, 0);
    KEEL_TRY(keel_path(out, "%s/%s.zst", folder, side->digest));
    keel_status_t status = NULL;
    if (side->code.data) {
        uint8_t *data = NULL;
        size_t size = 0;
        status = keel_pack(side->code, &data, &size);
        if (!status) keel_buffer_append(&packed, data, size);
        keel_free(data);
    } else {
        status = take_pieces(letters, side, until, &packed);
    }
    if (!status) status = keel_buffer_status(&packed);
    if (!status) status = keel_file_replace(*out, keel_buffer_bytes(&packed));
    keel_buffer_deinitialize(&packed);
    return status;
}

static void show(const char *line, keel_buffer_t *out) {
    for (int shown = 0; shown < DIFFERENCES_SHOWN && *line;) {
        size_t length = strcspn(line, "\n");
        bool is_left_out = strncmp(line, "A: ", 3) == 0 || strncmp(line, "B: ", 3) == 0 ||
                           strncmp(line, "--all", 5) == 0;
        if (length && !is_left_out) keel_buffer_format(out, "\n  %.*s", (int)length, line);
        shown += length && !is_left_out;
        line += length + (line[length] == '\n');
    }
}

static keel_status_t diff(const char *run_dir, char *const files[2], uint64_t until,
                          keel_buffer_t *out) {
    static char word[] = "diff", in[] = "--run-dir";
    char *keel;
    KEEL_TRY(keel_compiler_find_worker(NULL, &keel));
    char *argv[] = {keel, word, in, (char *)(uintptr_t)run_dir, files[0], files[1], NULL};
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 16);
    if (keel_answer(argv, until, &text) == 1 && !text.failed) show(keel_buffer_cstr(&text), out);
    keel_buffer_deinitialize(&text);
    keel_free(keel);
    return NULL;
}

void differ_explain(letters_t *letters, const char *run_dir, const char *folder,
                    const differ_side_t sides[2], keel_buffer_t *out) {
    uint64_t until = keel_clock_monotonic() + DIFFER_WITHIN * 1000000000ull;
    char *files[2] = {NULL, NULL};
    keel_status_t status = keel_directory_make(folder);
    for (int i = 0; i < 2 && !status; ++i)
        status = write_file(letters, folder, &sides[i], until, &files[i]);
    if (!status) status = diff(run_dir, files, until, out);
    keel_status_ignore(status);
    for (int i = 0; i < 2; ++i) {
        if (files[i] && !sides[i].is_kept) keel_status_ignore(keel_file_remove(files[i]));
        keel_free(files[i]);
    }
}
