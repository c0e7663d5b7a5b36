"""From a design's state to its figures: corrections of the white box, and how sure they are.

LUT and FF are sums, so what is learned is what each term of the sum really costs in this design: a
law that holds for a term holds in a kernel that was never seen. Every head begins at 0, so that the
untrained predictor is the white box.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from qor_gnn.gnn.examples.example import METRICS
from qor_gnn.gnn.examples.targets import MOST, SUMMED
from qor_gnn.gnn.nets.members import MemberLinear, side_by_side

_COLUMNS = [METRICS.index(name) for name in SUMMED]
_REACH = 1.5  # most that a term's cost moves, as a logarithm: a factor of 4.5
_LOG_SCALE = -3.0  # of an error before anything is learned: 5%


class Heads(nn.Module):
    """Corrections and scales of every metric.

    Args:
        members: of the ensemble.
        hidden: channels of a member.
        targets: number of tools with a row of their own; row 0 is any other tool.
    """

    def __init__(self, members: int, hidden: int, targets: int) -> None:
        super().__init__()
        self.members = members
        width = 8
        self.tool = nn.Parameter(torch.zeros(targets + 1, members * width))
        self.first = MemberLinear(members, hidden + width + 1, hidden)
        self.shares = MemberLinear(members, 2 * MOST, hidden)
        self.second = MemberLinear(members, 2 * hidden, hidden)
        self.move = MemberLinear(members, hidden, len(METRICS), zero=True)
        self.terms = MemberLinear(members, hidden, 2 * MOST, zero=True)
        self.costs = nn.Parameter(torch.zeros(targets + 1, members, 2, MOST))
        self.scale = MemberLinear(members, hidden, len(METRICS), zero=True)

    def forward(
        self, state: Tensor, target: Tensor, clock: Tensor, shares: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Corrections, and logarithms of scales of their errors.

        Args:
            state: of the designs, shape (n, members * hidden).
            target: row of each one's tool, shape (n,).
            clock: logarithm of each one's clock period in ns, shape (n,).
            shares: of LUT and FF by term, as each member counts them, shape (n, members, 2, terms).

        Returns:
            Two tensors of shape (n, members, metrics); corrections are to be added to logarithms.
        """
        count, known = len(state), (target > 0).to(state.dtype)
        period = clock.unsqueeze(1).expand(count, self.members)
        tool = self.tool[target] * known.unsqueeze(1)
        own = torch.relu(self.first(side_by_side(self.members, state, tool, period)))
        mix = torch.relu(self.shares(shares.view(count, -1)))
        deep = torch.relu(self.second(side_by_side(self.members, own, mix)))
        move = self.move(deep).view(count, self.members, -1)
        moved = self.terms(deep).view(count, self.members, 2, MOST)
        moved = moved + self.costs[target] * known.view(-1, 1, 1, 1)
        factor = torch.exp(_REACH * torch.tanh(moved / _REACH))
        summed = torch.log((shares * factor).sum(dim=3).clamp(min=1e-3))
        added = torch.zeros_like(move)
        added[:, :, _COLUMNS] = summed
        scale = self.scale(deep.detach()).view(count, self.members, -1) + _LOG_SCALE
        return move + added, scale
