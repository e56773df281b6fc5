keel_unit_test(base ROOMS base)
