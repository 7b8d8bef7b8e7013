"""Run envdoctor's kernels once on every card of a Ray cluster: `python with_ray.py ENV REPORTS`.

ENV: the environment whose torch is asked, the same path on every host. REPORTS: a folder that all hosts see.
"""

import subprocess
import sys

import ray


@ray.remote(max_retries=0)
def smoke(environment: str, reports: str, number: int) -> int:
    """Run on the card that Ray gives to this task; return the exit code."""
    file = f"{reports}/{{host}}-{number}.json"
    command = ["envdoctor", "smoke", "--env", environment, "--format", "json", "--output", file, "--quiet"]
    return subprocess.run(command, check=False).returncode


def main(environment: str, reports: str) -> int:
    ray.init()
    cards = int(ray.cluster_resources().get("GPU", 0))
    # One task for each card; without cards, one for the CPU.
    one_each = smoke.options(num_gpus=1 if cards else 0)
    codes = ray.get([one_each.remote(environment, reports, number) for number in range(cards or 1)])
    subprocess.run(["envdoctor", "compare", reports], check=False)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
