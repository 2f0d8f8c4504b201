# The server with the models of the package. Build: docker build -t arbora .
# Run: docker run -p 127.0.0.1:8000:8000 -e ARBORA_TOKEN=secret arbora
FROM python:3.12-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python -m venv /opt/arbora \
    && /opt/arbora/bin/pip install --no-cache-dir ".[server]"

FROM python:3.12-slim-bookworm
COPY --from=build /opt/arbora /opt/arbora
RUN useradd --system --uid 10001 arbora
USER 10001
WORKDIR /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s \
    CMD ["/opt/arbora/bin/python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/ready', timeout=4)"]
ENTRYPOINT ["/opt/arbora/bin/arbora", "serve", "--host", "0.0.0.0", "--log", "json"]
