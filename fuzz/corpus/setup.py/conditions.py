import platform

from setuptools import setup

install_requires = ["numpy"]
WIN = platform.system() == "Windows" or platform.machine().lower().startswith("arm")
if WIN and not platform.python_implementation() == "PyPy":
    install_requires.append("colorama>=0.4")
else:
    install_requires += ["uvloop"]
setup(install_requires=install_requires)
