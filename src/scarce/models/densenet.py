"""DenseNet-22, the densely connected network of the SCARCE authors' program."""

import torch
from torch import Tensor, nn

from scarce.models._layers import as_images, convolution, init_convolutions, n_channels

_GROWTH = 12
_LAYERS_PER_BLOCK = 3


class _Layer(nn.Module):
    def __init__(self, n_in: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            nn.BatchNorm2d(n_in),
            nn.ReLU(),
            convolution(n_in, 4 * _GROWTH, 1),
            nn.BatchNorm2d(4 * _GROWTH),
            nn.ReLU(),
            convolution(4 * _GROWTH, _GROWTH, 3),
        )

    def forward(self, inputs: Tensor) -> Tensor:
        return torch.cat([inputs, self.path(inputs)], dim=1)


class DenseNet(nn.Module):
    """Three dense blocks [1]_, each of three bottleneck layers with growth rate 12, then global average pooling and a linear layer.

    A transition after each of the first two blocks halves the number of channels and the size of the image.

    Parameters
    ----------
    input_shape : tuple of int
        The shape of one input, (h, w) or (c, h, w), with sides of at least 4 pixels.
    n_classes : int
        q.

    See Also
    --------
    ResNet, LeNet : Other networks for images.
    make_model : Networks by name.

    References
    ----------
    .. [1] G. Huang, Z. Liu, L. van der Maaten and K. Q. Weinberger, "Densely Connected Convolutional Networks", CVPR 2017.
       https://arxiv.org/abs/1608.06993

    Examples
    --------
    >>> sum(weights.numel() for weights in DenseNet((3, 32, 32), 10).parameters())
    71686
    """

    def __init__(self, input_shape: tuple[int, ...], n_classes: int) -> None:
        super().__init__()
        self.input_shape, self.n_classes = input_shape, n_classes
        width = 2 * _GROWTH
        layers: list[nn.Module] = [convolution(n_channels(input_shape, "densenet"), width, 3)]
        for block in range(3):
            for _ in range(_LAYERS_PER_BLOCK):
                layers.append(_Layer(width))
                width += _GROWTH
            if block < 2:
                layers += [
                    nn.BatchNorm2d(width),
                    nn.ReLU(),
                    convolution(width, width // 2, 1),
                    nn.AvgPool2d(2),
                ]
                width //= 2
        self.features = nn.Sequential(*layers, nn.BatchNorm2d(width), nn.ReLU())
        self.output = nn.Linear(width, n_classes)
        init_convolutions(self)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits of shape (n, q) from images of shape (n, h, w) or (n, c, h, w)."""
        return self.output(self.features(as_images(inputs)).mean(dim=(2, 3)))  # type: ignore[no-any-return]
