import os
import sys

from setuptools import find_packages, setup

NAME = "demo"
REQUIRED = ["torch>=1.13", "numpy" + "<2", f"tool=={'1.0'}"]
if sys.platform == "win32":
    REQUIRED.append("pywin32")
elif os.environ.get("CUDA"):
    REQUIRED += ["cupy"]
if sys.version_info[:2] < (3, 9):
    REQUIRED.extend(["backports.zoneinfo"])
with open("requirements.txt") as file:
    more = [line.strip() for line in file if line.strip() and not line.startswith("#")]


def read(name):
    return open(os.path.join(os.path.dirname(__file__), name)).read().splitlines()


extras = {"gpu": ["cupy"], "dev": read("dev.txt")}
extras["all"] = sum(extras.values(), [])
setup(
    name=NAME,
    version="1.0",
    packages=find_packages(),
    install_requires=REQUIRED + more,
    extras_require=extras,
    python_requires=">=3.8",
    setup_requires=["cython"],
    zip_safe=False,
)
