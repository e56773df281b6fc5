foreach(name needs needs_hlo needs_figures needs_limits)
  keel_unit_test(${name} ROOMS needs read program base)
endforeach()
keel_unit_test(needs_manual ROOMS needs key read program base)
