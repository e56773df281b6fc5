keel_unit_test(cli_recorded ROOMS cli base SYSTEM PkgConfig::jansson)
