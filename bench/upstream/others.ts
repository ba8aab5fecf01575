// Third-party systems for comparison: nginx, if it is on the PATH, and the Portkey gateway from npm, if installed in its own folder. Both only forward: no
// keys, no budgets, no usage records.
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "../../test/harness/programs.ts";
import { type Running, startProgram } from "../measure/child-process.ts";

const PEER = join(
  import.meta.dirname,
  "..",
  "peer",
  "node_modules",
  "@portkey-ai",
  "gateway",
  "build",
  "start-server.js",
);

export const PEER_INSTALL = "npm ci --prefix bench/peer --ignore-scripts";

/** Null: not installed. Started as by `npx`, but without its log page. It listens on all addresses. */
export async function startPeer(): Promise<Running | null> {
  if (!existsSync(PEER)) return null;
  const port = await freePort();
  const env = { PATH: process.env["PATH"] ?? "", NODE_ENV: "production" };
  return startProgram({ command: process.execPath, args: [PEER, `--port=${port}`, "--headless"], env, port });
}

/** The peer reads the target of a request from its headers. */
export function peerHeaders(upstream: string): Readonly<Record<string, string>> {
  return { "x-portkey-provider": "openai", "x-portkey-custom-host": `${upstream}/v1` };
}

/** Null: not on the PATH. One worker, as all others serve with one thread. */
export async function startNginx(upstream: string): Promise<Running | null> {
  const command = (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "nginx"))
    .find((path) => existsSync(path));
  if (command === undefined) return null;
  const folder = await mkdtemp(join(tmpdir(), "patchbay-nginx-"));
  const port = await freePort();
  const file = join(folder, "nginx.conf");
  await writeFile(file, nginxConfiguration(folder, port, upstream));
  const running = await startProgram({ command, args: ["-c", file, "-p", folder, "-e", "stderr"], env: {}, port });
  const stop = async () => {
    await running.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...running, stop, [Symbol.asyncDispose]: stop };
}

/** No buffering in either direction, and keep-alive connections to the provider. */
function nginxConfiguration(folder: string, port: number, upstream: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((what) => `${what}_temp_path ${folder};`);
  return `
daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
worker_processes 1;
error_log stderr error;
pid ${join(folder, "pid")};
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.join("\n  ")}
  client_max_body_size 0;
  keepalive_requests 1000000000;
  upstream provider {
    server ${new URL(upstream).host};
    keepalive 512;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_request_buffering off;
      proxy_buffering off;
    }
  }
}
`;
}
