git clone https://git.example/owner/demo && cd demo
pushd sub; (cd more && pip install -e .[gpu]); popd
export PIP_UPLOADED_PRIOR_TO=P7D UV_INDEX="a=https://index.example/a"
uv pip install -r pyproject.toml --extra gpu
echo numpy > list.txt && pip install -r list.txt; cd -
