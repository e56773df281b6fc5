keel_unit_test(enforce_ranks ROOMS enforce meet settings base)
