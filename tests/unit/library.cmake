keel_unit_test(library ROOMS library base)
