#include "cli/cli.h"

static void print_json(const cli_fixes_t *fixes, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_array(&json, NULL);
    for (size_t i = 0; i < fixes->count; ++i) {
        const cli_fix_t *fix = &fixes->list[i];
        if (i) keel_json_break(&json, "\n ");
        keel_json_object(&json, NULL);
        keel_json_string(&json, "name", fix->name);
        keel_json_string(&json, "label", fix->label);
        keel_json_string(&json, "reference", fix->reference);
        keel_json_string(&json, "url", fix->url);
        keel_json_string(&json, "client", fix->client);
        keel_json_string(&json, "first", fix->first);
        keel_json_string(&json, "last", fix->last);
        keel_json_string(&json, "sentence", fix->sentence);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
}

static void print(const cli_fixes_t *fixes, keel_buffer_t *out) {
    for (size_t i = 0; i < fixes->count; ++i) {
        const cli_fix_t *fix = &fixes->list[i];
        keel_buffer_format(out, "%s%s  %s %s to %s, %s\n    %s\n    %s, %s\n", i ? "\n" : "",
                           fix->name, fix->client, fix->first, fix->last, fix->label, fix->sentence,
                           fix->reference, fix->url);
    }
}

int cli_fixes(cli_call_t *call) {
    bool json = false;
    int code;
    call->details = "`keel run --fix` applies them.\n";
    cli_switch(call, "--json", "print JSON: a list of fixes", &json);
    if (!cli_parse(call, 0, 0, &code)) return code;
    char *package = NULL;
    cli_fixes_t fixes = {0};
    keel_status_t status = cli_find_package(&package);
    if (!status) status = cli_fixes_read(package, &fixes);
    keel_free(package);
    if (status) return cli_fail(status);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    if (json)
        print_json(&fixes, &out);
    else
        print(&fixes, &out);
    cli_fixes_release(&fixes);
    return cli_answer(&out);
}
