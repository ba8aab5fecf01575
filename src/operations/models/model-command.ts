// Shared parts of `patchbay models`: the configuration, names, licences and errors.
import { basename, dirname } from "node:path";
import { confirm } from "../../cli/confirm.ts";
import { EXIT } from "../../cli/exit-codes.ts";
import type { LicenceOptions, ModelOptions } from "../../cli/operate/models-commands.ts";
import { CliError, printLine, type Terminal } from "../../cli/terminal.ts";
import type { Configuration } from "../../config/configuration.ts";
import { suggest } from "../../lib/text/suggest.ts";
import { downloadBytes, MANIFEST, totalBytes } from "../../local-models/manifest.ts";
import { megabytes } from "../../local-models/megabytes.ts";
import { ModelFault, type ModelFaultKind } from "../../local-models/model-fault.ts";
import type { ModelSpec } from "../../local-models/model-spec.ts";
import type { TryModel, Verification } from "../../local-models/verify-model.ts";
import type { Outbound } from "../../outbound/dial.ts";
import { statOrNull } from "../backup/data-dir-contents.ts";
import { giveToOwnerOf } from "../backup/keep-owner.ts";
import { readConfiguration } from "../read-configuration.ts";

/** Where models come from. Manifest and hosts are the package's own, except in tests. */
export interface ModelSources {
  readonly openDownloads: (env: Terminal["env"]) => Promise<Outbound>;
  readonly manifest?: readonly ModelSpec[];
  readonly hosts?: readonly string[];
  /** Runs an intact model on a known recording. Absent: `verify` compares files only. */
  readonly tryModel?: TryModel;
  /** Checks the model of the package. Absent, or null: there is none. */
  readonly verifyBundled?: (signal: AbortSignal) => Promise<Verification | null>;
}

const EXIT_CODES: Readonly<Record<ModelFaultKind, number>> = {
  refused: EXIT.config,
  unknown: EXIT.notFound,
  network: EXIT.upstream,
  mismatch: EXIT.upstream,
  archive: EXIT.usage,
  disk: EXIT.unexpected,
};

export function modelSettings(options: ModelOptions, terminal: Terminal): Configuration["models"] {
  return readConfiguration(options, terminal).models;
}

export function requireSpec(name: string, { manifest = MANIFEST }: ModelSources): ModelSpec {
  const spec = manifest.find((each) => each.name === name);
  if (spec !== undefined) return spec;
  const names = manifest.map((each) => each.name);
  const close = suggest(name, names) ?? names.find((each) => each.startsWith(name));
  throw new CliError(EXIT.notFound, `There is no model ${JSON.stringify(name)}.`, {
    hints: [close === undefined ? `models: ${names.join(", ")}` : `did you mean ${close}?`],
  });
}

/** What root installs for a gateway of another account belongs to that account: the owner of the directory above. */
export async function keepOwner(dir: string): Promise<void> {
  if ((await statOrNull(dir)) !== null) await giveToOwnerOf(dirname(dir), dir);
}

/** Turns a `ModelFault` into an error of the command line. */
export async function withModelFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ModelFault)) throw error;
    throw new CliError(EXIT_CODES[error.kind], error.message, { hints: error.hints });
  }
}

/** Prints what is about to be installed, then asks unless an option accepts it [local-models.licence]. */
export async function acceptLicences(
  specs: readonly ModelSpec[],
  verb: "download" | "import",
  options: LicenceOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  for (const spec of specs) await printOffer(spec, verb, terminal);
  if (options.yes === true || options.acceptLicence === true) return;
  const licences = [...new Set(specs.map(({ licence }) => licence.id))].join(", ");
  await confirm(`Accept ${licences} and ${verb}?`, terminal, signal, {
    withoutTerminal: "The licence has to be accepted, but there is no terminal.",
    hint: "accept it with --accept-licence",
  });
}

async function printOffer(spec: ModelSpec, verb: "download" | "import", terminal: Terminal): Promise<void> {
  const { licence, source } = spec;
  await printLine(terminal, `${spec.name}: ${spec.title}`);
  await printLine(terminal, `  licence   ${licence.id}, ${licence.url}`);
  await printLine(terminal, `  credit    ${licence.attribution}`);
  if (verb === "download" && source !== null) {
    const url = new URL(source.kind === "archive" ? source.url : source.base);
    const name = source.kind === "archive" ? ` (${basename(url.pathname)})` : "";
    await printLine(terminal, `  download  ${megabytes(downloadBytes(spec))} from ${url.host}${name}`);
  }
  await printLine(terminal, `  on disk   ${megabytes(totalBytes(spec.files))}`);
  if (!spec.verified)
    await printLine(terminal, "  figures   second-hand: this download is the first comparison with its checksums here");
}
