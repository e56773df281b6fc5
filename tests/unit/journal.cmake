keel_unit_test(journal_fields ROOMS journal base SYSTEM PkgConfig::jansson)
keel_unit_test(journal ROOMS journal)
keel_unit_test(journal_limits ROOMS journal base SYSTEM PkgConfig::jansson)
keel_unit_test(journal_prune ROOMS journal base)
