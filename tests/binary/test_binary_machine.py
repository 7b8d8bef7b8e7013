"""The host is measured where a library carries code for a card, whatever the distribution is called."""

from __future__ import annotations

from dataclasses import replace

import pytest
from binary_samples import elf, fatbin

from envdoctor.model.environment import Isolation
from envdoctor.model.fact import Fact, Facts, FactState
from envdoctor.verbs import patient_machine

SASS = 2
MEASURED = Facts([Fact("gpu[0].architecture", FactState.KNOWN, "sm_90", "test")])


@pytest.fixture
def machine(monkeypatch, site):
    """Look at ``site`` as at an environment of this machine, with or without a card; the host answers when asked."""

    def look(*, card: bool, wanted: bool = False) -> tuple[Facts, bool]:
        monkeypatch.setattr(patient_machine, "may_have_a_card", lambda: card)

        def host_facts(environment, *, wanted=False):
            users = patient_machine.uses_a_card(environment)
            return MEASURED if wanted or users else Facts()

        monkeypatch.setattr(patient_machine, "host_facts", host_facts)
        environment = site.environment()
        environment = replace(environment, isolation=Isolation())
        facts, binaries = patient_machine.machine_and_libraries(environment, wanted=wanted)
        return facts, any(item.gpu for item in binaries or ())

    return look


def kernels() -> bytes:
    return elf(sections={".nv_fatbin": fatbin((SASS, 110, 0))})


def test_an_unknown_extension_with_gpu_code_has_the_host_measured(machine, site):
    site.add_files("thoronly", "1.0", {"thoronly/_C.so": kernels()})
    assert machine(card=True) == (MEASURED, True)
    facts, code = machine(card=False)
    assert (len(facts), code) == (0, False)


def test_an_extension_without_gpu_code_has_not(machine, site):
    site.add_files("plain", "1.0", {"plain/_C.so": elf()})
    facts, code = machine(card=True)
    assert (len(facts), code) == (0, False)


def test_a_known_user_of_cards_has_the_host_measured_without_one(machine, site):
    site.add_files("torch", "2.6.0", {"torch/_C.so": elf()})
    assert machine(card=False)[0] is MEASURED
