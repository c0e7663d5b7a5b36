"""Where a training stands, in one file that is replaced as a whole: killing it loses one epoch."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from dsl.errors.errors import InputError
from qor_gnn.gnn.training.tensors import MOST_BYTES, read_tensors, write_tensors

_MOMENTS = ("exp_avg", "exp_avg_sq")
_MOST = (1 + len(_MOMENTS)) * MOST_BYTES + (1 << 20)
"""Bytes of a file: the weights, as many numbers again of each moment, and numbers of steps."""

_HELP = "remove it, or take another --out"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file, and a digest of the training that it is of."""

    path: Path
    training: str

    def keep(self, network: nn.Module, optimiser: torch.optim.AdamW, epochs: int) -> None:
        """Write where the training stands, after so many epochs.

        Raises:
            InputError: W508, the file cannot be written.
        """
        tensors = {f"weight.{k}": v for k, v in network.state_dict().items()}
        for name, parameter in network.named_parameters():
            state = optimiser.state.get(parameter, {})
            for moment in _MOMENTS:
                if moment in state:
                    tensors[f"{moment}.{name}"] = state[moment]
            if "step" in state:
                tensors[f"step.{name}"] = torch.as_tensor(state["step"])
        about = {"training": self.training, "epochs": epochs}
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}.partial")
        write_tensors(partial, tensors, about)
        try:
            partial.replace(self.path)
        except OSError as error:
            raise InputError("W508", f"cannot write {self.path}: {error.strerror}") from error

    def restore(self, network: nn.Module, optimiser: torch.optim.AdamW) -> int:
        """Take up the training where the file left it; the epochs that are done, 0 without a file.

        Raises:
            InputError: W538, the file is of another training, or is none; W508, there can be none.
        """
        try:
            self.path.stat()
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise InputError("W508", f"cannot write {self.path}: {error.strerror}") from error
        tensors, about = read_tensors(self.path, _MOST, _HELP)
        if about.get("training") != self.training:
            raise InputError(
                "W538",
                f"{self.path} is the checkpoint of a training with other data or settings",
                help=_HELP,
            )
        try:
            self._into(tensors, network, optimiser)
            return int(about["epochs"])
        except (KeyError, RuntimeError, ValueError, TypeError) as error:
            raise InputError(
                "W538", f"{self.path} does not fit the network: {error}", help=_HELP
            ) from error

    @staticmethod
    def _into(tensors: dict[str, Tensor], network: nn.Module, optimiser: torch.optim.AdamW) -> None:
        weights = {
            k.removeprefix("weight."): v for k, v in tensors.items() if k.startswith("weight.")
        }
        network.load_state_dict(weights)
        for name, parameter in network.named_parameters():
            if f"step.{name}" in tensors:
                state = {m: tensors[f"{m}.{name}"].view(parameter.shape) for m in _MOMENTS}
                optimiser.state[parameter] = {"step": tensors[f"step.{name}"], **state}
