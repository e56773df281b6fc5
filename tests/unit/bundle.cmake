keel_unit_test(bundle ROOMS bundle key base)
