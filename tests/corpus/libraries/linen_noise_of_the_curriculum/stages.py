import dataclasses


@dataclasses.dataclass
class Stage:
    name: str
    noise: float
    epochs: int = 2


STAGES = [Stage("rough", 0.5), Stage("fine", 0.25)]
