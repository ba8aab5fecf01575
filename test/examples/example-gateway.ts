// A gateway with the configuration of examples/config/laptop, and a folder with copies of the examples in which they are run as a reader would run them.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { parse } from "yaml";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { startGateway } from "../harness/gateway.ts";
import { installPackage } from "../harness/installed-package.ts";

export const ROOT = join(import.meta.dirname, "../..");
/** Of the bundled recording, by the sandbox. */
export { SAMPLE_TEXT as TRANSCRIPT } from "../harness/sample-text.ts";
const KEYS = { NOTES_KEY: "notes-key-of-the-examples-01", ADMIN_KEY: "admin-key-of-the-examples-01" };

export interface ExampleGateway extends AsyncDisposable {
  /** Its examples are below `examples`, the recording is `call.mp3`, and `patchbay-gateway` is installed. */
  readonly folder: string;
  readonly start: (command: readonly string[], env?: Readonly<Record<string, string>>) => RunningExample;
  /** What it prints; an error if it fails. */
  readonly run: (command: readonly string[], env?: Readonly<Record<string, string>>) => Promise<string>;
  /** What `patchbay listen` needs. */
  readonly adminKey: string;
  readonly origin: string;
  /** In place of `https://api.deepgram.com`. */
  readonly deepgramUrl: string;
  /** The key that the examples have. */
  readonly key: string;
}

export type RunningExample = ChildProcessByStdio<null, Readable, Readable>;

export async function startExampleGateway(): Promise<ExampleGateway> {
  const gateway = await startGateway({ file: () => laptopFile() });
  const folder = mkdtempSync(join(tmpdir(), "patchbay-examples-"));
  cpSync(join(ROOT, "examples"), join(folder, "examples"), {
    recursive: true,
    // Of a gateway that was started with one of the configurations.
    filter: (source) => basename(source) !== "data",
  });
  cpSync(join(ROOT, "sandbox/samples/dialogue.mp3"), join(folder, "call.mp3"));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  installPackage(folder);
  const start: ExampleGateway["start"] = ([command = "", ...args], env = {}) =>
    spawn(command, args, {
      cwd: folder,
      env: {
        PATH: process.env["PATH"] ?? "",
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
        PATCHBAY_URL: gateway.origin,
        PATCHBAY_API_KEY: KEYS.NOTES_KEY,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
  return {
    folder,
    start,
    run: async (command, env) => {
      const child = start(command, env);
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, "close"),
      ]);
      if (code !== 0) throw new Error(`${command.join(" ")} ended with ${String(code)}:\n${stdout}${stderr}`);
      return stdout;
    },
    adminKey: KEYS.ADMIN_KEY,
    origin: gateway.origin,
    deepgramUrl: gateway.sandbox.deepgramUrl,
    key: KEYS.NOTES_KEY,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function laptopFile(): ConfigurationFile {
  const yaml = readFileSync(join(ROOT, "examples/config/laptop/patchbay.yaml"), "utf8");
  const filled = Object.entries(KEYS).reduce((all, [name, value]) => all.replaceAll(`\${env:${name}}`, value), yaml);
  return parse(filled) as ConfigurationFile;
}
