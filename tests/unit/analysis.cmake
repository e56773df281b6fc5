keel_unit_test(analysis_line ROOMS analysis)
