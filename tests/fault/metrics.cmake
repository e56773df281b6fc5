keel_fault_test(metrics ROOMS report base)
