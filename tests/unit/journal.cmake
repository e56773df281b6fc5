keel_unit_test(journal ROOMS journal)
