keel_unit_test(print_operation ROOMS read program base)
