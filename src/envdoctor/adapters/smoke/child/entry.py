"""Runs a plan of kernels and tells the parent about each, before and after."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import platform
import sys
import time
import warnings
from typing import Any, Dict, List, Optional, Set

from .. import kernel_catalogue
from .channel import Channel
from .planted import Planted

__all__ = ["main"]

EXIT_POISONED = 86
"""The device context computes no more; the parent starts a new process for the rest."""


def main(arguments: List[str]) -> int:
    """Run the plan given by ``--plan JSON`` (or by stdin). Returns the exit status."""
    if "--all-reduce" in arguments:
        from .all_reduce import main as all_reduce

        return all_reduce()
    text = "".join(arguments[arguments.index("--plan") + 1 :][:1]) if "--plan" in arguments else sys.stdin.read()
    try:
        plan = json.loads(text)
        unknown = [item["kernel"] for item in plan["items"] if item["kernel"] not in kernel_catalogue.ENTRIES]
    except (ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"the plan is no JSON object with `items`, each with a `kernel`: {error}\n")
        return 2
    if unknown:
        sys.stderr.write("there is no kernel called " + ", ".join(map(str, unknown)) + "\n")
        return 2
    _harden()
    channel = Channel()
    channel.send("hello", python=platform.python_version(), pid=os.getpid(), executable=sys.executable)
    whole = _Round(plan, channel)
    status = whole.run()
    channel.send("end", status=status)
    sys.stderr.flush()
    # A driver that hangs or dies while it unloads has nothing to say about the kernels.
    os._exit(status)


def _harden() -> None:
    warnings.simplefilter("ignore")
    with contextlib.suppress(Exception):
        faulthandler.enable()
    with contextlib.suppress(Exception):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class _Round:
    """One process: import, open the device, then the items of the plan in order."""

    def __init__(self, plan: Dict[str, Any], channel: Channel) -> None:
        self.plan = plan
        self.channel = channel
        self.planted = Planted(plan.get("plant", {}))
        self.device: Any = None
        self.passed: Set[str] = set()

    def run(self) -> int:
        if not self._import() or not self._open():
            return 0
        begin = time.perf_counter()
        from . import registry

        registry.load()
        self.channel.send("loaded", phases={"load_s": time.perf_counter() - begin})
        for item in self.plan["items"]:
            if self._item(item):
                return EXIT_POISONED
        return 0

    def _stage(self, name: str, work: Any) -> bool:
        self.channel.send("start", item=name, kernel=name)
        begin = time.perf_counter()
        try:
            self.planted.strike(name)
            fields = work()
        except BaseException as error:  # noqa: BLE001 - whatever happens here is the answer
            self._failed_stage(name, error)
            return False
        taken = (time.perf_counter() - begin) * 1e3
        self.channel.send("result", item=name, kernel=name, status="passed", first_ms=taken, **fields)
        return True

    def _failed_stage(self, name: str, error: BaseException) -> None:
        status = "crashed"
        # A torch that lacks something it imports is there, and broken.
        absent = name == "import-torch" and isinstance(error, ModuleNotFoundError) and error.name == "torch"
        if absent or type(error).__name__ == "Unavailable":
            status = "unsupported"
        note = f"{type(error).__name__}: {error}"
        if status == "unsupported" and name == "device-context":
            note = str(error)
        self.channel.send("result", item=name, kernel=name, status=status, note=note)

    def _import(self) -> bool:
        def work() -> Dict[str, Any]:
            import torch

            if not hasattr(torch, "__version__") or not hasattr(torch, "Tensor"):
                place = getattr(torch, "__file__", None) or next(iter(getattr(torch, "__path__", [])), "?")
                raise ImportError(f"`{place}` is not torch: a stub, or what an uninstall left behind")
            threads = self.plan.get("threads")
            if threads:
                torch.set_num_threads(int(threads))
            return {"device": "cpu"}

        return self._stage("import-torch", work)

    def _open(self) -> bool:
        def work() -> Dict[str, Any]:
            from . import backends

            self.device = backends.open_device(
                self.plan.get("backend", "auto"), int(self.plan.get("device", 0)), bool(self.plan.get("counted_round"))
            )
            self.channel.send(
                "device",
                backend=self.device.backend,
                device=str(self.device.device),
                name=self.device.name,
                stand_in=self.device.stand_in,
                settings=list(self.device.settings),
                facts=self.device.facts,
            )
            return {"device": str(self.device.device)}

        return self._stage("device-context", work)

    def _item(self, item: Dict[str, Any]) -> bool:
        """Run one item; True when this process is spent."""
        entry = kernel_catalogue.find(item["kernel"])
        key = item.get("id", entry.name)
        group = item.get("group")
        if group is not None and group in self.passed:
            return False
        self.channel.send("start", item=key, kernel=entry.name, limit_s=entry.limit_s)
        reason = self._excused(entry, item)
        outcome = reason if reason is not None else self._outcome(entry, item)
        if outcome["status"] == "passed" and group is not None:
            self.passed.add(group)
        self.channel.send("result", item=key, kernel=entry.name, device=str(self.device.device), **outcome)
        return bool(outcome.get("poisoned"))

    def _excused(self, entry: kernel_catalogue.Entry, item: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        import torch

        release = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
        if release < entry.needs:
            return {"status": "skipped", "note": f"needs torch {entry.needs[0]}.{entry.needs[1]} or later"}
        if self.device.backend in entry.moot and not item.get("force"):
            return {"status": "skipped", "note": "another implementation takes over on " + self.device.backend}
        if self.device.backend in entry.lacking and not item.get("force"):
            return {"status": "unsupported", "note": f"{self.device.backend} does not have it", "lacking": True}
        return None

    def _outcome(self, entry: kernel_catalogue.Entry, item: Dict[str, Any]) -> Dict[str, Any]:
        from . import measure

        options = measure.Options(
            int(self.plan.get("repeats", 5)),
            float(self.plan.get("budget_ms", 30.0)),
            bool(self.plan.get("reference", True)),
        )
        try:
            return measure.measure(entry, self.device, item.get("settings", ()), options, self.planted)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - SystemExit of a library is an outcome like any other
            outcome = measure.classify(error, self.device)
        gc.collect()
        return outcome
