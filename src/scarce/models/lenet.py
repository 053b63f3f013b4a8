"""LeNet-5, as the paper uses it."""

from torch import Tensor, nn

from scarce.errors import MethodError

__all__ = ["LeNet"]


class LeNet(nn.Module):
    """Two 5 × 5 convolutions with max-pooling, then 120-84-q; images of h × w or c × h × w.

    Examples
    --------
    >>> sum(weights.numel() for weights in LeNet((28, 28), 10).parameters())
    61706
    """

    def __init__(self, input_shape: tuple[int, ...], n_classes: int) -> None:
        super().__init__()
        if len(input_shape) not in (2, 3):
            raise MethodError(f"lenet takes images, got inputs of shape {input_shape}; choose module='mlp'.")
        channels = input_shape[0] if len(input_shape) == 3 else 1
        height, width = ((side // 2 - 4) // 2 for side in input_shape[-2:])
        if height < 1 or width < 1:
            raise MethodError(
                f"lenet takes images of 12 × 12 or more, got {input_shape}; choose module='mlp'."
            )
        self.features = nn.Sequential(
            nn.Conv2d(channels, 6, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(
            nn.Linear(16 * height * width, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, n_classes),
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits of shape (B, q)."""
        images = inputs if inputs.dim() == 4 else inputs.unsqueeze(1)
        return self.head(self.features(images).flatten(1))  # type: ignore[no-any-return]
