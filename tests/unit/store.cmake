keel_unit_test(store_tier ROOMS store base)
