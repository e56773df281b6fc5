keel_fault_test(metrics ROOMS text why run metrics base)
