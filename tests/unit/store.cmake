keel_unit_test(store_tier ROOMS store base)
keel_unit_test(store_entry ROOMS store base)
keel_unit_test(store_disk ROOMS store base)
keel_unit_test(store_claim ROOMS store base)
