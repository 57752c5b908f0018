# Switchboard in a container. Several stages: what builds it is not in what runs. Nothing is written but the volume /data.
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:22-bookworm-slim AS packages
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:22-bookworm-slim
ENV NODE_ENV=production SWITCHBOARD_DATA=/data
WORKDIR /app
COPY --from=packages /src/node_modules ./node_modules
COPY --from=build /src/dist ./dist
COPY package.json README.md LICENSE ./
RUN mkdir -p /data /etc/switchboard && chown node:node /data
USER node
VOLUME /data
EXPOSE 4747
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["node", "-e", "fetch('http://127.0.0.1:4747/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/dist/cli/main.js"]
CMD ["up", "--config", "/etc/switchboard/switchboard.yaml", "--host", "0.0.0.0", "--port", "4747"]
