@echo off
setlocal enabledelayedexpansion
set TORCH=2.4.1
set "INDEX=https://wheels.example/cu124"
if "%1"=="amd" (
  pip install torch-directml
) else (
  pip install torch==%TORCH% --index-url !INDEX! ^
     torchvision
)
