keel_fault_test(needs ROOMS needs read program base)
