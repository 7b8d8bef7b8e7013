"""Facts that variables replace."""

from __future__ import annotations

from envdoctor.adapters.probe.host_overrides import overridden
from envdoctor.model.fact import Fact, FactState


def test_a_replaced_fact_names_the_source_that_it_stands_in_place_of():
    measured = [Fact("os", FactState.KNOWN, "linux", "sys.platform")]
    environ = {"ENVDOCTOR_FACT_OS": "windows", "ENVDOCTOR_FACT_GPU_0_NAME": "x"}
    system, card = overridden(measured, environ, ())
    assert (system.value, system.source, system.overridden_by) == ("windows", "sys.platform", "ENVDOCTOR_FACT_OS")
    assert (card.source, card.overridden_by) == ("", "ENVDOCTOR_FACT_GPU_0_NAME")
