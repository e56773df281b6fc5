keel_unit_test(view_mounts ROOMS view base)
keel_unit_test(view ROOMS view base)
