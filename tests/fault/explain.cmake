keel_fault_test(explain ROOMS explain key read program base)
