keel_unit_test(explain_align ROOMS explain base)
keel_unit_test(explain_sizes ROOMS explain program base)
keel_unit_test(explain ROOMS explain key read program base)
keel_unit_test(explain_hlo ROOMS explain key read program base)
