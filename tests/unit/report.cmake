keel_unit_test(report ROOMS report)
keel_unit_test(why ROOMS report)
keel_unit_test(why_patterns ROOMS report)
keel_unit_test(reads ROOMS report)
