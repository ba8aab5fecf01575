// `patchbay models rm`: removes a model and what was downloaded of it.
import { confirm } from "../../cli/confirm.ts";
import { EXIT } from "../../cli/exit-codes.ts";
import type { RemoveModelOptions } from "../../cli/operate/models-commands.ts";
import { CliError, type Terminal, write } from "../../cli/terminal.ts";
import { modelName } from "../../local-models/model-schema.ts";
import { removeModel } from "../../local-models/pull-model.ts";
import { modelSettings, withModelFaults } from "./model-command.ts";

export async function removeModels(
  name: string,
  options: RemoveModelOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { dir } = modelSettings(options, terminal);
  const isRemoved =
    modelName.safeParse(name).success &&
    (await withModelFaults(async () => {
      if (options.yes !== true) await confirm(`Remove ${name} from ${dir}?`, terminal, signal);
      return removeModel(dir, name, signal);
    }));
  if (!isRemoved)
    throw new CliError(EXIT.notFound, `Nothing of a model ${JSON.stringify(name)} is in ${dir}.`, {
      hints: ["`patchbay models list` shows what is installed"],
    });
  await write(
    terminal.stdout,
    options.json === true
      ? `${JSON.stringify({ object: "local_model", name, deleted: true })}\n`
      : `${name}: removed\n`,
  );
  return EXIT.ok;
}
