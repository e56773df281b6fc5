keel_unit_test(base ROOMS base)
keel_unit_test(base_files ROOMS base)
keel_unit_test(base_json ROOMS base SYSTEM PkgConfig::jansson)
keel_unit_test(base_lock ROOMS base)
