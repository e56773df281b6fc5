#include "cli/cli.h"

static void print_json(const cli_fixes_t *fixes, keel_buffer_t *out) {
    keel_buffer_byte(out, '[');
    for (size_t i = 0; i < fixes->count; ++i) {
        const cli_fix_t *fix = &fixes->list[i];
        keel_buffer_text(out, i ? ",\n {" : "{");
        cli_field_text(out, "name", fix->name);
        cli_field_text(out, "label", fix->label);
        cli_field_text(out, "reference", fix->reference);
        cli_field_text(out, "url", fix->url);
        cli_field_text(out, "client", fix->client);
        cli_field_text(out, "first", fix->first);
        cli_field_text(out, "last", fix->last);
        cli_field_text(out, "sentence", fix->sentence);
        keel_buffer_byte(out, '}');
    }
    keel_buffer_byte(out, ']');
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
