// Config files: read, or refused with one line that names the file.
#include <stdlib.h>

#include "settings/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_settings_t settings = {0};
    keel_status_t status = keel_settings_parse(keel_bytes(data, size), "config", &settings);
    if (status) {
        check(keel_status_code(status) == KEEL_INVALID);
        check(strncmp(keel_status_message(status), "config:", 7) == 0);
        check(strchr(keel_status_message(status), '\n') == NULL);
    }
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        const keel_setting_value_t *value = &settings.values[i];
        check(!value->text == !value->where);
        if (value->text) keel_status_ignore(keel_settings_check_folder(value->text, "config"));
    }
    keel_status_ignore(status);
    keel_settings_deinitialize(&settings);
    return 0;
}
