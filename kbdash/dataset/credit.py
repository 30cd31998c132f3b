"""The address of the dataset and its citation, in one place."""

from kbdash.dataset.config import DATASET

DATASET_PAGE = f"https://huggingface.co/datasets/{DATASET}"
CITATION = """@inproceedings{kernelbot2025,
  title={KernelBot: A Competition Platform for Writing Heterogeneous {GPU} Code},
  author={Alex L Zhang and Matej Sirovatka and Erik Schultheis and Benjamin Horowitz and Mark Saroufim},
  booktitle={Championing Open-source DEvelopment in ML Workshop @ ICML25},
  year={2025},
  url={https://openreview.net/forum?id=bq9U4dmuyJ}
}
"""
