keel_fault_test(contract ROOMS contract base)
