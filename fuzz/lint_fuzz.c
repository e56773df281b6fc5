// Any text is checked to its end, and what is found stands in it.
#include <stdlib.h>

#include "lint/lint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_str_t text = keel_bytes_str(keel_bytes(data, size));
    keel_lint_options_t options = {.rules = UINT64_MAX, .is_xla = true};
    keel_lint_report_t report;
    check(!keel_lint_text(text, &options, &report));
    for (size_t i = 0; i < report.count; ++i) {
        const keel_lint_finding_t *finding = &report.findings[i];
        check(finding->rule < KEEL_LINT_RULE_COUNT && finding->client < KEEL_LINT_CLIENTS);
        check(finding->line && finding->column && finding->line <= finding->end_line);
        check(!i || finding->line >= finding[-1].line);
        check(strlen(finding->code) > 0 && !strchr(finding->code, '\n'));
    }
    keel_lint_imports_xla(text);
    keel_lint_deinitialize(&report);
    return 0;
}
