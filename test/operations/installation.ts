// An embedded installation in a directory, as `patchbay up` makes one: its own database, its secrets in files, its providers played
// by a sandbox.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { type Database, openDatabase } from "../../src/storage/database.ts";
import { holdsDatabase } from "../../src/storage/pglite.ts";
import { fillDataDir } from "../harness/database.ts";
import { ENCRYPTION_KEY, PEPPER, startGateway, type TestGateway, type TestGatewayOptions } from "../harness/gateway.ts";
import { run } from "../cli/fake-gateway.ts";

export interface Installation {
  /** Working directory and data directory in one. */
  readonly dataDir: string;
  readonly sandbox: Sandbox;
  /** A gateway on it; closed together with its database. */
  start(options?: Pick<TestGatewayOptions, "file" | "works">, database?: Database): Promise<TestGateway>;
  /** The command line there, with the configuration of the last start. */
  patchbay(...argv: readonly string[]): ReturnType<typeof run>;
  close(): Promise<void>;
}

export async function makeInstallation(): Promise<Installation> {
  const root = mkdtempSync(join(tmpdir(), "patchbay-installation-"));
  const dataDir = join(root, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(join(dataDir, "key-pepper"), `${PEPPER.toString("base64")}\n`, { mode: 0o600 });
  writeFileSync(join(dataDir, "encryption-key"), `${ENCRYPTION_KEY.toString("base64")}\n`, { mode: 0o600 });
  const sandbox = await startSandbox();
  return {
    dataDir,
    sandbox,
    async start(options = {}, own) {
      if (own === undefined && !(await holdsDatabase(dataDir))) await fillDataDir(dataDir);
      const database = own ?? (await openDatabase({ dataDir }));
      const gateway = await startGateway({ ...options, beside: { dataDir, sandbox, database } });
      return {
        ...gateway,
        close: async () => {
          await gateway.close();
          await database.close();
        },
      };
    },
    patchbay: (...argv) => run([...argv, "--config", join(dataDir, "patchbay.yaml")], { cwd: root }),
    close: async () => {
      await sandbox.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A configuration that says nothing but where the data is. */
export function bareConfiguration(dataDir: string): string {
  const file: ConfigurationFile = { storage: { data_dir: dataDir } };
  const path = join(dataDir, "..", `bare-${Math.trunc(Math.random() * 1e9)}.yaml`);
  writeFileSync(path, JSON.stringify(file));
  return path;
}
