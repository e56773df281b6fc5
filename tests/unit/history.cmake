keel_unit_test(history ROOMS history key read program base)
