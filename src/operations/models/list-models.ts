// `patchbay models list`: prints the models that are installed or can be pulled.
import { EXIT } from "../../cli/exit-codes.ts";
import type { ModelOptions } from "../../cli/operate/models-commands.ts";
import { printJson, table } from "../../cli/print.ts";
import { printLine, type Terminal, write } from "../../cli/terminal.ts";
import type { LocalModelView } from "../../contract/admin/local-models.ts";
import { describeModels } from "../../local-models/describe-models.ts";
import { DEFAULT_MODEL, MANIFEST } from "../../local-models/manifest.ts";
import { megabytes } from "../../local-models/megabytes.ts";
import { type ModelSources, modelSettings } from "./model-command.ts";

const HEAD = ["MODEL", "STATE", "ROLE", "LANGUAGES", "DELIVERS", "DOWNLOAD", "DISK", "LICENCE", "FIGURES"];
const MOST_LANGUAGES = 3;

export async function listModels(
  options: ModelOptions,
  terminal: Terminal,
  { manifest = MANIFEST }: ModelSources,
): Promise<number> {
  const { dir, fetch } = modelSettings(options, terminal);
  const models = await describeModels(dir, manifest);
  if (options.json === true) {
    await printJson(terminal, { object: "list", data: models, next_cursor: null });
    return EXIT.ok;
  }
  await write(terminal.stdout, table(HEAD, models.map(rowOf)));
  for (const { name, damage } of models) if (damage !== null) await printLine(terminal, `${name}: ${damage}`);
  await printLine(terminal, `Directory: ${dir}`);
  await printLine(
    terminal,
    fetch === "never"
      ? "Downloads are off (models.fetch: never). Next: patchbay models import DIR"
      : `Next: patchbay models pull ${DEFAULT_MODEL}`,
  );
  return EXIT.ok;
}

function rowOf(model: LocalModelView): readonly string[] {
  const { languages, features } = model;
  return [
    model.name,
    model.state,
    model.role.replaceAll("_", " "),
    languages.length > MOST_LANGUAGES ? `${languages.length} languages` : languages.join(" ") || "any",
    features.join(" ").replaceAll("_", "-") || "-",
    megabytes(model.download_bytes),
    megabytes(model.installed_bytes),
    model.licence.id,
    model.figures.replaceAll("_", "-"),
  ];
}
