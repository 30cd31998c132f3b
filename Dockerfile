# The container of a Hugging Face Space, and of any other host:
#   docker build -t kbdash . && docker run --rm -p 8501:8501 kbdash
# The base by version: a rebuild gives the same Python. To refresh it, take the newest 3.11 patch release and Debian
# name from https://hub.docker.com/_/python, build, and run `make test`.
FROM python:3.11.14-slim-bookworm

# Spaces run every container as user 1000.
RUN useradd --create-home --uid 1000 user
ENV HOME=/home/user PYTHONUNBUFFERED=1
ENV HF_HOME=$HOME/.cache/huggingface KBDASH_CACHE=$HOME/.cache/kbdash
WORKDIR $HOME/app

# The packages change less often than the code, so they have their own layer.
COPY requirements.txt ./
RUN pip install --no-cache-dir --only-binary=:all: --require-hashes -r requirements.txt

COPY --chown=user app.py ./
COPY --chown=user .streamlit ./.streamlit
COPY --chown=user kbdash ./kbdash
COPY --chown=user pages ./pages

USER user
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["python", "-m", "kbdash.web.server", "--address", "0.0.0.0", "--port", "8501"]
