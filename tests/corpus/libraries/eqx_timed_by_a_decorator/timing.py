import functools
import time

SECONDS = []


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        result = function(*args, **kwargs)  # <- cause
        SECONDS.append(time.perf_counter() - start)
        return result

    return wrapper
