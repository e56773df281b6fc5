keel_unit_test(pack ROOMS pack journal key read program base)
keel_unit_test(pack_names ROOMS pack journal key read program base)
