param([string]$Backend = "cuda")
$ErrorActionPreference = "Stop"
$packages = @("numpy<2", 'scipy')
$index = "https://wheels.example/$Backend"
