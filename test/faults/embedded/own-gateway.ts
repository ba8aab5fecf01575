// One gateway with embedded storage in its own folder, as an operator starts it.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { ENCRYPTION_KEY, PEPPER } from "../../harness/gateway.ts";
import { createPatchbayProcess, type PatchbayProcess } from "../jobs/patchbay-process.ts";
import { makeFolder } from "../surviving-database.ts";
import { killHard, serverProcesses, untilServerGone } from "./server-processes.ts";

export interface OwnGateway {
  readonly process: PatchbayProcess;
  readonly dataDir: string;
  readonly folder: string;
  /** Contains only the current address. Clients that hold the array follow the gateway through restarts. */
  readonly origins: readonly string[];
  noteOrigin(): void;
}

const ENDS_WITHIN_MS = 20_000;

export async function prepareOwnGateway(file: ConfigurationFile, resources: AsyncDisposableStack): Promise<OwnGateway> {
  const { path: folder, remove } = await makeFolder();
  resources.defer(remove);
  const dataDir = join(folder, "data");
  const configFile = join(folder, "patchbay.yaml");
  const settings = {
    server: { host: "127.0.0.1", port: 0, admin: null },
    storage: { data_dir: dataDir },
    secrets: { key_pepper: PEPPER.toString("base64"), encryption_keys: [ENCRYPTION_KEY.toString("base64")] },
  };
  await writeFile(configFile, JSON.stringify({ ...file, ...settings }));
  const gateway = createPatchbayProcess({ name: "gateway", command: "up", configFile, folder });
  resources.defer(async () => {
    if ((await untilServerGone(dataDir, ENDS_WITHIN_MS)) !== null) return;
    const { postmasters, guards } = await serverProcesses(dataDir);
    killHard([...guards, ...postmasters]);
    await untilServerGone(dataDir, ENDS_WITHIN_MS);
  });
  resources.defer(() => gateway.kill());
  const origins = ["http://127.0.0.1:9"];
  return {
    process: gateway,
    dataDir,
    folder,
    origins,
    noteOrigin: () => {
      if (gateway.origin !== null) origins[0] = gateway.origin;
    },
  };
}
