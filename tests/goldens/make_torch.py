#!/usr/bin/env python3
"""Files that PyTorch, numpy and ONNX write themselves: tests/goldens/torch. Needs torch, numpy and onnx (made with 2.14, 2.4 and 1.20)."""
import pathlib
import pickle

import torch
from onnx import TensorProto, helper, numpy_helper, save

FOLDER = pathlib.Path(__file__).parent / "torch"
x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
linear = torch.nn.Linear(2, 1)
with torch.no_grad():
    linear.weight.copy_(torch.tensor([[1.0, 2.0]]))
    linear.bias.fill_(3.0)
torch.save({"x": x, "turned": x.T, "row": x[1], "half": x.to(torch.float16), "brain": x.to(torch.bfloat16), "whole": x.to(torch.int64),
            "state": linear.state_dict(), "words": ["a", "b"], "none": None}, FOLDER / "torch.pt")
with open(FOLDER / "numpy.pkl", "wb") as file:
    pickle.dump({"x": x.numpy(), "turned": x.T.numpy(), "steps": (x.numpy()[0], None, x.numpy()[1])}, file, protocol=5)
graph = helper.make_graph([], "g", [], [], [
    numpy_helper.from_array(x.numpy(), "raw"), helper.make_tensor("listed", TensorProto.FLOAT, [2, 3], list(range(6))),
    helper.make_tensor("halves", TensorProto.FLOAT16, [3], [0.0, 1.0, 2.0]), helper.make_tensor("whole", TensorProto.INT64, [2], [-1, 5])])
save(helper.make_model(graph), FOLDER / "initialisers.onnx")
