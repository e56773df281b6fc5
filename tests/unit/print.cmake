keel_unit_test(print ROOMS read program base)
keel_unit_test(print_json ROOMS read program base SYSTEM PkgConfig::jansson)
keel_unit_test(print_sharding ROOMS read program base)
