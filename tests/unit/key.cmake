keel_unit_test(key_program ROOMS key program base)
