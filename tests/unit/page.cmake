keel_unit_test(page ROOMS page text why run journal read program base)
keel_unit_test(page_source ROOMS page text why run journal base)
keel_unit_test(page_signature ROOMS page text why run journal key read program base)
