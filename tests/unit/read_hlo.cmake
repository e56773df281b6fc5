keel_unit_test(read_hlo ROOMS read program base)
