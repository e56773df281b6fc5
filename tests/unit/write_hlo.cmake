keel_unit_test(write_hlo ROOMS key read program base)
