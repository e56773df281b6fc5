// A rehearsal takes the plugin's place if `keel rehearse` started this process.
#include <stdlib.h>

#include "shim/shim.h"

static const char *or_empty(const char *text) {
    return text ? text : "";
}

static keel_status_t read_compiles(const char *word, keel_rehearse_compiles_t *out) {
    static const char *const words[] = {
#define COMPILES_WORD(name, text, sentence) text,
        KEEL_REHEARSE_COMPILES(COMPILES_WORD)
#undef COMPILES_WORD
    };
    *out = KEEL_REHEARSE_NEW;
    if (!*word) return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        if (strcmp(word, words[i]) != 0) continue;
        *out = (keel_rehearse_compiles_t)i;
        return NULL;
    }
    return keel_status_make(KEEL_INVALID, "KEEL_REHEARSE_COMPILE=%s; known are all, new and none",
                            word);
}

keel_status_t keel_shim_rehearse(keel_plugin_t *plugin, keel_shim_rehearsal_t *out) {
    static keel_target_t target;
    static keel_plugin_t real;
    *out = (keel_shim_rehearsal_t){.target = NULL};
    const char *text = or_empty(getenv("KEEL_REHEARSE"));
    if (!*text) return NULL;
    KEEL_TRY(read_compiles(or_empty(getenv("KEEL_REHEARSE_COMPILE")), &out->compiles));
    KEEL_TRY(keel_target_read(text, &target));
    static char *calculator;
    real = *plugin;
    KEEL_TRY(keel_settings_embedded_plugin(&calculator));
    const keel_rehearse_settings_t settings = {
        .target = &target, .plugin = &real, .compiles = out->compiles, .calculator = calculator};
    KEEL_TRY(keel_rehearse_begin(&settings, &plugin->api));
    out->target = &target;
    return NULL;
}
