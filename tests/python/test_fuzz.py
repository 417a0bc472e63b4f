"""A short run of the fuzzer; `fuzz.py` runs for as long as one likes.

FIRESTEEL_FUZZ_SECONDS and FIRESTEEL_FUZZ_SEED change how long and which.
"""

import os

from fuzz import METHODS, Fuzz, load
from server import Server


def test_the_seeds_are_of_every_kind():
    seeds = load()
    assert len(seeds["ExecutePlan"]) > 100
    assert len(seeds["AnalyzePlan"]) > 100
    for method, requests in seeds.items():
        for data in requests:
            METHODS[method].FromString(data)


def test_the_server_answers_after_random_requests():
    seconds = float(os.environ.get("FIRESTEEL_FUZZ_SECONDS", "20"))
    seed = int(os.environ.get("FIRESTEEL_FUZZ_SEED", "11"))
    with Server() as server:
        fuzz = Fuzz(server.port, seed)
        fuzz.run(seconds)
        assert not fuzz.fatal, f"seed {seed}"
        assert fuzz.wire.is_alive(), f"seed {seed}"
        assert fuzz.conditions["OK"] > 100
        fuzz.wire.release_session()
