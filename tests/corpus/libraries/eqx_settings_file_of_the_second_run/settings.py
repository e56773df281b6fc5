import dataclasses
import json


@dataclasses.dataclass
class Settings:
    rate: float
    penalty: float

    @classmethod
    def read(cls, path):
        return cls(**json.loads(path.read_text()))
