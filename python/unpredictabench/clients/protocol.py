"""What generation asks of a client: three facts about it, and one question at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unpredictabench.records import Completion, Request


@runtime_checkable
class Client(Protocol):
    """One model that can be asked, wherever it runs.

    The three properties go into a run's settings; they never hold a credential.
    """

    @property
    def model(self) -> str:
        """Name of the model as the user wrote it: ``gpt-x``, ``local:smollm2``, ``sim:median``."""
        ...

    @property
    def base_url(self) -> str | None:
        """Endpoint without credentials; None for models that are not behind one."""
        ...

    @property
    def parameters(self) -> Mapping[str, object]:
        """What is sent with every request besides the words, exactly, as plain JSON data."""
        ...

    async def ask(self, request: Request) -> Completion:
        """Put one question and return what came back; retries happen inside.

        Parameters
        ----------
        request : Request
            The slot to fill and the words to ask it in.

        Returns
        -------
        Completion
            The reply for this slot, also when it holds no text or no choice.

        Raises
        ------
        FatalClientError
            Every further request would fail the same way: the run must stop.
        SlotError
            This slot failed after all attempts; the run may go on.
        """
        ...

    async def aclose(self) -> None:
        """Release connections and processes; asking afterwards is an error."""
        ...
