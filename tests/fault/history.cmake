keel_fault_test(history ROOMS history key base)
