keel_unit_test(metrics ROOMS metrics)
