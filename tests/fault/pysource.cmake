keel_fault_test(pysource ROOMS pysource base)
