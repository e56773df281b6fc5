keel_unit_test(settings ROOMS settings)
get_filename_component(name "${KEEL_EMBEDDED_PLUGIN}" NAME)
target_compile_definitions(settings_test PRIVATE KEEL_EMBEDDED_PLUGIN="${name}")
keel_unit_test(settings_address ROOMS settings base)
