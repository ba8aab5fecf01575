// `patchbay models …` for guides, where the publisher's host cannot be reached: a server of this process stands in for it, and has the demonstration model
// under the name of the default one. A person at a terminal accepts the licence.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { runCli } from "../../src/cli/run-cli.ts";
import { DEFAULT_MODEL, MANIFEST } from "../../src/local-models/manifest.ts";
import type { ModelSpec } from "../../src/local-models/model-spec.ts";
import { makeOperations } from "../../src/operations/operations.ts";
import { createOutbound } from "../../src/outbound/dial.ts";
import { DEMONSTRATION_SPEC, demonstrationDirectory } from "../../src/providers/local/demonstration.ts";
import { archiveSource, entryOf, fileOf, tarOf } from "../local-models/demo-model.ts";
import { TLS } from "../outbound/loopback.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = "demo-model";

const contents = ["model.onnx", "tokens.txt"].map(
  (name) => [name, readFileSync(join(demonstrationDirectory(ROOT), name))] as const,
);
const archive = await tarOf(contents.map(([name, content]) => entryOf(`${FOLDER}/${name}`, content)));

const server = createServer({ cert: TLS.cert, key: TLS.key }, (_request, response) => {
  response.writeHead(200, { "content-length": archive.length }).end(archive);
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

const { engine, features } = DEMONSTRATION_SPEC;
const manifest = MANIFEST.map((spec): ModelSpec => {
  if (spec.name !== DEFAULT_MODEL) return spec;
  const files = contents.map(([name, content]) => fileOf(name, content));
  return { ...spec, engine, features, files, source: archiveSource(`https://${host}/model.tar`, archive) };
});

const notHere = (): Promise<never> => Promise.reject(new Error("for commands of models only"));
const operations = makeOperations(notHere, {
  openDownloads: async () => createOutbound({ connect: { ca: TLS.ca, servername: TLS.host } }),
  manifest,
  hosts: [host],
});
process.exitCode = await runCli(process.argv.slice(2), {
  up: notHere,
  work: notHere,
  operations,
  env: process.env,
  command: "npm run patchbay --",
  stdin: Object.assign(Readable.from(["y\n"]), { isTTY: true }),
});
server.closeAllConnections();
server.close();
