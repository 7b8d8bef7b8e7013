# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "torch>=2.4",
#   "numpy<2",
# ]
# [tool.uv]
# exclude-newer = "2024-10-01T00:00:00Z"
# index-url = "https://index.example/simple"
# ///
