# syntax=docker/dockerfile:1
# The service, small and without root. Build: docker build -t reap .   Run: see compose.yaml and docs/deploy.md.

FROM python:3.13-slim-bookworm AS build
WORKDIR /src
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY pyproject.toml README.md LICENSE requirements.lock ./
COPY reap reap
RUN python -m venv /opt/reap && /opt/reap/bin/pip install --require-hashes -r requirements.lock \
    && /opt/reap/bin/pip install --no-deps .

FROM python:3.13-slim-bookworm
LABEL org.opencontainers.image.title="reap-recourse" \
      org.opencontainers.image.description="Recourse that asks the person: pages and API" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.source="https://github.com/reap-recourse/reap"
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin reap \
    && install -d -o reap -g reap /data
COPY --from=build /opt/reap /opt/reap
# One core a worker: NumPy's own threads would only fight over it. Nothing is written outside /data and /tmp.
ENV PATH=/opt/reap/bin:$PATH OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 HOME=/data
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
# /readyz is 200 only where something can be stored; a start with --model takes seconds, training the example a minute.
HEALTHCHECK --interval=15s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
ENTRYPOINT ["reap"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
