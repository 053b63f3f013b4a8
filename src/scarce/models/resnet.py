"""ResNet-32, the residual network of the SCARCE authors' program; the paper calls it ResNet-34."""

from torch import Tensor, nn

from scarce.models._layers import as_images, convolution, init_convolutions, n_channels

_BLOCKS_PER_STAGE = 5


class _Block(nn.Module):
    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            convolution(n_in, n_out, 3, stride),
            nn.BatchNorm2d(n_out),
            nn.ReLU(),
            convolution(n_out, n_out, 3),
            nn.BatchNorm2d(n_out),
        )
        same = n_in == n_out and stride == 1
        self.shortcut = (
            nn.Identity()
            if same
            else nn.Sequential(convolution(n_in, n_out, 1, stride), nn.BatchNorm2d(n_out))
        )

    def forward(self, inputs: Tensor) -> Tensor:
        return (self.path(inputs) + self.shortcut(inputs)).relu()  # type: ignore[no-any-return]


class ResNet(nn.Module):
    """Three stages of five basic blocks [1]_ with 16, 32 and 64 channels, then global average pooling and a linear layer.

    Parameters
    ----------
    input_shape : tuple of int
        The shape of one input, (h, w) or (c, h, w), with sides of at least 4 pixels.
    n_classes : int
        q.

    See Also
    --------
    DenseNet, LeNet : Other networks for images.
    make_model : Networks by name.

    References
    ----------
    .. [1] K. He, X. Zhang, S. Ren and J. Sun, "Deep Residual Learning for Image Recognition", CVPR 2016.
       https://arxiv.org/abs/1512.03385

    Examples
    --------
    >>> sum(weights.numel() for weights in ResNet((3, 32, 32), 10).parameters())
    466906
    """

    def __init__(self, input_shape: tuple[int, ...], n_classes: int) -> None:
        super().__init__()
        self.input_shape, self.n_classes = input_shape, n_classes
        stages: list[nn.Module] = []
        width = 16
        for n_out, stride in ((16, 1), (32, 2), (64, 2)):
            for number in range(_BLOCKS_PER_STAGE):
                stages.append(_Block(width, n_out, stride if number == 0 else 1))
                width = n_out
        self.features = nn.Sequential(
            convolution(n_channels(input_shape, "resnet"), 16, 3), nn.BatchNorm2d(16), nn.ReLU(), *stages
        )
        self.output = nn.Linear(width, n_classes)
        init_convolutions(self)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits of shape (n, q) from images of shape (n, h, w) or (n, c, h, w)."""
        return self.output(self.features(as_images(inputs)).mean(dim=(2, 3)))  # type: ignore[no-any-return]
