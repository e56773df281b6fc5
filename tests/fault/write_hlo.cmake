keel_fault_test(write_hlo ROOMS read program base)
