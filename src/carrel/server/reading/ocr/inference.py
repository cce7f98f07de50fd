"""Models at work on this machine's processor: by OpenVINO, or where it does not work, onnxruntime.

Each inference takes one core. Threads that share one wait for each other, which is slow on a busy
machine; several inferences at once use the others.
"""

import logging
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Tensor = NDArray[float32]

log = logging.getLogger(__name__)

_MOST_CORES = 4
"""More cores than this are left to others."""


class Model(Protocol):
    """A network that is ready to run, in any thread."""

    engine: str
    """The library that runs it."""
    alphabet: list[str]
    """What the numbers of its answers stand for; empty where the file does not say."""

    def __call__(self, tensor: "Tensor") -> "list[Tensor]":
        """Its outputs for an input. They last until the thread's next call."""
        ...


def cores() -> int:
    """How many inferences run at once."""
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows do not say.
        usable = os.cpu_count() or 1
    return min(usable, _MOST_CORES)


def load(path: Path) -> Model:
    """The model in an ONNX file."""
    try:
        return _OpenVINO(path)
    except Exception:
        log.warning("OpenVINO does not work here", exc_info=True)
        return OnnxRuntime(path)


class _OpenVINO:
    engine = "openvino"

    def __init__(self, path: Path) -> None:
        # Imported by OpenVINO, it looks up an analytics host and writes to the user's home; where
        # it is missing, OpenVINO does without.
        sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
        from openvino import Core

        core = Core()
        streams = str(cores())
        settings = {
            "INFERENCE_NUM_THREADS": streams,
            "NUM_STREAMS": streams,
            # Several servers on one machine would otherwise share one core.
            "ENABLE_CPU_PINNING": "NO",
        }
        # Short numbers halve the time. Processors that do not have them would imitate them.
        short = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        settings["INFERENCE_PRECISION_HINT"] = "bf16" if short else "f32"
        model = core.read_model(path)
        self.alphabet: list[str] = []
        if model.has_rt_info(["framework", "character"]):
            self.alphabet = model.get_rt_info(["framework", "character"]).value.splitlines()
        self._compiled = core.compile_model(model, "CPU", settings)
        self._local = threading.local()

    def __call__(self, tensor: "Tensor") -> "list[Tensor]":
        request: Any = getattr(self._local, "request", None)
        if request is None:
            request = self._local.request = self._compiled.create_infer_request()
        request.infer([tensor])
        return [output.data for output in request.output_tensors]


class OnnxRuntime:
    """A model that runs on onnxruntime: any does, but most take twice as long as on OpenVINO."""

    engine = "onnxruntime"

    def __init__(self, path: Path) -> None:
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = 1
        # Its warnings are about the model's graph, and the same for every input.
        options.log_severity_level = 4
        self._session = InferenceSession(
            path, sess_options=options, providers=["CPUExecutionProvider"]
        )
        notes = self._session.get_modelmeta().custom_metadata_map
        self.alphabet = notes.get("character", "").splitlines()
        self._input = self._session.get_inputs()[0].name

    def __call__(self, tensor: "Tensor") -> "list[Tensor]":
        outputs: list[Tensor] = self._session.run(None, {self._input: tensor})
        return outputs
