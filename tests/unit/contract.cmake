keel_unit_test(contract ROOMS contract base)
keel_unit_test(contract_read ROOMS contract base)
keel_unit_test(contract_asked ROOMS contract program key host base)
