"""Says what it does.

pip install torch
"""
import os, subprocess
from __future__ import annotations
import torch
from torch.cuda.amp import autocast
import numpy as np
try:
    import triton
    import flash_attn
except ImportError:
    triton = None
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.load("a.pt", map_location="cuda").cuda().half()
subprocess.run(["pip", "install", "torch"])
torch.backends.cudnn.benchmark = True
x = np.float(1); y = np.int0(2)  # cuda
TEXT = f"""
    .to('cuda:0')
"""
if __name__ == "__main__":
    import pkg_resources
    with torch.autocast("cuda", dtype=torch.bfloat16):
        model.to("cuda")
    torch.jit.script(model); os.system("pip install -U xformers")
def f():
    'a "docstring" of cuda'
    import tensorrt
    return hasattr(torch, "compile") and torch.compile(f, backend="inductor")
