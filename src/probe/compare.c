// Would an entry made here be a hit there?
#include "probe/probe.h"

static bool is(const keel_bundle_t *bundle, keel_bundle_section_t section, const char *name,
               const char *value) {
    const char *found = keel_bundle_find(bundle, section, name);
    return found && strcmp(found, value) == 0;
}

// An entry is made here and loaded there, so both must be able to do their part. The small program
// runs again only if its executable was serialized and loaded.
size_t keel_probe_blocks(const keel_bundle_t *here, const keel_bundle_t *there,
                         const char *out[KEEL_PROBE_BLOCKS]) {
    static const char again[] = "run again", mode[] = "mode";
    const bool known = here->known[KEEL_BUNDLE_KEY] && there->known[KEEL_BUNDLE_KEY];
    const struct {
        bool blocks;
        const char *why;
    } rows[KEEL_PROBE_BLOCKS] = {
        {!here->known[KEEL_BUNDLE_KEY],
         "the components of keys are unknown here: this probe was made with --fast, or no client "
         "could be made"},
        {!there->known[KEEL_BUNDLE_KEY],
         "the components of keys are unknown there: that probe was made with --fast, or its plugin "
         "made no client"},
        {known && !is(here, KEEL_BUNDLE_STEPS, again, "ok"),
         "executables do not serialize and reload here, so no entry is stored"},
        {known && !is(there, KEEL_BUNDLE_STEPS, again, "ok"), "executables do not reload there"},
        {is(here, KEEL_BUNDLE_SETTINGS, mode, "off"), "mode is off here, so nothing is stored"},
        {is(here, KEEL_BUNDLE_SETTINGS, mode, "readonly"),
         "mode is readonly here, so nothing is stored"},
        {is(there, KEEL_BUNDLE_SETTINGS, mode, "off"),
         "mode is off there, so nothing is looked up"},
        {is(there, KEEL_BUNDLE_SETTINGS, mode, "refresh"),
         "mode is refresh there, so nothing is looked up"},
    };
    size_t count = 0;
    for (size_t i = 0; i < KEEL_PROBE_BLOCKS; ++i)
        if (rows[i].blocks) out[count++] = rows[i].why;
    return count;
}
