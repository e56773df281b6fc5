// A rehearsal takes the plugin's place if `keel rehearse` started this process.
#define _GNU_SOURCE // dladdr
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "shim/shim.h"
#include "view/view.h"

static const char *or_empty(const char *text) {
    return text ? text : "";
}

// The place of a word in a list; the first one if it is empty.
static keel_status_t read_word(const char *variable, const char *const *words, int *out) {
    const char *word = or_empty(getenv(variable));
    for (*out = 0; words[*out]; ++*out)
        if (strcmp(word, words[*out]) == 0) return NULL;
    *out = 0;
    if (!*word) return NULL;
    keel_buffer_t known;
    keel_buffer_initialize(&known, 1 << 10);
    for (int i = 0; words[i]; ++i)
        keel_buffer_format(&known, "%s%s", i ? ", " : "", words[i]);
    keel_status_t status = keel_status_make(KEEL_INVALID, "%s=%s; known are %s", variable, word,
                                            keel_buffer_cstr(&known));
    keel_buffer_deinitialize(&known);
    return status;
}

#define WORD(name, text, sentence) text,
static const char *const compiles[] = {KEEL_REHEARSE_COMPILES(WORD) NULL};
static const char *const fills[] = {KEEL_REHEARSE_FILLS(WORD) NULL};
#undef WORD

// What `keel rehearse` made of the setting (src/cli/writes.c). Nothing protects the files of a
// process that is not in the view, or that lacks the variable.
static keel_writes_t read_writes(void) {
    static const char discards[] = "discard ";
    const char *text = or_empty(getenv("KEEL_REHEARSE_WRITES"));
    if (strcmp(text, "keep") == 0) return KEEL_WRITES_KEEP;
    bool is_discarded = keel_str_starts(keel_str(text), KEEL_STR(discards)) &&
                        keel_view_is_here(text + sizeof discards - 1);
    return is_discarded ? KEEL_WRITES_DISCARD : KEEL_WRITES_REFUSE;
}

// ---- the client --------------------------------------------------------------------------------

static atomic_bool is_torch;

void keel_shim_note_client(const void *caller) {
    Dl_info library;
    if (*or_empty(getenv("KEEL_REHEARSE")) && dladdr(caller, &library) && library.dli_fname &&
        strstr(library.dli_fname, "/_XLAC"))
        atomic_store(&is_torch, true);
}

keel_status_t keel_shim_rehearse(keel_plugin_t *plugin, keel_shim_rehearsal_t *out) {
    static keel_target_t target;
    static keel_plugin_t real;
    *out = (keel_shim_rehearsal_t){.target = NULL};
    const char *text = or_empty(getenv("KEEL_REHEARSE"));
    if (!*text) return NULL;
    int chosen, fill;
    KEEL_TRY(read_word("KEEL_REHEARSE_COMPILE", compiles, &chosen));
    KEEL_TRY(read_word("KEEL_REHEARSE_VALUES", fills, &fill));
    out->compiles = (keel_rehearse_compiles_t)chosen;
    out->fill = (keel_rehearse_fill_t)fill;
    out->writes = read_writes();
    KEEL_TRY(keel_target_read_here(text, &target));
    static char *calculator;
    real = *plugin;
    KEEL_TRY(keel_settings_embedded_plugin(&calculator));
    const keel_rehearse_settings_t settings = {.target = &target,
                                               .plugin = &real,
                                               .compiles = out->compiles,
                                               .client_is_old = atomic_load(&is_torch),
                                               .fill = out->fill,
                                               .calculator = calculator};
    KEEL_TRY(keel_rehearse_begin(&settings, &plugin->api));
    out->target = &target;
    return NULL;
}
