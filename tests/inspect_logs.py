"""Logs in the layout of Inspect AI, written by hand: whole ones and damaged ones."""

from __future__ import annotations

import json
import zipfile

from unpredictabench.tasks import load_suite

TASK, OTHER = "text-explicit/poisson/spread_out", "text-explicit/normal/spread_out"


def header(*, samples=3, ids=(TASK, OTHER), status="success", **spec):
    """Return the header of a log of `samples` draws of each task."""
    own = {"format": 1, "suite": "v1", "variant": None, "suite_hash": load_suite("v1").hash}
    own |= {"samples": samples, "prompt_style": "direct", "version": "0.1.0"}
    told = {
        "task": "unpredictabench/ks_at_n",
        "task_id": "T1",
        "created": "2026-01-01T00:00:00+00:00",
        "model": "openai/gpt-x",
        "model_base_url": "https://user:word@host/v1",
        "model_generate_config": {"temperature": 0.7, "max_connections": 20, "max_tokens": None},
        "dataset": {"samples": len(ids), "sample_ids": list(ids)},
        "metadata": {"unpredictabench": own},
    }
    plan = {"config": {"max_tokens": 32}}
    return {"version": 2, "status": status, "eval": told | spec, "plan": plan}


def sample(task=TASK, answers=("17", "18", "19"), failures=(), **more):
    """Return a sample whose draws are these texts."""
    slots = [
        {"index": i, "text": text, "finish_reason": "stop", "usage": {"total_tokens": 9}}
        for i, text in enumerate(answers)
    ]
    store = {"unpredictabench:slots": slots, "unpredictabench:failures": list(failures)}
    return {"id": task, "epoch": 1, "store": store} | more


def write(path, head, samples, *, name="header.json", packing=zipfile.ZIP_DEFLATED):
    """Write a log, as .eval or .json by the name of the path."""
    if path.suffix == ".json":
        path.write_text(json.dumps(head | {"samples": samples}))
        return path
    with zipfile.ZipFile(path, "w", packing) as archive:
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_1.json", json.dumps(one))
        archive.writestr(name, json.dumps(head))
    return path
