// What CI systems read of a check: annotations, JUnit XML, SARIF.
#include <stdio.h>

#include "cli/ci.h"
#include "cli/contract.h"
#include "explain/cause.h"

static const char *kind_of(const contract_left_t *left) {
    if (left->is_unchecked) return "not-checked";
    return left->root ? keel_cause_facts(left->root->kind)->word : "not-listed";
}

// The message with the cause and what to do, on one line.
static void put_whole(keel_buffer_t *out, const contract_left_t *left) {
    const keel_run_difference_t *root = left->root;
    keel_buffer_text(out, left->message);
    if (root) keel_buffer_format(out, "; %s", keel_cause_facts(root->kind)->word);
    if (root && *root->subject) keel_buffer_format(out, " %s", root->subject);
    if (root && (*root->old_value || *root->new_value))
        keel_buffer_format(out, " %s -> %s", root->old_value, root->new_value);
    if (*left->advice) keel_buffer_format(out, ". %s", left->advice);
}

// ---- annotations -------------------------------------------------------------------------------

// GitHub's workflow commands: what would end the message or a property is %XX.
static void put_escaped(keel_buffer_t *out, keel_str_t text, bool is_property) {
    for (size_t i = 0; i < text.size; ++i) {
        char c = text.data[i];
        bool is_special = c == '%' || (unsigned char)c < 0x20 || c == 0x7f ||
                          (is_property && (c == ':' || c == ','));
        if (is_special)
            keel_buffer_format(out, "%%%02X", (unsigned char)c);
        else
            keel_buffer_byte(out, (uint8_t)c);
    }
}

void contract_annotations(const contract_check_t *check, keel_buffer_t *out) {
    for (size_t i = 0; i < check->left_count; ++i) {
        const contract_left_t *left = &check->left[i];
        const char *file = contract_file(check, left->place);
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        put_whole(&text, left);
        keel_buffer_format(out, "::%s ", contract_is_warning(left) ? "warning" : "error");
        if (*file) {
            keel_buffer_text(out, "file=");
            put_escaped(out, keel_str(file), true);
            if (left->place->line) keel_buffer_format(out, ",line=%u", left->place->line);
            keel_buffer_byte(out, ',');
        }
        keel_buffer_text(out, "title=keel contract::");
        put_escaped(out, keel_str(keel_buffer_cstr(&text)), false);
        keel_buffer_byte(out, '\n');
        keel_buffer_deinitialize(&text);
    }
}

// ---- JUnit -------------------------------------------------------------------------------------

static void begin_case(keel_buffer_t *out, const contract_check_t *check, keel_str_t name) {
    keel_buffer_text(out, "    <testcase classname=\"");
    ci_put_xml(out, keel_str(check->path));
    keel_buffer_text(out, "\" name=\"");
    ci_put_xml(out, name);
    keel_buffer_byte(out, '"');
}

static bool is_of(const contract_left_t *left, const keel_contract_entry_t *entry) {
    return left->nearest.entry == entry && !contract_is_warning(left);
}

static void put_failure(keel_buffer_t *out, const contract_check_t *check,
                        const contract_left_t *left) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(out, "      <failure type=\"");
    keel_buffer_text(out, kind_of(left));
    keel_buffer_text(out, "\" message=\"");
    ci_put_xml(out, keel_str(left->message));
    keel_buffer_text(out, "\">");
    if (*left->place->shown)
        keel_buffer_format(&text, "%s:%u: ", contract_file(check, left->place), left->place->line);
    put_whole(&text, left);
    ci_put_xml(out, keel_str(keel_buffer_cstr(&text)));
    keel_buffer_text(out, "</failure>\n");
    keel_buffer_deinitialize(&text);
}

static size_t put_entry(keel_buffer_t *out, const contract_check_t *check,
                        const keel_contract_entry_t *entry) {
    size_t failures = 0;
    begin_case(out, check, keel_contract_short_name(entry->name, entry->function));
    for (size_t i = 0; i < check->left_count; ++i) {
        if (!is_of(&check->left[i], entry)) continue;
        if (!failures++) keel_buffer_text(out, ">\n");
        put_failure(out, check, &check->left[i]);
    }
    if (failures)
        keel_buffer_text(out, "    </testcase>\n");
    else if (contract_has_run(check, entry))
        keel_buffer_text(out, "/>\n");
    else
        keel_buffer_text(out, ">\n      <skipped message=\"it did not run\"/>\n    </testcase>\n");
    return failures > 0;
}

void contract_junit(const contract_check_t *check, keel_buffer_t *out) {
    keel_buffer_t cases;
    size_t tests = 0, failures = 0;
    keel_buffer_initialize(&cases, 0);
    for (uint32_t i = 0; i < check->contract->entry_count; ++i, ++tests)
        failures += put_entry(&cases, check, &check->contract->entries[i]);
    for (size_t i = 0; i < check->left_count; ++i) {
        const contract_left_t *left = &check->left[i];
        if (left->nearest.entry || contract_is_warning(left)) continue;
        begin_case(
            &cases, check,
            keel_contract_short_name(left->program->asked.name, left->program->asked.function));
        keel_buffer_text(&cases, ">\n");
        put_failure(&cases, check, left);
        keel_buffer_text(&cases, "    </testcase>\n");
        ++tests;
        ++failures;
    }
    keel_buffer_format(out,
                       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                       "  <testsuite name=\"keel contract\" tests=\"%zu\" failures=\"%zu\">\n",
                       tests, failures);
    keel_buffer_str(out, keel_bytes_str(keel_buffer_bytes(&cases)));
    keel_buffer_text(out, "  </testsuite>\n</testsuites>\n");
    keel_buffer_deinitialize(&cases);
}

// ---- SARIF -------------------------------------------------------------------------------------

// GitHub refuses a file with a result that is nowhere: one without a line is at the contract.
static void sarif_location(keel_json_t *json, const contract_check_t *check,
                           const contract_left_t *left) {
    const char *file = contract_file(check, left->place);
    keel_buffer_t uri;
    keel_buffer_initialize(&uri, 0);
    ci_put_uri(&uri, keel_str(*file ? file : check->path));
    keel_json_array(json, "locations");
    keel_json_object(json, NULL);
    keel_json_object(json, "physicalLocation");
    keel_json_object(json, "artifactLocation");
    keel_json_string(json, "uri", keel_buffer_cstr(&uri));
    keel_json_end_object(json);
    if (*file && left->place->line) {
        keel_json_object(json, "region");
        keel_json_unsigned(json, "startLine", left->place->line);
        keel_json_end_object(json);
    }
    keel_json_end_object(json);
    keel_json_end_object(json);
    keel_json_end_array(json);
    keel_buffer_deinitialize(&uri);
}

static void sarif_result(keel_json_t *json, const contract_check_t *check,
                         const contract_left_t *left) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    put_whole(&text, left);
    keel_json_break(json, "\n  ");
    keel_json_object(json, NULL);
    keel_json_string(json, "ruleId", kind_of(left));
    keel_json_string(json, "level", contract_is_warning(left) ? "warning" : "error");
    keel_json_object(json, "message");
    keel_json_string(json, "text", keel_buffer_cstr(&text));
    keel_json_end_object(json);
    sarif_location(json, check, left);
    keel_json_end_object(json);
    keel_buffer_deinitialize(&text);
}

void contract_sarif(const contract_check_t *check, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    keel_json_string(&json, "version", "2.1.0");
    keel_json_array(&json, "runs");
    keel_json_object(&json, NULL);
    keel_json_object(&json, "tool");
    keel_json_object(&json, "driver");
    keel_json_string(&json, "name", "keel contract");
    keel_json_string(&json, "version", KEEL_VERSION);
    keel_json_end_object(&json);
    keel_json_end_object(&json);
    keel_json_array(&json, "results");
    for (size_t i = 0; i < check->left_count; ++i)
        sarif_result(&json, check, &check->left[i]);
    keel_json_end_array(&json);
    keel_json_end_object(&json);
    keel_json_end_array(&json);
    keel_json_end_object(&json);
    keel_buffer_byte(out, '\n');
}
