#include <pjrt_c_api.h>

#include "cli/cli.h"

int cli_version(cli_call_t *call) {
    bool json = false;
    int code;
    cli_switch(call, "--json", "print JSON", &json);
    if (!cli_parse(call, 0, 0, &code)) return code;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    if (json) {
        keel_json_t object = keel_json(&out, KEEL_JSON_SPACED);
        keel_json_object(&object, NULL);
        keel_json_string(&object, "keel", KEEL_VERSION);
        keel_json_unsigned(&object, "pjrt_api_major", PJRT_API_MAJOR);
        keel_json_unsigned(&object, "pjrt_api_minor", PJRT_API_MINOR);
        keel_json_end_object(&object);
    } else {
        keel_buffer_format(&out, "keel %s\nbuilt for PJRT C API %d.%d\n", KEEL_VERSION,
                           PJRT_API_MAJOR, PJRT_API_MINOR);
    }
    return cli_answer(&out);
}
