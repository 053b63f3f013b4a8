"""The files of the data sets: names, checksums and URLs."""

from scarce.datasets._files import DataFile, Download, FileSet
from scarce.datasets.mnist import idx_names

__all__ = [
    "CIFAR100_BINARY",
    "CIFAR100_PYTHON",
    "CIFAR10_BINARY",
    "CIFAR10_PYTHON",
    "CLCIFAR10",
    "CLCIFAR20",
    "FASHION_MNIST",
    "KMNIST",
    "KMNIST_PARTIAL",
    "MNIST",
]


def _idx_file_set(
    folders: tuple[str, ...],
    urls: tuple[str, ...],
    sha256: tuple[str | None, ...],
    md5: tuple[str, ...],
) -> FileSet:
    """Return the four files of an MNIST-like set, with `sha256` of the decompressed and `md5` of the served files."""
    return FileSet(
        folders,
        tuple(
            DataFile(name, digest and f"sha256:{digest}")
            for name, digest in zip(idx_names(), sha256, strict=True)
        ),
        tuple(
            Download(f"{name}.gz", tuple(f"{url}/{name}.gz" for url in urls), f"md5:{digest}")
            for name, digest in zip(idx_names(), md5, strict=True)
        ),
    )


MNIST = _idx_file_set(
    ("mnist", "MNIST", "MNIST/raw"),
    ("https://ossci-datasets.s3.amazonaws.com/mnist", "https://storage.googleapis.com/cvdf-datasets/mnist"),
    (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
    (
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "d53e105ee54ea40749a09fcbcd1e9432",
        "9fb629c4189551a2d022fa330f9573f3",
        "ec29112dd5afa0611ce80d1b7f02629c",
    ),
)

FASHION_MNIST = _idx_file_set(
    ("fashion-mnist", "fashion_mnist", "FashionMNIST", "FashionMNIST/raw"),
    (
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
    ),
    (
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
    (
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "25c81989df183df01b3e8a0aad5dffbe",
        "bef4ecab320f06d8554ea6380940ec79",
        "bb300cfdad3c16e7a12a480ee83cd310",
    ),
)

_KMNIST_TEST = (
    "76fbd229ce87db80dd281af5e6670de4ad0e42fb30a7bd643972994c47c1f42e",
    "a11dc742be8e781a40a92f53d6a4957e7b7d36df2faa097659131ebfd8fd60c6",
)

KMNIST = _idx_file_set(
    ("kmnist", "KMNIST", "KMNIST/raw"),
    ("http://codh.rois.ac.jp/kmnist/dataset/kmnist",),
    (
        None,  # known only for the served file
        "2a16eeae62da984b8bd24fa32e31d47291f01dac3fe84d5594f304f71e7d374b",
        *_KMNIST_TEST,
    ),
    (
        "bdb82020997e1d708af4cf47b453dcf7",
        "e144d726b3acfaa3e44228e80efcd344",
        "5c965bf0a639b31b8f53240b1b52f4d7",
        "7320c461ea6c1c855c0b718fb2a4b134",
    ),
)

# The first 7,011 training images in a separate file, and all test images.
KMNIST_PARTIAL = FileSet(
    ("kmnist-partial", "kmnist"),
    tuple(
        DataFile(name, f"sha256:{digest}")
        for name, digest in zip(
            idx_names("train-first7011"),
            (
                "e07d5deda1fd894b9a5dba9fd0fd574ac432195a28a67b25961d5c3c19bb9c13",
                "576adc0f6c4cfb37c445858fb6203c33039a49942170fee6b3ce3df15a7c0783",
                *_KMNIST_TEST,
            ),
            strict=True,
        )
    ),
)

_TORONTO_URL = "https://www.cs.toronto.edu/~kriz"

CIFAR10_BINARY = FileSet(
    ("cifar-10-batches-bin", "cifar10", "cifar10/cifar-10-batches-bin"),
    (
        DataFile(
            "data_batch_1.bin", "sha256:cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"
        ),
        DataFile(
            "data_batch_2.bin", "sha256:a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"
        ),
        DataFile(
            "data_batch_3.bin", "sha256:bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"
        ),
        DataFile(
            "data_batch_4.bin", "sha256:014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"
        ),
        DataFile(
            "data_batch_5.bin", "sha256:755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"
        ),
        DataFile("test_batch.bin", "sha256:8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"),
    ),
    (
        Download(
            "cifar-10-binary.tar.gz",
            (f"{_TORONTO_URL}/cifar-10-binary.tar.gz",),
            "md5:c32a1d4ab5d03f1284b67883e8d87530",
        ),
    ),
)

CIFAR10_PYTHON = FileSet(
    ("cifar-10-batches-py", "cifar10", "cifar10/cifar-10-batches-py"),
    (
        DataFile("data_batch_1", "md5:c99cafc152244af753f735de768cd75f"),
        DataFile("data_batch_2", "md5:d4bba439e000b95fd0a9bffe97cbabec"),
        DataFile("data_batch_3", "md5:54ebc095f3ab1f0389bbae665268c751"),
        DataFile("data_batch_4", "md5:634d18415352ddfa80567beed471001a"),
        DataFile("data_batch_5", "md5:482c414d41f54cd18b22e5b47cb7c3cb"),
        DataFile("test_batch", "md5:40351d587109b95175f43aff81a1287e"),
    ),
)

CIFAR100_PYTHON = FileSet(
    ("cifar-100-python", "cifar100", "cifar100/cifar-100-python", "cifar20"),
    (
        DataFile("train", "md5:16019d7e3df5f24257cddd939b257f8d"),
        DataFile("test", "md5:f0ef6b0ae62326f3e7ffdfab6717acfc"),
    ),
    (
        Download(
            "cifar-100-python.tar.gz",
            (f"{_TORONTO_URL}/cifar-100-python.tar.gz",),
            "md5:eb9058c3a382ffc7106e4002c42a8d85",
        ),
    ),
)

CIFAR100_BINARY = FileSet(
    ("cifar-100-binary", "cifar100", "cifar100/cifar-100-binary", "cifar20"),
    (DataFile("train.bin"), DataFile("test.bin")),
)


def _clcifar(name: str, drive: str) -> FileSet:
    # Neither server publishes a checksum. The authors now point to the second URL; the first is an earlier one.
    urls = (
        f"https://clcifar.s3.us-west-2.amazonaws.com/{name}.pkl",
        f"https://drive.usercontent.google.com/download?id={drive}&export=download&confirm=t",
    )
    return FileSet((name,), (DataFile(f"{name}.pkl"),), (Download(f"{name}.pkl", urls),))


CLCIFAR10 = _clcifar("clcifar10", "1uNLqmRUkHzZGiSsCtV2-fHoDbtKPnVt2")
CLCIFAR20 = _clcifar("clcifar20", "1PhZsyoi1dAHDGlmB4QIJvDHLf_JBsFeP")
