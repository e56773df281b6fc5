# program: SyncTensorsGraph
# cause: edit
# old: hidden: int = 16
# new: hidden: int = 24
# run: --edit 16
# run:
# run: --edit 24
# run:
# reason: a default of the dataclass is edited between the two trainings, by a process of its own; script and recipe lie beside each other, copied to where they can be edited

import pathlib
import runpy
import shutil
import sys

HERE = pathlib.Path.cwd()
if "--edit" in sys.argv:
    shutil.copy(pathlib.Path(__file__).parent / "tabular.py", HERE)
    (HERE / "recipe.py").write_text(f"""import dataclasses


@dataclasses.dataclass(frozen=True)
class Recipe:
    inputs: int = 10
    hidden: int = {sys.argv[2]}
    classes: int = 3
    rate: float = 0.05
    steps: int = 3
""")
    sys.exit()
sys.path.insert(0, str(HERE))
runpy.run_path(str(HERE / "tabular.py"), run_name="__main__")
