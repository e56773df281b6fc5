foreach(name cli_recorded cli_marked cli_hosts)
  keel_unit_test(${name} ROOMS cli target base SYSTEM PkgConfig::jansson)
endforeach()
keel_unit_test(cli_replay ROOMS cli compiler signature key base SYSTEM m)
