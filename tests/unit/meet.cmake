keel_unit_test(meet ROOMS meet base)
keel_unit_test(meet_redis ROOMS meet base)
