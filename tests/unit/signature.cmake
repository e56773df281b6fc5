keel_unit_test(signature ROOMS signature read program base)
