keel_unit_test(program ROOMS program base)
