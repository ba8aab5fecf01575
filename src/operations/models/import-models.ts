// `patchbay models import`: installs the models of a directory, an archive or a file.
import { resolve } from "node:path";
import { EXIT } from "../../cli/exit-codes.ts";
import type { LicenceOptions } from "../../cli/operate/models-commands.ts";
import type { Terminal } from "../../cli/terminal.ts";
import { importModel, nothingFound, openMedium } from "../../local-models/import-models.ts";
import { MANIFEST } from "../../local-models/manifest.ts";
import { acceptLicences, keepOwner, type ModelSources, modelSettings, withModelFaults } from "./model-command.ts";
import { printInstalled } from "./pull-models.ts";

export async function importModels(
  path: string,
  options: LicenceOptions,
  terminal: Terminal,
  signal: AbortSignal,
  { manifest = MANIFEST }: ModelSources,
): Promise<number> {
  const { dir } = modelSettings(options, terminal);
  const from = resolve(terminal.cwd, path);
  await withModelFaults(async () => {
    const medium = await openMedium(from, manifest, { dir }, signal);
    try {
      if (medium.complete.length === 0) throw nothingFound(from, medium);
      const specs = medium.complete.map(({ spec }) => spec);
      await acceptLicences(specs, "import", options, terminal, signal);
      for (const found of medium.complete) await importModel(found, from, { dir }, { signal });
      await printInstalled(specs, dir, options, terminal);
    } finally {
      await medium.dispose();
      await keepOwner(dir);
    }
  });
  return EXIT.ok;
}
