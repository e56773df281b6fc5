keel_unit_test(sign ROOMS store sign base)
