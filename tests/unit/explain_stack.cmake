keel_unit_test(explain_stack ROOMS explain base)
