// ignore: `# keel: ignore` and `# keel: ignore[rule, rule]`. Room-internal.
#ifndef KEEL_LINT_IGNORE_H_
#define KEEL_LINT_IGNORE_H_

#include "lint/lint.h"
#include "pysource/pysource.h"

// Whether a comment silences the rule there: at the end of the line, or on a line of its own before
// it.
bool keel_lint_is_ignored(const keel_py_tree_t *tree, uint32_t line, keel_lint_rule_t rule);

#endif // KEEL_LINT_IGNORE_H_
