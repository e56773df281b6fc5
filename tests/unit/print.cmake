keel_unit_test(print ROOMS read program base)
