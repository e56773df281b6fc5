keel_unit_test(cli_recorded ROOMS cli base SYSTEM PkgConfig::jansson)
keel_unit_test(cli_replay ROOMS cli compiler signature key base SYSTEM m)
