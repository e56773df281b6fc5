keel_unit_test(print_operation ROOMS read key program base)
keel_unit_test(print_small ROOMS read program base)
