Set-Location $PSScriptRoot\sub
$env:PIP_NO_BUILD_ISOLATION = "0"
$x = if ($IsWindows) { "torch" } else { "numpy" }
pip install $x "a", "b" -r list.txt
