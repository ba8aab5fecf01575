// Composes the models that run on this machine: their directory, the way out of their downloads, and the pulls of the admin API.
import type { Logger } from "pino";
import type { LocalModelServices } from "../admin/local-models.ts";
import type { Configuration } from "../config/configuration.ts";
import { DOWNLOAD_HOSTS, MANIFEST } from "../local-models/manifest.ts";
import { createModelPulls } from "../local-models/model-pulls.ts";
import { ModelFault } from "../local-models/model-fault.ts";
import type { ModelSpec } from "../local-models/model-spec.ts";
import type { PullParts } from "../local-models/pull-model.ts";
import type { Outbound, ProxySettings } from "../outbound/dial.ts";
import type { Database } from "../storage/database.ts";
import { openDownloads } from "./outbound.ts";

export interface ModelSource extends Pick<PullParts, "hosts"> {
  readonly manifest: readonly ModelSpec[];
  readonly outbound: Outbound;
}

export interface LocalModelOptions {
  readonly configuration: Pick<Configuration, "models">;
  readonly database: Database;
  readonly logger: Logger;
  /** Of downloads. Absent: none. */
  readonly proxy?: ProxySettings | undefined;
  /** Replaces the manifest and the internet in tests. */
  readonly modelSource?: ModelSource | undefined;
}

export interface OpenedLocalModels {
  readonly services: LocalModelServices;
  close(): Promise<void>;
}

export function openLocalModels({ configuration, database, logger, ...options }: LocalModelOptions): OpenedLocalModels {
  const { dir, fetch } = configuration.models;
  const { manifest, hosts } = options.modelSource ?? { manifest: MANIFEST, hosts: DOWNLOAD_HOSTS };
  // Opened by the first pull: most gateways never download.
  let opened = options.modelSource?.outbound ?? null;
  const outbound: PullParts["outbound"] = {
    open: async (request) => {
      opened ??= openDownloads(options.proxy ?? { https: "", noProxy: "" });
      return opened.open(request);
    },
  };
  const pulls = createModelPulls({
    pull: { dir, fetch, outbound, hosts },
    onEnd: ({ name }, error) => {
      if (error === null) logger.info({ event: "local_model.pull_ended", model: name });
      else if (error instanceof ModelFault)
        logger.warn({ event: "local_model.pull_failed", model: name, reason: error.kind });
      else logger.error({ event: "local_model.pull_failed", model: name, err: error });
    },
  });
  return {
    services: { database, dir, fetch, manifest, pulls },
    close: async () => {
      await pulls.close();
      await opened?.destroy();
    },
  };
}
