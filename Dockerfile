# streamcoref serve, with the bundled model, as somebody who is not root. docs/serving.md says how to run it.
#
# torch is large: name an index with wheels for the CPU alone, if that is what will run it:
#   docker build --build-arg TORCH_INDEX=URL -t streamcoref .
FROM python:3.11-slim AS build
ARG TORCH_INDEX=""
WORKDIR /source
# The compiler, for the kernels in C, stays behind in this stage.
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH PIP_NO_CACHE_DIR=1
COPY constraints.txt ./
RUN pip install ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$(grep '^torch==' constraints.txt)"
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src ./src
RUN pip install --constraint constraints.txt ".[server,books]"

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home streamcoref && install -d -o streamcoref /data
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1
USER streamcoref
WORKDIR /home/streamcoref
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
# Off loopback it starts only with keys: mount a file of them and add --key-file, or say --open.
ENTRYPOINT ["streamcoref", "serve", "--host", "0.0.0.0", "--data", "/data"]
