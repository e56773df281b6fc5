keel_fault_test(bundle ROOMS bundle base)
