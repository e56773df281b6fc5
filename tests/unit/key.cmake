keel_unit_test(key_program ROOMS key program base)
keel_unit_test(key_options ROOMS key base)
keel_unit_test(key_plugin_build ROOMS key base)
keel_unit_test(key_custom_calls ROOMS key program base)
