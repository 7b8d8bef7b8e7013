#!/bin/bash
set -e
CUDA=${CUDA:-cu124}
INDEX="https://wheels.example/whl/$CUDA"
for p in numpy "scipy>=1" ; do pip install $p; done
python -m venv .venv && . .venv/bin/activate
