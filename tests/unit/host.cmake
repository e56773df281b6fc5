keel_unit_test(host_script ROOMS host base)
keel_unit_test(host_stack ROOMS host base)
keel_unit_test(host_names ROOMS host base)
keel_unit_test(host_origin ROOMS host program base)
