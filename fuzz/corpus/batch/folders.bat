cd /d %~dp0sub
set "PIP_INDEX_URL=https://index.example/%NAME:~0,3%"
if exist list.txt (pip install -r list.txt) else pip install "torch<2"
