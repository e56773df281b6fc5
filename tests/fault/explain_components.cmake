keel_fault_test(explain_components ROOMS explain read key program base)
