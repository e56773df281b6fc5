keel_unit_test(report ROOMS report)
