// An embedded installation in a directory, as `patchbay up` makes one: its own database, its secrets in files, its providers played
// by a sandbox.
import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { hasEmbeddedDatabase } from "../../src/storage/embedded/server.ts";
import type { OpenDatabase } from "../harness/postgres/database.ts";
import { fillDataDir, makeTemporary, openEmbedded, postgresBin } from "../harness/postgres/embedded-data.ts";
import {
  ENCRYPTION_KEY,
  PEPPER,
  standardFile,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../harness/gateway.ts";
import { run } from "../cli/fake-gateway.ts";

export interface Installation {
  /** Working directory and data directory in one. */
  readonly dataDir: string;
  readonly sandbox: Sandbox;
  /** A gateway on it; closed together with its database. */
  start(options?: Pick<TestGatewayOptions, "file" | "works">, database?: OpenDatabase): Promise<TestGateway>;
  /** The embedded database, as the owner of the installation. */
  open(): Promise<OpenDatabase>;
  /** The command line there, with the configuration of the last start. */
  patchbay(...argv: readonly string[]): ReturnType<typeof run>;
  close(): Promise<void>;
}

export async function makeInstallation(): Promise<Installation> {
  const root = await makeTemporary("patchbay-installation-");
  const dataDir = join(root, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  writeSecrets(dataDir);
  const sandbox = await startSandbox();
  return {
    dataDir,
    sandbox,
    async start({ file = standardFile, ...options } = {}, own) {
      if (own === undefined && !(await hasEmbeddedDatabase(dataDir))) await fillDataDir(dataDir);
      const database = own ?? (await openEmbedded(dataDir));
      const bin = await postgresBin();
      const gateway = await startGateway({
        ...options,
        file: (played) => withBin(file(played), bin),
        existing: { dataDir, sandbox, database },
      });
      return {
        ...gateway,
        close: async () => {
          await gateway.close();
          await database.close();
        },
      };
    },
    open: () => openEmbedded(dataDir),
    patchbay: (...argv) => run([...argv, "--config", join(dataDir, "patchbay.yaml")], { cwd: root }),
    close: async () => {
      await sandbox.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** The secrets of the tests' gateways, as files. */
export function writeSecrets(dataDir: string): void {
  writeFileSync(join(dataDir, "key-pepper"), `${PEPPER.toString("base64")}\n`, { mode: 0o600 });
  writeFileSync(join(dataDir, "encryption-key"), `${ENCRYPTION_KEY.toString("base64")}\n`, { mode: 0o600 });
}

/** A configuration that names nothing but the data and PostgreSQL's programs. */
export async function bareConfiguration(dataDir: string): Promise<string> {
  const file = withBin({ storage: { data_dir: dataDir } }, await postgresBin());
  const path = join(dataDir, "..", `bare-${Math.trunc(Math.random() * 1e9)}.yaml`);
  writeFileSync(path, JSON.stringify(file));
  return path;
}

/** The same PostgreSQL on every machine. */
function withBin(file: ConfigurationFile, bin: string): ConfigurationFile {
  return { ...file, storage: { ...file.storage, postgres_bin: bin } };
}
