"""Schedule of the weight of the Jacobian penalty (RegCL, section 3)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LinearRamp:
    """A weight that starts at 0, rises linearly, and then stays constant.

    Parameters
    ----------
    on
        Step at which the rise begins.
    off
        Step at which the weight reaches `end`; not before `on`. If they are equal, the weight jumps.
    end
        Final weight.

    Examples
    --------
    >>> ramp = LinearRamp(on=2500, off=5000, end=0.1)
    >>> [ramp.weight(step) for step in (0, 2500, 3750, 20000)]
    [0.0, 0.0, 0.05, 0.1]
    """

    on: float
    off: float
    end: float

    def weight(self, step: int) -> float:
        """Return the weight of a step, counted from 0."""
        if step >= self.off:
            return self.end
        return self.end * (step - self.on) / (self.off - self.on) if step > self.on else 0.0
