keel_unit_test(html ROOMS report journal read program base)
