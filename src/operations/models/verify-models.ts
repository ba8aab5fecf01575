// `patchbay models verify`: compares installed models with their sizes and checksums.
import { EXIT } from "../../cli/exit-codes.ts";
import type { ModelOptions } from "../../cli/operate/models-commands.ts";
import { printJson } from "../../cli/print.ts";
import { CliError, printLine, type Terminal, write } from "../../cli/terminal.ts";
import { MANIFEST } from "../../local-models/manifest.ts";
import { readStored, storedNames } from "../../local-models/model-store.ts";
import { DEMONSTRATION } from "../../providers/local/demonstration.ts";
import { type Verification, verifyModel } from "../../local-models/verify-model.ts";
import { type ModelSources, modelSettings } from "./model-command.ts";

interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly faults: readonly string[];
  /** For people. */
  readonly repair: string;
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
  const verify = async (check: () => Promise<Result | null>): Promise<void> => {
    const result = await check();
    if (result === null) return;
    results.push(result);
    if (options.json !== true) await printResult(result, terminal);
  };
  const wanted = names.length === 0 ? await storedNames(dir) : names.filter((name) => name !== DEMONSTRATION);
  for (const name of wanted) await verify(() => verifyOne(dir, name, sources, signal));
  if (names.length === 0 || names.includes(DEMONSTRATION)) await verify(() => verifyOwn(sources, signal));
  if (options.json === true) {
    const data = results.map(({ name, ok, faults }) => ({ name, ok, faults }));
    await printJson(terminal, { object: "list", data, next_cursor: null });
  } else if (names.length === 0 && wanted.length === 0)
    await printLine(terminal, "No model is installed. Next: patchbay models pull");
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
  const repair = `patchbay models pull ${name}`;
  if (state.kind === "damaged") return { name, ok: false, faults: [state.reason], repair };
  const trial = tryModel === undefined ? {} : { tryModel };
  return resultOf(await verifyModel(state.model, { signal, ...trial }), repair);
}

async function verifyOwn({ verifyBundled }: ModelSources, signal: AbortSignal): Promise<Result | null> {
  const verification = (await verifyBundled?.(signal)) ?? null;
  return verification === null ? null : resultOf(verification, "npm ci, or install the package again");
}

function resultOf({ name, ok, files, trial }: Verification, repair: string): Result {
  const faults = files.flatMap(({ path, difference }) => (difference === null ? [] : [`${path} ${difference}`]));
  return { name, ok, faults: trial === null ? faults : [...faults, trial], repair };
}

async function printResult({ name, ok, faults, repair }: Result, terminal: Terminal): Promise<void> {
  await write(terminal.stdout, `${name}: ${ok ? "ok" : "differs"}\n`);
  for (const fault of faults) await printLine(terminal, `  ${fault}`);
  if (!ok) await printLine(terminal, `  repair it: ${repair}`);
}
