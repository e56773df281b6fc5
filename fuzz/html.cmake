keel_fuzz(html ROOMS report journal program base)
