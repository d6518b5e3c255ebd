"""Doors to where users already are: MLflow, KServe, notebooks, chat assistants. Nothing else in the package imports them.

Each is one module over the public face, with the outside package as an extra: ``reap.mlflow``, ``reap.doors.kserve``,
``reap.notebook``, ``reap.doors.assistant``.
"""
