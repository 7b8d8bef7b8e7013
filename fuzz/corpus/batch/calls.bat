for %%p in (a b c) do python -m pip install %%p
call :sub & goto :eof
:sub
pip install -r requirements.txt || exit /b 1
