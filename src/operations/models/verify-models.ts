// `patchbay models verify`: compares installed models with their sizes and checksums.
import { EXIT } from "../../cli/exit-codes.ts";
import type { ModelOptions } from "../../cli/operate/models-commands.ts";
import { printJson } from "../../cli/print.ts";
import { CliError, printLine, type Terminal, write } from "../../cli/terminal.ts";
import { MANIFEST } from "../../local-models/manifest.ts";
import { readStored, storedNames } from "../../local-models/model-store.ts";
import { verifyModel } from "../../local-models/verify-model.ts";
import { type ModelSources, modelSettings } from "./model-command.ts";

interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly faults: readonly string[];
}

export async function verifyModels(
  names: readonly string[],
  options: ModelOptions,
  terminal: Terminal,
  signal: AbortSignal,
  sources: ModelSources,
): Promise<number> {
  const { dir } = modelSettings(options, terminal);
  const results: Result[] = [];
  for (const name of names.length === 0 ? await storedNames(dir) : names) {
    const result = await verifyOne(dir, name, sources, signal);
    results.push(result);
    if (options.json !== true) await printResult(result, terminal);
  }
  if (options.json === true) await printJson(terminal, { object: "list", data: results, next_cursor: null });
  else if (results.length === 0) await printLine(terminal, "No model is installed. Next: patchbay models pull");
  return results.every(({ ok }) => ok) ? EXIT.ok : EXIT.unexpected;
}

async function verifyOne(
  dir: string,
  name: string,
  { manifest = MANIFEST, tryModel }: ModelSources,
  signal: AbortSignal,
): Promise<Result> {
  const state = await readStored(dir, name, manifest);
  if (state.kind === "absent")
    throw new CliError(EXIT.notFound, `The model ${JSON.stringify(name)} is not installed.`, {
      hints: ["`patchbay models list` shows what is"],
    });
  if (state.kind === "damaged") return { name, ok: false, faults: [state.reason] };
  const { ok, files, trial } = await verifyModel(state.model, {
    signal,
    ...(tryModel === undefined ? {} : { tryModel }),
  });
  const faults = files.flatMap(({ path, difference }) => (difference === null ? [] : [`${path} ${difference}`]));
  return { name, ok, faults: trial === null ? faults : [...faults, trial] };
}

async function printResult({ name, ok, faults }: Result, terminal: Terminal): Promise<void> {
  await write(terminal.stdout, `${name}: ${ok ? "ok" : "differs"}\n`);
  for (const fault of faults) await printLine(terminal, `  ${fault}`);
  if (!ok) await printLine(terminal, `  repair it: patchbay models pull ${name}`);
}
