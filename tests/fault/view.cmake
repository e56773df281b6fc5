keel_fault_test(view ROOMS view base)
