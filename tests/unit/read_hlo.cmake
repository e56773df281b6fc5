keel_unit_test(read_hlo ROOMS read program base)
keel_unit_test(read_hlo_values ROOMS read program base)
keel_unit_test(hlo_fields ROOMS read key program base)
