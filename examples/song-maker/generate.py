"""Makes a song from lyrics and a style prompt; what the example project would run."""

import argparse

import inflect
import numpy
import torch
import torchaudio
from phonemizer import phonemize
from transformers import AutoModel

NUMBERS = inflect.engine()


def spoken(lyrics: str) -> str:
    """Return the lyrics with their numbers in words."""
    return " ".join(NUMBERS.number_to_words(word) if word.isdigit() else word for word in lyrics.split())


def generate(lyrics: str, checkpoint: str) -> tuple[int, numpy.ndarray]:
    """Return the sample rate and the samples of a song."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = AutoModel.from_pretrained(checkpoint, trust_remote_code=True).to(device)
    with torch.inference_mode():
        samples = model.generate(phonemize(spoken(lyrics), language="en-us"))
    return 44100, samples.cpu().numpy()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lyrics")
    parser.add_argument("--checkpoint", default="checkpoint")
    arguments = parser.parse_args()
    rate, song = generate(arguments.lyrics, arguments.checkpoint)
    torchaudio.save("song.wav", torch.from_numpy(song), rate)
