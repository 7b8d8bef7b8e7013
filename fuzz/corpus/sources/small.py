import torch
from flash_attn import flash_attn_func
x = torch.zeros(1).cuda()
if torch.backends.mps.is_available():
    torch.load("a.pt", map_location="cuda:0")
