keel_fault_test(base ROOMS base)
