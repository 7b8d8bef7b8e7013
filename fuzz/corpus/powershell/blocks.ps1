if ($Backend -eq "cuda") { pip install torch --index-url $index } elseif ($IsMacOS) { pip install torch }
else { & python -m pip install @packages `
    "xformers==0.0.27" }
foreach ($p in $packages) { pip install $p }
@"
pip install never
"@ | Out-File x.txt
