"""The grammar of a profile, section by section: what the loader accepts and what the JSON Schema says."""

from __future__ import annotations

from envdoctor.model.profile import CouplingRule, PatchKind
from envdoctor.model.requirement import RequirementKind
from envdoctor.model.target import Arch, Backend, OperatingSystem
from envdoctor.profile import grammar as f
from envdoctor.profile.grammar import Key, Section, SectionKind, Shape, Table

__all__ = ["SCHEMA_NUMBER", "SECTIONS"]

SCHEMA_NUMBER = 1
PATCH_KINDS = tuple(kind.value for kind in PatchKind)

_BACKENDS = tuple(backend.value for backend in Backend if backend is not Backend.UNKNOWN)

_BECAUSE = Key("The reason, for a person who wonders", required=True, format=f.TEXT)
_EVIDENCE = Key("Where it was seen: issue numbers, metadata, an execution", format=f.TEXT)

_PROFILE = Table(
    {
        "name": Key("The profile's name; the file is called so too", required=True, format=f.PROFILE_NAME),
        "summary": Key("One line for `profiles list`", required=True, format=f.TEXT),
        "extends": Key("A shipped profile, or a `.toml` file beside this one", format=f.TEXT),
        "abstract": Key("A base for other profiles that cannot be used itself", Shape.BOOLEAN),
        "documentation": Key("A page about this profile", format=f.TEXT),
    }
)
_TARGET = Table(
    {
        "os": Key("Operating system", choices=tuple(os.value for os in OperatingSystem)),
        "arch": Key("Machine architecture", choices=tuple(arch.value for arch in Arch)),
        "python": Key("CPython versions that the stack accepts", format=f.SPECIFIER),
        "preferred-python": Key("The Python to take where it is not the newest", format=f.DOTTED_VERSION),
        "backend": Key("What runs the tensors", choices=_BACKENDS),
        "glibc": Key("Lowest glibc of a Linux target", format=f.DOTTED_VERSION),
        "macos": Key("Lowest macOS release", format=f.DOTTED_VERSION),
        "gpu-architectures": Key("What the cards are", Shape.TEXT_LIST, format=f.GPU_ARCHITECTURE),
        "wsl": Key("Linux under the Windows Subsystem for Linux", Shape.BOOLEAN),
    }
)
_PROJECT = Table(
    {
        "recognise": Key("Files that mark the project (globs)", Shape.TEXT_LIST, format=f.PATH),
        "recognise-packages": Key("Requirements that mark the project", Shape.TEXT_LIST, format=f.PACKAGE),
        "requirements": Key("Files to read; where none is there, whatever is", Shape.TEXT_LIST, format=f.PATH),
    }
)
_REQUIRES = Table(
    {
        "requirement": Key("A PEP 508 requirement", required=True, format=f.REQUIREMENT),
        "kind": Key(
            "`constraint` bounds the version where something else asks for it",
            choices=tuple(kind.value for kind in RequirementKind),
        ),
        "because": _BECAUSE,
        "evidence": _EVIDENCE,
    }
)
_EXCLUDE = Table(
    {
        "name": Key("A project", required=True, format=f.PACKAGE),
        "instead": Key(
            "Another distribution with the same module, for who asks for this one; taken where it has a wheel",
            format=f.REQUIREMENT,
        ),
        "stubs": Key(
            "Modules that `fix` puts an empty stand-in for, where something only asks whether they are there",
            Shape.TEXT_LIST,
            format=f.DOTTED,
        ),
        "because": _BECAUSE,
        "evidence": _EVIDENCE,
    }
)
_OVERRIDE = Table(
    {
        "requirement": Key("What holds instead", required=True, format=f.REQUIREMENT),
        "replaces": Key(
            "Whose demands are set aside: `project` for the person's own lines, or distributions; left out: all",
            Shape.TEXT_OR_LIST,
            format=f.PACKAGE,
        ),
        "because": _BECAUSE,
        "evidence": _EVIDENCE,
    }
)
_COUPLED = Table(
    {
        "names": Key("Two projects or more", Shape.TEXT_LIST, required=True, format=f.PACKAGE),
        "rule": Key("How they must agree", required=True, choices=tuple(rule.value for rule in CouplingRule)),
        "because": Key("The reason", format=f.TEXT),
    }
)
_INDEX = Table(
    {
        "name": Key("What reports call it", required=True, format=f.SLUG),
        "url": Key("Where it is", required=True, format=f.URL),
        "packages": Key(
            "What comes from there, and from there alone", Shape.TEXT_LIST, required=True, format=f.PACKAGE
        ),
        "local-label": Key("Start of its files' local version, such as `cu118`", format=f.SLUG_DOTTED),
        "flat": Key("One page that lists files (pip's --find-links), not a simple repository", Shape.BOOLEAN),
        "because": Key("The reason", format=f.TEXT),
    }
)
_PATCH = Table(
    {
        "name": Key("What plans call it, and how a child profile removes it", format=f.SLUG),
        "file": Key("The file, as a glob relative to `root`", format=f.PATH),
        "files": Key("Several of them", Shape.TEXT_OR_LIST, format=f.PATH),
        "root": Key("Where the files are", choices=("project", "site-packages")),
        PatchKind.GUARD_IMPORT.value: Key("The module whose import may fail", format=f.DOTTED),
        PatchKind.STUB_FUNCTION.value: Key("The function that shall do nothing", format=f.DOTTED),
        PatchKind.REPLACE_FUNCTION.value: Key("The function whose definition is replaced by `source`", format=f.DOTTED),
        PatchKind.SET_ATTRIBUTE.value: Key("The name or attribute to assign `value` to", format=f.DOTTED),
        PatchKind.SET_ARGUMENT.value: Key("The argument of `call` to give `value`", format=f.DOTTED),
        PatchKind.REPLACE_REQUIREMENT.value: Key("The requirement line to write instead", format=f.REQUIREMENT),
        PatchKind.REPLACE_TEXT.value: Key("Exact text to replace by `with`", format=f.TEXT),
        PatchKind.REMOVE_FILE.value: Key("The files go; only with `true`", Shape.BOOLEAN),
        "fallback": Key("Python source that defines the names where the import fails", format=f.SOURCE_CODE),
        "source": Key("Python source of the new definition", format=f.SOURCE_CODE),
        "function": Key("The function that the edit stays inside", format=f.DOTTED),
        "call": Key("The callable whose calls are edited", format=f.DOTTED),
        "value": Key("A Python expression", format=f.EXPRESSION),
        "with": Key("The new text"),
        "count": Key("How often the text must occur; left out: at least once", Shape.INTEGER),
        "component": Key("Only where the placement of this component moves it", format=f.SLUG),
        "when": Key("Only where the resolution meets this, such as `torch>=2.6`", format=f.CONDITION),
        "optional": Key("A project without that file is fine", Shape.BOOLEAN),
        "symptom": Key("What a person sees without it, best in the program's own words", format=f.TEXT),
        "because": _BECAUSE,
        "evidence": _EVIDENCE,
    },
    one_of=(("file", "files"), PATCH_KINDS),
    together={
        PatchKind.SET_ATTRIBUTE.value: ("value",),
        PatchKind.SET_ARGUMENT.value: ("call", "value"),
        PatchKind.REPLACE_TEXT.value: ("with",),
        PatchKind.REPLACE_FUNCTION.value: ("source",),
    },
    only_with={
        "fallback": (PatchKind.GUARD_IMPORT.value,),
        "source": (PatchKind.REPLACE_FUNCTION.value,),
        "call": (PatchKind.SET_ARGUMENT.value,),
        "value": (PatchKind.SET_ATTRIBUTE.value, PatchKind.SET_ARGUMENT.value, PatchKind.STUB_FUNCTION.value),
        "with": (PatchKind.REPLACE_TEXT.value,),
        "count": (PatchKind.REPLACE_TEXT.value,),
        "function": (PatchKind.SET_ATTRIBUTE.value, PatchKind.SET_ARGUMENT.value),
    },
)
_SYSTEM = Table(
    {
        "name": Key("`ffmpeg`, `espeak-ng`, `cmake`, `hip-sdk`, `driver`", required=True, format=f.SLUG),
        "because": _BECAUSE,
        "only-for": Key("Packages whose build or use needs it", Shape.TEXT_LIST, format=f.PACKAGE),
        "install": Key("How to get it, by system or package manager", Shape.TEXT_MAP, format=f.TEXT),
        "minimum": Key("Lowest version", format=f.TEXT),
        "evidence": _EVIDENCE,
    }
)
_SMOKE = Table(
    {
        "kernels": Key("GPU operations that the stack lives on", Shape.TEXT_LIST, format=f.SLUG),
        "workloads": Key("Small models of the stack", Shape.TEXT_LIST, format=f.SLUG),
        "settings": Key("Settings that the backend wants", Shape.TEXT_LIST, format=f.SLUG),
    }
)
_SET = Table(
    {
        "file": Key("A file of the project", format=f.PATH),
        "function": Key("The function that assigns it", format=f.DOTTED),
        "attribute": Key("The name or attribute that holds the device", format=f.DOTTED),
        "environment": Key("A variable that holds the device", format=f.VARIABLE),
        "argument": Key("A command-line option that takes the device", format=f.TEXT),
        "value": Key("What to set, where it is not the device's name"),
    },
    one_of=(("attribute", "environment", "argument"),),
    together={"attribute": ("file",)},
    only_with={"file": ("attribute",), "function": ("attribute",)},
)
_PLACEMENT = Table(
    {
        "component": Key("A part of the stack", required=True, format=f.SLUG),
        "needs": Key("Kernels that it cannot do without", Shape.TEXT_LIST, format=f.SLUG),
        "otherwise": Key("The device it goes to", choices=("cpu", "cuda", "mps")),
        "always": Key("It goes there whatever the kernels say", Shape.BOOLEAN),
        "set": Key("Where that takes effect", Shape.TABLE, table=_SET),
        "because": Key("The reason", format=f.TEXT),
        "evidence": _EVIDENCE,
    },
    one_of=(("needs", "always"),),
)
_ENVIRONMENTS = Table(
    {
        "python": Key("CPython versions of this environment", format=f.SPECIFIER),
        "backend": Key("What runs the tensors here, where it is not the profile's", choices=_BACKENDS),
        "requirements": Key("Files of the project that it reads", Shape.TEXT_LIST, format=f.PATH),
        "packages": Key("Packages that belong here alone", Shape.TEXT_LIST, format=f.PACKAGE),
        "because": _BECAUSE,
    }
)
_CAUTION = Table(
    {
        "name": Key("How a child profile removes it", format=f.SLUG),
        "text": Key("What this profile cannot do", required=True, format=f.TEXT),
        "evidence": _EVIDENCE,
        "when": Key("Only where what is resolved or installed meets this, such as `torch>=2.6`", format=f.CONDITION),
        "python": Key("Only on these CPython versions", format=f.SPECIFIER),
        "file": Key("Only where the project has such a file (glob)", format=f.PATH),
        "os": Key("Only on this operating system", choices=tuple(os.value for os in OperatingSystem)),
        "several-cards": Key("Only where more than one card is known", Shape.BOOLEAN),
    }
)

_ARRAYS = {
    "requires": Section(SectionKind.ARRAY, "Requirements that the profile adds", _REQUIRES, "requirement"),
    "exclude": Section(SectionKind.ARRAY, "Projects that must not be installed", _EXCLUDE, "name"),
    "override": Section(SectionKind.ARRAY, "Accepted, recorded disagreements", _OVERRIDE, "requirement"),
    "coupled": Section(SectionKind.ARRAY, "Binaries that belong together", _COUPLED),
    "index": Section(SectionKind.ARRAY, "Extra indexes", _INDEX, "name"),
    "patch": Section(SectionKind.ARRAY, "Edits of sources", _PATCH, "name"),
    "system": Section(SectionKind.ARRAY, "What the stack needs outside Python", _SYSTEM, "name"),
    "placement": Section(SectionKind.ARRAY, "Where components go when a kernel fails", _PLACEMENT, "component"),
    "caution": Section(SectionKind.ARRAY, "What this profile cannot do", _CAUTION, "name"),
}
_REMOVABLE = {
    **{
        name: Key(f"Entries of `{name}` of the base to drop", Shape.TEXT_LIST, format=f.TEXT)
        for name, section in _ARRAYS.items()
        if section.identity
    },
    "environment": Key("Variables of the base to drop", Shape.TEXT_LIST, format=f.VARIABLE),
}

SECTIONS: dict[str, Section] = {
    "profile": Section(SectionKind.TABLE, "What the profile is", _PROFILE),
    "target": Section(SectionKind.TABLE, "The machines it is for", _TARGET),
    "project": Section(SectionKind.TABLE, "The project it is for", _PROJECT),
    **_ARRAYS,
    "environment": Section(
        SectionKind.MAP,
        "Variables; `{project}` and `{environment}` in a value stand for the folders of those names",
        key_format=f.VARIABLE,
        value_format=f.VALUE,
    ),
    "smoke": Section(SectionKind.TABLE, "Kernels and workloads that prove the stack", _SMOKE),
    "environments": Section(
        SectionKind.NAMED, "Several environments, where one cannot serve", _ENVIRONMENTS, key_format=f.SLUG
    ),
    "remove": Section(SectionKind.TABLE, "What of the base profile does not hold here", Table(_REMOVABLE)),
}
