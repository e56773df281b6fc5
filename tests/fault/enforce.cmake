keel_fault_test(enforce_ranks ROOMS enforce meet settings base)
