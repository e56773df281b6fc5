// What `keel lint` prints: text, JSON, JUnit XML, SARIF.
#include "cli/ci.h"
#include "cli/lint_files.h"
#include "text/write.h"

static const char *shown(const lint_file_t *file) {
    return strcmp(file->path, "-") == 0 ? "stdin" : file->path;
}

static const char *page_of(const keel_lint_finding_t *finding) {
    return keel_lint_facts(finding->rule)->page[finding->client];
}

static const char *remedy_of(const keel_lint_finding_t *finding) {
    return keel_lint_facts(finding->rule)->remedy[finding->client];
}

// The sentence, where it is and what is meant.
static void put_message(keel_buffer_t *out, const keel_lint_finding_t *finding) {
    keel_buffer_text(out, keel_lint_facts(finding->rule)->sentence);
    if (*finding->function) {
        keel_buffer_text(out, ", in ");
        keel_write_foreign(out, finding->function);
    }
    keel_buffer_text(out, ": ");
    keel_write_foreign(out, finding->code);
}

// ---- text --------------------------------------------------------------------------------------

static void text_finding(const lint_file_t *file, const keel_lint_finding_t *finding, bool color,
                         keel_buffer_t *out) {
    keel_write_foreign(out, shown(file));
    keel_buffer_format(out, ":%u:%u: %s%s%s: ", finding->line, finding->column,
                       color ? "\x1b[1m" : "", keel_lint_facts(finding->rule)->name,
                       color ? "\x1b[0m" : "");
    put_message(out, finding);
    keel_buffer_format(out, "\n    %s  keel explain %s\n", remedy_of(finding), page_of(finding));
}

void lint_text(const lint_files_t *files, bool color, keel_buffer_t *out) {
    if (files->count == files->unread) return; // that is said elsewhere
    for (size_t i = 0; i < files->count; ++i)
        for (size_t k = 0; k < files->files[i].report.count; ++k)
            text_finding(&files->files[i], &files->files[i].report.findings[k], color, out);
    if (files->findings) {
        keel_buffer_byte(out, '\n');
        keel_write_counted(out, files->findings, "finding");
        keel_buffer_format(out, " in %zu of ", files->with_findings);
    } else {
        keel_buffer_text(out, "no findings in ");
    }
    keel_write_counted(out, files->count - files->unread, "file");
    if (files->ignored) keel_buffer_format(out, ", %zu ignored by comments", files->ignored);
    keel_buffer_byte(out, '\n');
}

void lint_rules_text(keel_buffer_t *out) {
    for (unsigned i = 0; i < KEEL_LINT_RULE_COUNT; ++i) {
        const keel_lint_facts_t *rule = keel_lint_facts((keel_lint_rule_t)i);
        keel_buffer_format(out, "%-20s  %s\n", rule->name, rule->sentence);
    }
}

// ---- JSON --------------------------------------------------------------------------------------

static void json_finding(keel_json_t *json, const lint_file_t *file,
                         const keel_lint_finding_t *finding) {
    const keel_lint_facts_t *rule = keel_lint_facts(finding->rule);
    keel_json_break(json, "\n ");
    keel_json_object(json, NULL);
    keel_json_string(json, "file", shown(file));
    keel_json_unsigned(json, "line", finding->line);
    keel_json_unsigned(json, "column", finding->column);
    keel_json_unsigned(json, "end_line", finding->end_line);
    keel_json_unsigned(json, "end_column", finding->end_column);
    keel_json_string(json, "rule", rule->name);
    keel_json_string(json, "page", page_of(finding));
    keel_json_string(json, "sentence", rule->sentence);
    keel_json_string(json, "remedy", remedy_of(finding));
    keel_json_string(json, "function", finding->function);
    keel_json_string(json, "code", finding->code);
    keel_json_end_object(json);
}

void lint_json(const lint_files_t *files, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_unsigned(&json, "files", files->count - files->unread);
    keel_json_unsigned(&json, "ignored", files->ignored);
    keel_json_array(&json, "findings");
    for (size_t i = 0; i < files->count; ++i)
        for (size_t k = 0; k < files->files[i].report.count; ++k)
            json_finding(&json, &files->files[i], &files->files[i].report.findings[k]);
    keel_json_end_array(&json);
    keel_json_array(&json, "unparsed");
    for (size_t i = 0; i < files->count; ++i) {
        const lint_file_t *file = &files->files[i];
        if (!file->report.error_line) continue;
        keel_json_object(&json, NULL);
        keel_json_string(&json, "file", shown(file));
        keel_json_unsigned(&json, "line", file->report.error_line);
        keel_json_unsigned(&json, "column", file->report.error_column);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
    keel_json_array(&json, "unread");
    for (size_t i = 0; i < files->count; ++i) {
        const lint_file_t *file = &files->files[i];
        if (!file->unread) continue;
        keel_json_object(&json, NULL);
        keel_json_string(&json, "file", shown(file));
        keel_json_string(&json, "reason", file->unread);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
    keel_json_end_object(&json);
}

void lint_rules_json(keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_array(&json, NULL);
    for (unsigned i = 0; i < KEEL_LINT_RULE_COUNT; ++i) {
        const keel_lint_facts_t *rule = keel_lint_facts((keel_lint_rule_t)i);
        keel_json_break(&json, "\n ");
        keel_json_object(&json, NULL);
        keel_json_string(&json, "rule", rule->name);
        keel_json_string(&json, "sentence", rule->sentence);
        keel_json_string(&json, "page_jax", rule->page[KEEL_LINT_JAX]);
        keel_json_string(&json, "page_torch", rule->page[KEEL_LINT_TORCH]);
        keel_json_string(&json, "remedy_jax", rule->remedy[KEEL_LINT_JAX]);
        keel_json_string(&json, "remedy_torch", rule->remedy[KEEL_LINT_TORCH]);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
}

// ---- JUnit -------------------------------------------------------------------------------------

static void junit_failure(keel_buffer_t *out, const lint_file_t *file,
                          const keel_lint_finding_t *finding) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    put_message(&text, finding);
    keel_buffer_format(out, "      <failure type=\"%s\" message=\"",
                       keel_lint_facts(finding->rule)->name);
    ci_put_xml(out, keel_str(keel_buffer_cstr(&text)));
    keel_buffer_text(out, "\">");
    ci_put_xml(out, keel_str(shown(file)));
    keel_buffer_format(out, ":%u:%u: ", finding->line, finding->column);
    ci_put_xml(out, keel_str(remedy_of(finding)));
    keel_buffer_format(out, " keel explain %s</failure>\n", page_of(finding));
    keel_buffer_deinitialize(&text);
}

// A test for each file.
void lint_junit(const lint_files_t *files, keel_buffer_t *out) {
    keel_buffer_format(out,
                       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                       "  <testsuite name=\"keel lint\" tests=\"%zu\" failures=\"%zu\" "
                       "errors=\"%zu\">\n",
                       files->count, files->with_findings, files->unread);
    for (size_t i = 0; i < files->count; ++i) {
        const lint_file_t *file = &files->files[i];
        keel_buffer_text(out, "    <testcase classname=\"keel lint\" name=\"");
        ci_put_xml(out, keel_str(shown(file)));
        if (!file->report.count && !file->unread) {
            keel_buffer_text(out, "\"/>\n");
            continue;
        }
        keel_buffer_text(out, "\">\n");
        if (file->unread) {
            keel_buffer_text(out, "      <error message=\"");
            ci_put_xml(out, keel_str(file->unread));
            keel_buffer_text(out, "\"/>\n");
        }
        for (size_t k = 0; k < file->report.count; ++k)
            junit_failure(out, file, &file->report.findings[k]);
        keel_buffer_text(out, "    </testcase>\n");
    }
    keel_buffer_text(out, "  </testsuite>\n</testsuites>\n");
}

// ---- SARIF -------------------------------------------------------------------------------------

static void sarif_text(keel_json_t *json, const char *name, const char *text) {
    keel_json_object(json, name);
    keel_json_string(json, "text", text);
    keel_json_end_object(json);
}

static void sarif_location(keel_json_t *json, const lint_file_t *file,
                           const keel_lint_finding_t *finding) {
    keel_buffer_t uri;
    keel_buffer_initialize(&uri, 0);
    ci_put_uri(&uri, keel_str(shown(file)));
    keel_json_array(json, "locations");
    keel_json_object(json, NULL);
    keel_json_object(json, "physicalLocation");
    keel_json_object(json, "artifactLocation");
    keel_json_string(json, "uri", keel_buffer_cstr(&uri));
    keel_json_end_object(json);
    keel_json_object(json, "region");
    keel_json_unsigned(json, "startLine", finding->line);
    keel_json_unsigned(json, "startColumn", finding->column);
    keel_json_unsigned(json, "endLine", finding->end_line);
    keel_json_unsigned(json, "endColumn", finding->end_column);
    keel_json_end_object(json);
    keel_json_end_object(json);
    keel_json_end_object(json);
    keel_json_end_array(json);
    keel_buffer_deinitialize(&uri);
}

static void sarif_result(keel_json_t *json, const lint_file_t *file,
                         const keel_lint_finding_t *finding) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    put_message(&text, finding);
    keel_buffer_format(&text, ". %s", remedy_of(finding));
    keel_json_break(json, "\n  ");
    keel_json_object(json, NULL);
    keel_json_string(json, "ruleId", keel_lint_facts(finding->rule)->name);
    keel_json_unsigned(json, "ruleIndex", finding->rule);
    keel_json_string(json, "level", "warning");
    sarif_text(json, "message", keel_buffer_cstr(&text));
    sarif_location(json, file, finding);
    keel_json_end_object(json);
    keel_buffer_deinitialize(&text);
}

void lint_sarif(const lint_files_t *files, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    keel_json_string(&json, "version", "2.1.0");
    keel_json_array(&json, "runs");
    keel_json_object(&json, NULL);
    keel_json_object(&json, "tool");
    keel_json_object(&json, "driver");
    keel_json_string(&json, "name", "keel lint");
    keel_json_string(&json, "version", KEEL_VERSION);
    keel_json_array(&json, "rules");
    for (unsigned i = 0; i < KEEL_LINT_RULE_COUNT; ++i) {
        const keel_lint_facts_t *rule = keel_lint_facts((keel_lint_rule_t)i);
        keel_json_break(&json, "\n  ");
        keel_json_object(&json, NULL);
        keel_json_string(&json, "id", rule->name);
        sarif_text(&json, "shortDescription", rule->sentence);
        keel_json_end_object(&json);
    }
    keel_json_end_array(&json);
    keel_json_end_object(&json);
    keel_json_end_object(&json);
    keel_json_array(&json, "results");
    for (size_t i = 0; i < files->count; ++i)
        for (size_t k = 0; k < files->files[i].report.count; ++k)
            sarif_result(&json, &files->files[i], &files->files[i].report.findings[k]);
    keel_json_end_array(&json);
    keel_json_end_object(&json);
    keel_json_end_array(&json);
    keel_json_end_object(&json);
    keel_buffer_byte(out, '\n');
}
