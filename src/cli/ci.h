// ci: parts of what CI systems read: XML, URIs. Room-internal.
#ifndef KEEL_CLI_CI_H_
#define KEEL_CLI_CI_H_

#include "base/base.h"

// Text as XML, also within an attribute. XML 1.0 has no way to write most controls: they are `?`.
void ci_put_xml(keel_buffer_t *out, keel_str_t text);
// A path as a URI: an absolute one with its scheme.
void ci_put_uri(keel_buffer_t *out, keel_str_t path);

#endif // KEEL_CLI_CI_H_
