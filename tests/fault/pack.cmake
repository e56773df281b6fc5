keel_fault_test(pack ROOMS pack journal key read program base)
