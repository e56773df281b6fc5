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
        keel_buffer_byte(&out, '{');
        cli_field_text(&out, "keel", KEEL_VERSION);
        cli_field_number(&out, "pjrt_api_major", PJRT_API_MAJOR);
        cli_field_number(&out, "pjrt_api_minor", PJRT_API_MINOR);
        keel_buffer_byte(&out, '}');
    } else {
        keel_buffer_format(&out, "keel %s\nbuilt for PJRT C API %d.%d\n", KEEL_VERSION,
                           PJRT_API_MAJOR, PJRT_API_MINOR);
    }
    return cli_answer(&out);
}
