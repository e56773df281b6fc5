keel_unit_test(fixes ROOMS report)
