keel_unit_test(page ROOMS page report journal read program base)
keel_unit_test(page_source ROOMS page report journal base)
