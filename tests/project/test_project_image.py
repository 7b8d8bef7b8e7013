"""What the image of a Dockerfile has, read of its name and tag."""

from __future__ import annotations

import pytest

INSTALL = "RUN pip install alpha\n"


def read(read_files, text):
    return read_files({"Dockerfile": text, "list.txt": "beta\n"}, at="Dockerfile")


def had(project):
    return {one.name: str(one.version) if one.version else None for one in project.brought if one.below is None}


UNTOLD = {"torch": None, "torchvision": None, "torchaudio": None}


@pytest.mark.parametrize(
    ("image", "versions", "label", "python"),
    [
        ("pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime", ("2.3.1", "0.18.1", "2.3.1"), "cu121", "3.10"),
        ("docker.io/pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", ("2.5.1", "0.20.1", "2.5.1"), "cu124", "3.11"),
        ("pytorch/pytorch:2.2.1-cuda11.8-cudnn8-runtime@sha256:ab", ("2.2.1", "0.17.1", "2.2.1"), "cu118", "3.10"),
        ("pytorch/pytorch:2.0.0-cuda11.7-cudnn8-devel", ("2.0.0", None, None), "cu117", "3.10"),
        ("pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime", ("2.9.1", "0.24.1", "2.9.1"), "cu128", None),
        ("pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime", (None, None, None), "cu116", "3.10"),
    ],
)
def test_an_image_of_pytorch_names_torch_and_what_goes_with_it(read_files, image, versions, label, python):
    project = read(read_files, f"FROM {image}\n{INSTALL}")
    assert had(project) == dict(zip(UNTOLD, versions, strict=True))
    told = [one for one in project.brought if one.below is None]
    assert {(one.label, one.image, str(one.origin)) for one in told} == {(label, image, "Dockerfile:1")}
    assert str(project.environment_python) == (f"=={python}.*" if python else "None")


@pytest.mark.parametrize(
    ("image", "python"),
    [
        ("rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.3.0", "3.10"),
        ("rocm/pytorch:rocm5.7_ubuntu22.04_py3.10_pytorch_2.0.1", "3.10"),
        ("rocm/pytorch:latest", None),
        ("rocm/pytorch", None),
        ("nvcr.io/nvidia/pytorch:24.05-py3", None),
        ("nvcr.io/nvidia/l4t-pytorch:r35.2.1-pth2.0-py3", None),
        ("nvcr.io/nvidia/l4t-ml:r36.2.0-py3", None),
        ("dustynv/pytorch:2.1-r36.2.0", None),
        ("intel/intel-extension-for-pytorch:2.3.110-xpu", None),
        ("registry.example:5000/team/pytorch-training:2.3.0-gpu-py311-cu121-ubuntu20.04-ec2", "3.11"),
        ("example/pytorch:2.0.1-py3.9.17-cuda11.8.0-ubuntu20.04", "3.9"),
        ("pytorch/torchserve:latest-gpu", None),
        ("pytorch/pytorch:latest", None),
        ("pytorch/pytorch:${TAG}", None),
        ("vllm/vllm-openai:v0.6.3", None),
        ("example/pytorch:2.0-alpine", None),
    ],
)
def test_of_a_build_of_their_own_the_version_is_not_known(read_files, image, python):
    project = read(read_files, f"FROM {image}\n{INSTALL}")
    assert had(project) == UNTOLD
    assert {one.label for one in project.brought} == {""}
    assert str(project.environment_python) == (f"=={python}.*" if python else "None")


@pytest.mark.parametrize(
    "image",
    [
        "python:3.10",
        "ubuntu:22.04",
        "nvidia/cuda:12.1.1-cudnn8-devel-ubuntu22.04",
        "pytorch/manylinux-builder:cuda12.1",
        "pytorch/libtorch-cxx11-builder:cuda12.1",
        "torchtown/api:3",
        "${BASE}",
        "tensorflow/tensorflow:2.15.0-gpu",
    ],
)
def test_other_images_have_no_torch_that_is_known(read_files, image):
    assert read(read_files, f"FROM {image}\n{INSTALL}").brought == ()


TAG = "2.3.1-cuda12.1-cudnn8-runtime"


@pytest.mark.parametrize(
    ("text", "there"),
    [
        (f"ARG TORCH=2.3.1\nFROM pytorch/pytorch:${{TORCH}}-cuda12.1-cudnn8-runtime\n{INSTALL}", True),
        (f"FROM pytorch/pytorch:{TAG} AS base\nRUN ls\nFROM base\n{INSTALL}", True),
        (f"FROM node:20 AS web\nRUN npm i\nFROM pytorch/pytorch:{TAG}\n{INSTALL}", True),
        (f"FROM pytorch/pytorch:{TAG}\n{INSTALL}FROM python:3.10\nRUN pip install beta\n", False),
        (f"FROM pytorch/pytorch:{TAG}\n# no venv here\n{INSTALL}", True),
        (f"FROM pytorch/pytorch:{TAG}\nRUN python -m venv /opt/app\n{INSTALL}", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN python -m venv --system-site-packages /app\n{INSTALL}", True),
        (f"FROM pytorch/pytorch:{TAG}\nRUN conda install python=3.9 && pip install torch\n", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN conda create -n app python=3.9\n{INSTALL}", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN pip install --target /app alpha\n", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN pip install -U pip && pip install torch\n", True),
        (f"FROM pytorch/pytorch:{TAG}\nRUN pip install -U torch\n", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN pip uninstall -y torch && pip install torch\n", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN pip install --force-reinstall torch\n", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN pip install -I -r list.txt\n", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN pip install --ignore-installed beta\n{INSTALL}", True),
        (f"FROM pytorch/pytorch:{TAG}\nRUN pip install --root-user-action=ignore alpha\n", True),
        (f"FROM pytorch/pytorch:{TAG}\nRUN pip install --prefix=/install alpha\n", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN ./configure --prefix=/usr && make --target x install\n{INSTALL}", True),
        (f"FROM pytorch/pytorch:{TAG}\nRUN apt-get install -y python3-venv && echo no venv\n{INSTALL}", True),
        (f"FROM pytorch/pytorch:{TAG}\nENV PATH=/opt/venv/bin:$PATH\n{INSTALL}", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN /opt/venv/bin/pip install alpha\n", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN python3.10 -m pip install alpha\n", True),
        (f"FROM pytorch/pytorch:{TAG}\nRUN python3.9 -m pip install alpha\n", False),
        (f"FROM pytorch/pytorch:{TAG}\nRUN /usr/bin/python3 -m pip install alpha\n", False),
        ("FROM nvcr.io/nvidia/pytorch:24.05-py3\nRUN /usr/bin/python3.10 -m pip install alpha\n", True),
        (f"FROM pytorch/pytorch:{TAG}\n{INSTALL}FROM python:3.10\nRUN python -m venv /app\n", True),
        (f"FROM pytorch/pytorch:{TAG} AS base\nRUN python -m venv /app\nFROM base\n{INSTALL}", False),
        (f"FROM python:3.9 AS tools\nRUN pip install build\nFROM pytorch/pytorch:{TAG}\n{INSTALL}", True),
    ],
)
def test_what_is_installed_into_counts(read_files, text, there):
    assert ("torch" in had(read(read_files, text))) is there


@pytest.mark.parametrize(
    "text",
    [
        'ARG TORCH="2.3.1"\nARG CUDA="12.1"\nFROM pytorch/pytorch:${TORCH}-cuda${CUDA}-cudnn8-runtime\n',
        f"ARG IMAGE='pytorch/pytorch:{TAG}'\nFROM \"${{IMAGE}}\" AS base\n",
        f"ARG ONE=1 TAG={TAG}\nFROM pytorch/pytorch:$TAG\n",
        f"FROM --platform=linux/amd64 \\\n  # which one\n  pytorch/pytorch:{TAG}\n",
        f"FROM pytorch/pytorch:{TAG}\nCOPY <<EOF /example\nFROM rocm/pytorch\nEOF\n",
        f"FROM pytorch/pytorch:{TAG}\nRUN echo \\\n  FROM rocm/pytorch\n",
        f"FROM pytorch/pytorch:{TAG}\nRUN pip install beta\nFROM docker.io/pytorch/pytorch:{TAG}\n",
        f"FROM pytorch/pytorch:{TAG}\nRUN pip install beta\nFROM pytorch/pytorch:{TAG.replace('runtime', 'devel')}\n",
    ],
)
def test_an_image_is_told_as_docker_reads_it(read_files, text):
    project = read(read_files, f"{text}{INSTALL}")
    assert had(project)["torch"] == "2.3.1"
    assert str(project.environment_python) == "==3.10.*"


@pytest.mark.parametrize(
    ("text", "there"),
    [
        (f"FROM pytorch/pytorch:{TAG}\n{INSTALL}", True),
        ("FROM nvcr.io/nvidia/pytorch:24.05-py3\nRUN pip install alpha\n", True),
        (f"ARG BASE\nFROM ${{BASE}}\n{INSTALL}", True),
        (f"ARG BASE\nFROM ${{BASE}}\nRUN python -m venv /x\n{INSTALL}", False),
        (f"ARG BASE=a/torch\nFROM ${{BASE}}\n{INSTALL}", True),
        (f"FROM nvidia/cuda:12.2.0-base\nRUN echo torch\n{INSTALL}", False),
        (f"FROM pytorch/pytorch:{TAG}\nFROM python:3.10\n{INSTALL}", False),
    ],
)
def test_a_command_knows_whether_its_image_may_have_torch(read_files, text, there):
    assert [command.torch_there for command in read(read_files, text).commands] == [there]


def test_of_stages_with_different_builds_of_torch_it_is_not_known_which(read_files):
    stages = (f"FROM nvcr.io/nvidia/pytorch:{tag}-py3\n{INSTALL}" for tag in ("24.05", "24.06"))
    assert had(read(read_files, "".join(stages))) == UNTOLD
    assert had(read(read_files, f"FROM pytorch/pytorch:{TAG}\n{INSTALL}FROM rocm/pytorch\n{INSTALL}")) == UNTOLD


def test_the_python_of_an_argument_in_quotes_is_the_image_s(read_files):
    text = f'ARG PYTHON="3.11"\nFROM python:${{PYTHON}}-slim\n{INSTALL}'
    assert str(read(read_files, text).environment_python) == "==3.11.*"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"FROM python:3.10-alpine\n{INSTALL}", 1),
        (f"FROM alpine:3.19 AS base\nRUN apk add py3-pip\nFROM base\n{INSTALL}{INSTALL}", 3),
        (f"FROM node:20-alpine\nRUN npm i\nFROM python:3.10-slim\n{INSTALL}", None),
        (f"FROM alpinelinux-team/python\n{INSTALL}", None),
        (f"FROM continuumio/miniconda3:4.10.3-alpine\n{INSTALL}", None),
        (f"FROM frolvlad/alpine-glibc\n{INSTALL}", None),
    ],
)
def test_of_an_alpine_it_is_said_that_a_linux_with_glibc_is_judged(read_files, text, line):
    told = [one.origin.line for one in read(read_files, text).problems if "whose C library is musl" in one.message]
    assert told == ([line] if line else [])


@pytest.mark.parametrize(("tag", "older"), [(TAG, "2.0.dev0"), ("2.4.0-cuda12.4-cudnn9-runtime", None)])
def test_images_that_are_older_than_numpy_2_have_an_older_one(read_files, tag, older):
    project = read(read_files, f"FROM pytorch/pytorch:{tag}\n{INSTALL}")
    told = {one.name: str(one.below) for one in project.brought if one.below is not None}
    assert told == ({"numpy": older} if older else {})
    assert not read(read_files, f"FROM pytorch/pytorch:{tag}\nRUN pip install -U numpy\n").brought[3:]


def test_what_is_upgraded_is_the_image_s_no_more(read_files):
    text = f"FROM pytorch/pytorch:{TAG}\nRUN pip install --upgrade torchaudio -r list.txt\n"
    assert set(had(read(read_files, text))) == {"torch", "torchvision"}


def test_the_companions_of_an_image_stay_behind_a_torch_that_is_taken_anew(read_files):
    for command, left in (
        ("pip install -U torch", {"torchvision", "torchaudio"}),
        ("pip uninstall -y torch && pip install torch", {"torchvision", "torchaudio"}),
        ("pip install -U torch torchvision", {"torchaudio"}),
        ("pip install -U torch torchvision torchaudio", set()),
    ):
        assert set(had(read(read_files, f"FROM pytorch/pytorch:{TAG}\nRUN {command}\n"))) == left


def test_beside_a_list_the_image_says_nothing(read_files):
    project = read_files({"Dockerfile": f"FROM pytorch/pytorch:{TAG}\n{INSTALL}", "requirements.txt": "alpha\n"})
    assert project.brought == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"FROM pytorch/pytorch:{TAG}\n{INSTALL}", f"on `pytorch/pytorch:{TAG}`, which has torch 2.3.1 already"),
        ("FROM node AS web\nFROM rocm/pytorch\n", "on `rocm/pytorch`, which has torch of its own already"),
        (f"FROM python:3.10\n{INSTALL}", ""),
        (b"FROM \x00\xff", ""),
    ],
)
def test_of_a_dockerfile_beside_a_list_its_torch_is_named(read_files, text, told):
    project = read_files({"Dockerfile": text, "requirements.txt": "alpha\n"})
    assert [(one.path, one.detail) for one in project.left_out] == [("Dockerfile", told)]


@pytest.mark.parametrize(
    "image",
    [
        "python:3.\uff11\uff11",
        "pytorch/pytorch:2.\uff13.1-cuda12.1-cudnn8-runtime",
        "a/torch:py3\uff11",
        ":tag",
        "@sha256:ab",
        "/",
        "a:",
        "torch",
        "pytorch:",
        "x" * 100_000,
        "a-" * 50_000 + "torch:1",
    ],
)
def test_whatever_stands_for_an_image_is_read(read_files, image):
    assert read(read_files, f"FROM {image}\n{INSTALL}").environment_python is None


def test_thousands_of_stages_are_read(read_files):
    stages = "".join(f"FROM pytorch/pytorch:{TAG} AS s{number}\n" for number in range(3_000))
    assert had(read(read_files, f"{stages}FROM s2999\n{INSTALL}"))["torch"] == "2.3.1"


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("FROM nvidia/cuda:12.1.0-devel-ubuntu22.04\nRUN apt-get install -y python3 python3-pip\n", "3.10"),
        ("ARG U=20.04\nFROM nvcr.io/nvidia/cuda:12.1.0-cudnn8-devel-ubuntu${U}\n", "3.8"),
        ("FROM ubuntu:jammy-20240212 AS base\nFROM base\n", "3.10"),
        ("FROM debian:bookworm-slim\n", "3.11"),
        ("FROM rocm/dev-ubuntu-24.04:6.4-complete\nRUN apt-get install -y python3.12-venv\n", "3.12"),
        ("FROM ubuntu:latest\n", None),
        ("FROM mine/cuda:12.1-ubuntu22.04\n", None),
        ("FROM nvidia/cuda:12.1.0-devel-ubi8\n", None),
        ("FROM ubuntu:22.04\nRUN apt-get install -y python3.11\n", None),
        ("FROM ubuntu:22.04\nRUN sh Miniconda3.sh\n", None),
        ("FROM ubuntu:22.04\nCOPY --from=x /opt/python /opt/python\n", None),
    ],
)
def test_the_python_of_ubuntu_and_debian_counts_where_no_other_is_spoken_of(read_files, text, python):
    project = read(read_files, f"{text}{INSTALL}")
    assert str(project.environment_python) == (f"=={python}.*" if python else "None")


ARGUMENTS = {
    "declared again": ("ARG V=1\nFROM x\nARG V\nRUN pip install a==$V\n", ["a==1"], ()),
    "with others": ("ARG V=1\nFROM x\nARG W=2 V\nRUN pip install a==$V b==$W\n", ["a==1", "b==2"], ()),
    "in another": ("ARG V=cu1\nFROM x\nARG V\nARG W=v-${V}\nRUN pip install a==1+$W\n", ["a==1+v-cu1"], ()),
    "of its own": ("ARG V=1\nFROM x\nARG V=2\nRUN pip install a==$V\n", ["a==2"], ()),
    "not declared": ("ARG V=1\nFROM x\nRUN pip install a==$V b\n", ["b"], ("a==$V",)),
    "of another stage": (
        "FROM x AS one\nARG V=1\nRUN pip install a==$V\nFROM y\nCOPY --from=one /a /a\nRUN pip install b==$V\n",
        ["a==1"],
        ("b==$V",),
    ),
    "of the stage before": ("FROM x AS one\nENV V=1\nFROM one\nRUN pip install a==$V\n", ["a==1"], ()),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_argument_above_the_first_stage_counts_where_it_is_declared_again(read_files, name):
    text, asked, unread = ARGUMENTS[name]
    project = read_files({"Dockerfile": text}, at="Dockerfile")
    assert ([one.pep508 for one in project.requirements], project.unread) == (asked, unread)


def test_an_argument_that_a_stage_does_not_declare_is_told_to_be_none_of_its_own(read_files):
    (problem,) = read_files({"Dockerfile": ARGUMENTS["not declared"][0]}, at="Dockerfile").problems
    assert problem.message == (
        "`a==$V` depends on `$V`, which its stage does not declare: no ARG above FROM counts in it"
    )


@pytest.mark.parametrize(
    ("image", "python"),
    [
        ("tensorflow/tensorflow:2.4.1-gpu", "3.6"),
        ("tensorflow/tensorflow:2.10.0", "3.8"),
        ("docker.io/tensorflow/tensorflow:2.9.1-gpu-jupyter", "3.8"),
        ("tensorflow/tensorflow:2.18.0-gpu", "3.11"),
        ("tensorflow/tensorflow:2.12.0", None),
        ("tensorflow/tensorflow:latest-gpu", None),
        ("other/tensorflow:2.10.0", None),
    ],
)
def test_the_python_of_tensorflow_s_images(read_files, image, python):
    project = read_files({"Dockerfile": f"FROM {image}\nRUN pip install six\n"}, at="Dockerfile")
    assert str(project.environment_python or "None") == (f"=={python}.*" if python else "None")
    assert project.brought == ()


STARTS = {
    "as a list": ('RUN pip install six\nCMD ["sh", "-c", "pip install a==1 && python app.py"]\n', ["six", "a==1"]),
    "as a line": ("ENTRYPOINT pip install a==1 && \\\n  python app.py\n", ["a==1"]),
    "a script": ('RUN pip install six\nCOPY start.sh /\nENTRYPOINT ["bash", "/start.sh"]\n', ["six", "b"]),
    "the last one": ("CMD pip install a==1\nRUN pip install six\nCMD pip install a==2\n", ["six", "a==2"]),
    "of a check": ("HEALTHCHECK --retries=3 \\\n  CMD pip install no\nRUN pip install six\n", ["six"]),
    "arguments": ('RUN pip install six\nENTRYPOINT ["python"]\nCMD ["-m", "app"]\n', ["six"]),
}


@pytest.mark.parametrize("name", STARTS)
def test_what_is_installed_where_a_container_starts_counts(read_files, name):
    text, asked = STARTS[name]
    files = {"Dockerfile": f"FROM python:3.11\n{text}", "start.sh": "pip install b\npython app.py\n"}
    project = read_files(files, at="Dockerfile")
    assert ([one.pep508 for one in project.requirements], project.unread) == (asked, ())


def test_what_stays_beside_a_torch_that_is_taken_anew_by_force_is_known(read_files):
    text = "FROM pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime\nRUN pip install --force-reinstall torch==2.4.0\n"
    project = read_files({"Dockerfile": text}, at="Dockerfile")
    assert [one.name for one in project.brought] == ["torchvision", "torchaudio"]
    assert str(project.environment_python) == "==3.10.*"
