keel_fault_test(signature ROOMS signature read program base)
