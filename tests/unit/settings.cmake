keel_unit_test(settings ROOMS settings)
