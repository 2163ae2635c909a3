# How to renew the digests: CONTRIBUTING.md, "Pinned images and actions".
FROM node:22-bookworm-slim@sha256:48e4b67d85f87bd551df43704e24d252f56cc5f8e9718841aace50f19948f0f9 AS build
WORKDIR /app
COPY . .
# Builds too, through the package's `prepare`.
RUN npm ci
# What runs, and the list of it.
RUN npm prune --omit=dev && npm pkg delete devDependencies && npm sbom --sbom-format=spdx > sbom.spdx.json
# Source maps and declarations of packages: nothing reads them here, and they are nearly a third of what is installed.
RUN find node_modules -type f \( -name "*.map" -o -name "*.d.ts" -o -name "*.d.mts" -o -name "*.d.cts" \) -delete

FROM node:22-bookworm-slim@sha256:48e4b67d85f87bd551df43704e24d252f56cc5f8e9718841aace50f19948f0f9
LABEL org.opencontainers.image.title=chain-recorder org.opencontainers.image.licenses=MIT
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json /app/sbom.spdx.json /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/drizzle ./drizzle
COPY --from=build /app/examples ./examples
COPY --from=build /app/src/reporting/views/sql ./src/reporting/views/sql
# The embedded PostgreSQL's place, for a container that gets no DATABASE_URL: mount a volume there. Nothing else is written
# but to /tmp, so that the root may be read-only.
RUN mkdir .recorder && chown node:node .recorder
# The same command as everywhere.
RUN chmod 755 dist/cli.js && ln -s /app/dist/cli.js /usr/local/bin/chain-recorder
ENV XDG_STATE_HOME=/app/.recorder/state
USER node
EXPOSE 8080
# Each check starts a process: a slow machine gets the time for it.
HEALTHCHECK --interval=15s --timeout=30s --start-period=120s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.RECORDER_PORT || 8080}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["chain-recorder", "up"]
