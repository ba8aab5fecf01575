// `patchbay models pull`: shows the licence, asks, downloads and installs.
import { EXIT } from "../../cli/exit-codes.ts";
import type { LicenceOptions } from "../../cli/operate/models-commands.ts";
import { printLine, type Terminal, write } from "../../cli/terminal.ts";
import { describeModel } from "../../local-models/describe-models.ts";
import { DEFAULT_MODEL, DOWNLOAD_HOSTS, totalBytes } from "../../local-models/manifest.ts";
import { megabytes } from "../../local-models/megabytes.ts";
import { findIntact, pullModel, requireFetch } from "../../local-models/pull-model.ts";
import type { ModelSpec } from "../../local-models/model-spec.ts";
import {
  acceptLicences,
  keepOwner,
  modelSettings,
  type ModelSources,
  requireSpec,
  withModelFaults,
} from "./model-command.ts";
import { pullProgress } from "./pull-progress.ts";

const SERVED_BY =
  "A running gateway uses it within seconds, without a restart: where a route names it, and without a configuration file.";

export async function pullModels(
  names: readonly string[],
  options: LicenceOptions,
  terminal: Terminal,
  signal: AbortSignal,
  sources: ModelSources,
): Promise<number> {
  const { dir, fetch } = modelSettings(options, terminal);
  const specs = (names.length === 0 ? [DEFAULT_MODEL] : [...new Set(names)]).map((name) => requireSpec(name, sources));
  let isNew = false;
  await withModelFaults(async () => {
    const missing = [];
    for (const spec of specs) if ((await findIntact(spec, dir, signal)) === null) missing.push(spec);
    if (missing.length === 0) return;
    requireFetch({ fetch });
    await acceptLicences(missing, "download", options, terminal, signal);
    const outbound = await sources.openDownloads(terminal.env);
    try {
      for (const spec of missing) {
        const progress = pullProgress(terminal, spec.name);
        const parts = { dir, fetch, outbound, hosts: sources.hosts ?? DOWNLOAD_HOSTS };
        await pullModel(spec, parts, { signal, onProgress: progress.show }).finally(progress.clear);
      }
    } finally {
      if (signal.aborted) await printLine(terminal, "What arrived is kept: the same command continues there.");
      await outbound.destroy();
      await keepOwner(dir);
    }
    isNew = true;
  });
  await printInstalled(specs, dir, options, terminal);
  if (isNew) await printLine(terminal, SERVED_BY);
  return EXIT.ok;
}

export async function printInstalled(
  specs: readonly ModelSpec[],
  dir: string,
  options: LicenceOptions,
  terminal: Terminal,
): Promise<void> {
  if (options.json === true) {
    const data = await Promise.all(specs.map((spec) => describeModel(spec, dir)));
    await write(terminal.stdout, `${JSON.stringify({ object: "list", data, next_cursor: null }, null, 2)}\n`);
    return;
  }
  for (const spec of specs)
    await write(terminal.stdout, `${spec.name}: installed, ${megabytes(totalBytes(spec.files))} in ${dir}\n`);
}
