"""scikit-learn's array API functions on tensors, beside the same on NumPy arrays."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import gradtape as gt

RANDOM = np.random.default_rng(0)
X, Y = RANDOM.normal(size=(30, 4)), RANDOM.normal(size=30)
LABELS, OTHERS, CHANCES = RANDOM.integers(0, 2, 30), RANDOM.integers(0, 2, 30), RANDOM.uniform(size=30)

ESTIMATORS = {
    "decomposition.PCA": ({"n_components": 2, "svd_solver": "full"}, "transform", None),
    "linear_model.Ridge": ({"solver": "svd"}, "predict", Y),
    "discriminant_analysis.LinearDiscriminantAnalysis": ({"solver": "svd"}, "predict", LABELS),
    "naive_bayes.GaussianNB": ({}, "predict", LABELS),
    "preprocessing.StandardScaler": ({}, "transform", None),
    "preprocessing.MinMaxScaler": ({}, "transform", None),
    "preprocessing.MaxAbsScaler": ({}, "transform", None),
    "preprocessing.Normalizer": ({}, "transform", None),
    "preprocessing.PolynomialFeatures": ({}, "transform", None),
}
SCORES = {
    "accuracy_score": (LABELS, OTHERS),
    "f1_score": (LABELS, OTHERS),
    "confusion_matrix": (LABELS, OTHERS),
    "log_loss": (LABELS, CHANCES),
    "r2_score": (Y, CHANCES),
    "mean_squared_error": (Y, CHANCES),
    "mean_absolute_error": (Y, CHANCES),
}
KERNELS = [
    "rbf_kernel",
    "linear_kernel",
    "polynomial_kernel",
    "sigmoid_kernel",
    "cosine_similarity",
    "euclidean_distances",
]


def plain(value: Any) -> Any:
    return value.numpy() if isinstance(value, gt.Tensor) else value


def check_estimators(sklearn: Any) -> None:
    """estimators fit tensors, transform and predict tensors, as they do arrays"""
    for name, (options, method, target) in ESTIMATORS.items():
        module, _, kind = name.rpartition(".")
        results = []
        for convert, dispatch in ((np.asarray, False), (gt.tensor, True)):
            with sklearn.config_context(array_api_dispatch=dispatch):
                estimator = getattr(importlib.import_module(f"sklearn.{module}"), kind)(**options)
                fitted = estimator.fit(*[convert(each) for each in (X, target) if each is not None])
                results.append(getattr(fitted, method)(convert(X)))
        assert isinstance(results[1], gt.Tensor), name
        np.testing.assert_allclose(np.abs(plain(results[1])), np.abs(results[0]), rtol=1e-8, err_msg=name)


def check_scores(sklearn: Any) -> None:
    """scores of tensors are those of arrays"""
    for name, arrays in SCORES.items():
        score = getattr(importlib.import_module("sklearn.metrics"), name)
        with sklearn.config_context(array_api_dispatch=True):
            found = score(*map(gt.tensor, arrays))
        np.testing.assert_allclose(plain(found), score(*arrays), rtol=1e-10, err_msg=name)


def check_kernels(sklearn: Any) -> None:
    """kernels and distances of tensors are tensors"""
    for name in KERNELS:
        kernel = getattr(importlib.import_module("sklearn.metrics.pairwise"), name)
        with sklearn.config_context(array_api_dispatch=True):
            found = kernel(gt.tensor(X), gt.tensor(X[:5]))
        assert isinstance(found, gt.Tensor), name
        np.testing.assert_allclose(found.numpy(), kernel(X, X[:5]), rtol=1e-8, atol=1e-7, err_msg=name)
