"""Asked of an interpreter, inside it: standard library only, and valid from Python 2.7 to 3.15.

Run with ``-c``; prints one JSON document between two marks. Nothing of site-packages is imported by it.
"""

QUESTIONS = r"""
import sys
if sys.path and sys.path[0] == "":
    del sys.path[0]
path = list(sys.path)
import json, os
try:
    import site
except Exception:
    site = None
def ask(function, *arguments):
    try:
        return function(*arguments)
    except Exception:
        return None
implementation = getattr(sys, "implementation", None)
uname = ask(os.uname) if hasattr(os, "uname") else None
machine = uname[4] if uname else (os.environ.get("PROCESSOR_ARCHITEW6432") or os.environ.get("PROCESSOR_ARCHITECTURE"))
answer = {
    "version": list(sys.version_info[:3]),
    "release": list(sys.version_info[3:5]),
    "implementation": implementation.name if implementation else "",
    "implementation_version": list(implementation.version[:3]) if implementation else [],
    "executable": sys.executable,
    "prefix": sys.prefix,
    "path": path,
    "platform": sys.platform,
    "os_name": os.name,
    "machine": machine,
    "system_release": uname[2] if uname else "",
    "system_version": uname[3] if uname else "",
    "glibc": ask(os.confstr, "CS_GNU_LIBC_VERSION") if hasattr(os, "confstr") else None,
    "free_threaded": "t" in getattr(sys, "abiflags", ""),
    "user_site_enabled": getattr(site, "ENABLE_USER_SITE", None),
    "user_site": ask(site.getusersitepackages) if site and hasattr(site, "getusersitepackages") else None,
    "site_packages": ask(site.getsitepackages) if site and hasattr(site, "getsitepackages") else None,
    "stdlib": os.path.dirname(os.__file__),
}
answer["externally_managed"] = os.path.exists(os.path.join(answer["stdlib"], "EXTERNALLY-MANAGED"))
sys.stdout.write("\n<<envdoctor-answer\n" + json.dumps(answer) + "\nenvdoctor-answer>>\n")
sys.stdout.flush()
"""
