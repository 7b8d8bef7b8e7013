if [ "$(uname)" = "Darwin" ]; then
  pip install torch torchvision
elif command -v nvidia-smi > /dev/null; then
  pip3 install --pre torch==2.4.1+cu124 -f "$INDEX" --extra-index-url=$INDEX \
     xformers
else
  python3 -m pip install -U 'torch<2.5' # cpu
fi
case $1 in a) uv pip install -r requirements.txt ;; *) conda install -y -c pytorch pytorch=2.1 ;; esac
cat <<EOF > x.txt
pip install never
EOF
pip uninstall -y x; export PIP_INDEX_URL=https://index.example/simple
