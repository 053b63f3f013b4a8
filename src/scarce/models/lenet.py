"""LeNet-5, as used in the SCARCE paper."""

from torch import Tensor, nn

from scarce.models._layers import as_images, n_channels


class LeNet(nn.Module):
    """Two 5 × 5 convolutions with max pooling, then fully connected layers of 120, 84 and q units [1]_.

    Parameters
    ----------
    input_shape : tuple of int
        The shape of one input, (h, w) or (c, h, w), with sides of at least 12 pixels.
    n_classes : int
        q.

    See Also
    --------
    ResNet, DenseNet : Deeper networks for images.
    make_model : Networks by name.

    References
    ----------
    .. [1] Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, "Gradient-Based Learning Applied to Document Recognition",
       Proceedings of the IEEE 86(11), 1998. https://doi.org/10.1109/5.726791

    Examples
    --------
    >>> sum(weights.numel() for weights in LeNet((28, 28), 10).parameters())
    61706
    """

    def __init__(self, input_shape: tuple[int, ...], n_classes: int) -> None:
        super().__init__()
        self.input_shape, self.n_classes = input_shape, n_classes
        channels = n_channels(input_shape, "lenet", min_side=12)
        height, width = ((side // 2 - 4) // 2 for side in input_shape[-2:])
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
        """Return logits of shape (n, q) from images of shape (n, h, w) or (n, c, h, w)."""
        return self.head(self.features(as_images(inputs)).flatten(1))  # type: ignore[no-any-return]
