keel_unit_test(target ROOMS target pjrt base)
