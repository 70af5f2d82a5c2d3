"""Layers, losses and models by PyTorch's names: on Tensors, and as arguments of compiled derivatives.

>>> import numpy as np
>>> import tangentx as tx
>>> model = tx.nn.Sequential(tx.nn.Linear(2, 3), tx.nn.Tanh())
>>> model(tx.tensor(np.ones((4, 2)))).shape
(4, 3)
"""

from tangentx.nn import functional, init, models, utils
from tangentx.nn.activations import (
    ELU,
    GELU,
    Dropout,
    Flatten,
    Identity,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    PReLU,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
    Unflatten,
)
from tangentx.nn.containers import ModuleDict, ModuleList, Sequential
from tangentx.nn.images import AdaptiveAvgPool2d, AvgPool2d, Conv1d, Conv2d, ConvTranspose2d, MaxPool2d, Upsample
from tangentx.nn.linear import Embedding, Linear
from tangentx.nn.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CosineSimilarity,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    PairwiseDistance,
    SmoothL1Loss,
    TripletMarginLoss,
)
from tangentx.nn.module import Module
from tangentx.nn.normalisation import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm
from tangentx.nn.parameter import Parameter
from tangentx.nn.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from tangentx.nn.transformer import MultiheadAttention, TransformerEncoder, TransformerEncoderLayer

__all__ = [
    "ELU",
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "AdaptiveAvgPool2d",
    "Conv1d",
    "ConvTranspose2d",
    "Upsample",
    "GroupNorm",
    "PReLU",
    "LogSigmoid",
    "Unflatten",
    "KLDivLoss",
    "TripletMarginLoss",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "PairwiseDistance",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "HuberLoss",
    "Conv2d",
    "MaxPool2d",
    "models",
    "BatchNorm1d",
    "BatchNorm2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "GRUCell",
    "Identity",
    "L1Loss",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "NLLLoss",
    "Parameter",
    "RNNCell",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "Tanh",
    "functional",
    "init",
    "utils",
]
