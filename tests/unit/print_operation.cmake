keel_unit_test(print_operation ROOMS read key program base)
