keel_unit_test(enforce_ranks ROOMS enforce meet settings base)
keel_unit_test(enforce_differ ROOMS enforce meet base)
add_dependencies(enforce_differ_test keel)
keel_unit_test(enforce_waiting ROOMS enforce meet settings base)
target_link_options(enforce_waiting_test PRIVATE -Wl,--wrap=keel_clock_monotonic
  -Wl,--wrap=keel_log_line -Wl,--wrap=ranks_put_text)
