keel_fault_test(store ROOMS store base)
