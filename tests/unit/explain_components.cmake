keel_unit_test(explain_components ROOMS explain key program read base)
