"""Speaks the child's protocol without torch; does to itself what the plan's ``plant`` says, for each kernel."""

import json
import os
import pathlib
import sys
import time

plan = json.loads(sys.stdin.read())
plant = plan.get("plant", {})
count = os.environ.get("SMOKE_STUB_LOG")
if count:
    with pathlib.Path(count).open("a", encoding="utf-8") as log:
        log.write(",".join(item["id"] for item in plan["items"]) + "\n")


def say(event, **fields):
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def fault(kernel, name):
    if name == "abort":
        os.abort()
    elif name == "hang":
        time.sleep(60)
    elif name == "kill":
        os.kill(os.getpid(), 9)
    elif name == "exit":
        os._exit(7)
    elif name == "noise":
        sys.stdout.write("not json\n{}\n[1]\n" + '{"event": 3}\n' + "x" * 300000 + "\n")
        sys.stderr.write("y" * 300000 + "\nlast words\n")
    elif name == "words":
        sys.stderr.write("terminate called after throwing an instance of c10::Error\n")
        sys.stderr.flush()
        os._exit(3)
    elif name == "poison":
        say("result", item=kernel, kernel=kernel, status="crashed", note="assert", poisoned=True)
        os._exit(86)


if "hello" in plant:
    fault("hello", plant["hello"])
say("hello", python="3.8.0", pid=os.getpid())
for stage in ("import-torch", "device-context"):
    say("start", item=stage, kernel=stage)
    if plant.get(stage) == "refuse":
        say("result", item=stage, kernel=stage, status="unsupported", note="no such device")
        say("end", status=0)
        sys.exit(0)
    if stage in plant:
        fault(stage, plant[stage])
    if stage == "device-context":
        say("device", backend="cuda", device="cuda:0", name="stub", settings=[], facts={"count": 1})
    say("result", item=stage, kernel=stage, status="passed", first_ms=1.0, device="cuda:0")
passed = set()
for item in plan["items"]:
    if item.get("group") in passed:
        continue
    name = item["kernel"]
    say("start", item=item["id"], kernel=name)
    planted, _, spared = plant.get(name, "").partition("@")
    if planted and spared not in item["settings"]:
        fault(item["id"], planted)
    status = "wrong-answer" if planted == "wrong" and spared not in item["settings"] else "passed"
    if status == "passed" and item.get("group"):
        passed.add(item["group"])
    say("result", item=item["id"], kernel=name, status=status, error_relative=0.5, tolerance=0.1, first_ms=2.0)
    if planted == "die-after":
        os._exit(9)
say("end", status=0)
