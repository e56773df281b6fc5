keel_unit_test(analysis_earlier ROOMS analysis)
keel_unit_test(analysis_kept ROOMS analysis)
keel_unit_test(analysis_line ROOMS analysis)
keel_unit_test(analysis_sources ROOMS analysis)
