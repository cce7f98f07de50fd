"""Inference on this machine's processor: OpenVINO, or onnxruntime where it fails.

Each inference takes one core. Threads that share one wait for each other, which is slow on a
busy machine; concurrent inferences use the other cores.
"""

import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

log = logging.getLogger(__name__)

Pixels = NDArray[np.uint8]
Tensor = NDArray[np.float32]

_MOST_CORES = 4
"""Most cores used; the rest are left to others."""


def cores() -> int:
    """Return the number of concurrent inferences."""
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # Not available on macOS and Windows.
        usable = os.cpu_count() or 1
    return min(usable, _MOST_CORES)


def load(path: Path) -> "OpenVINO | OnnxRuntime":
    """Load the model in an ONNX file, to run it in any thread.

    `engine` is the library that runs it, `alphabet` the labels of its output indices, empty if the
    file lists none. Called with an input, it returns outputs that last until the thread's next
    call.
    """
    try:
        return OpenVINO(path)
    except Exception:
        log.warning("OpenVINO does not work here", exc_info=True)
        return OnnxRuntime(path)


class OpenVINO:
    """A model on OpenVINO, the fastest for most."""

    engine = "openvino"

    def __init__(self, path: Path) -> None:
        # Block this import: the module looks up an analytics host and writes to the user's home.
        # OpenVINO works without it.
        sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
        from openvino import Core

        core = Core()
        streams = str(cores())
        short = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        settings = {
            "INFERENCE_NUM_THREADS": streams,
            "NUM_STREAMS": streams,
            # With pinning, several servers on one machine share one core.
            "ENABLE_CPU_PINNING": "NO",
            # BF16 halves the time; processors without it would emulate it.
            "INFERENCE_PRECISION_HINT": "bf16" if short else "f32",
        }
        model = core.read_model(path)
        self.alphabet: list[str] = []
        if model.has_rt_info(["framework", "character"]):
            self.alphabet = model.get_rt_info(["framework", "character"]).value.splitlines()
        self._compiled = core.compile_model(model, "CPU", settings)
        self._local = threading.local()

    def __call__(self, tensor: Tensor) -> list[Tensor]:
        request: Any = getattr(self._local, "request", None)
        if request is None:
            request = self._local.request = self._compiled.create_infer_request()
        request.infer([tensor])
        return [output.data for output in request.output_tensors]


class OnnxRuntime:
    """A model on onnxruntime, which runs any, but takes twice as long for most."""

    engine = "onnxruntime"

    def __init__(self, path: Path) -> None:
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = 1
        # Its warnings concern the model's graph and repeat for every input.
        options.log_severity_level = 4
        self._session = InferenceSession(
            path, sess_options=options, providers=["CPUExecutionProvider"]
        )
        notes = self._session.get_modelmeta().custom_metadata_map
        self.alphabet = notes.get("character", "").splitlines()
        self._input = self._session.get_inputs()[0].name

    def __call__(self, tensor: Tensor) -> list[Tensor]:
        outputs: list[Tensor] = self._session.run(None, {self._input: tensor})
        return outputs
