// `patchbay init`: writes a starting configuration and the names of its environment variables. Existing files are never replaced.
import type { Command } from "commander";
import { mkdir, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { errorCode } from "../../lib/error-code.ts";
import { helpFooter, jsonOption, type Run } from "../command-kit.ts";
import { EXIT } from "../exit-codes.ts";
import { CONFIGURATION, CONFIGURATION_NAME, VARIABLES, VARIABLES_NAME } from "./init-files.ts";
import { printJson } from "../print.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../terminal.ts";

interface InitOptions {
  readonly json?: boolean;
}

const FILES = [
  { name: CONFIGURATION_NAME, text: CONFIGURATION },
  { name: VARIABLES_NAME, text: VARIABLES },
] as const;

export function addInit(program: Command, run: Run): void {
  program
    .command("init")
    .description(`Write a commented ${CONFIGURATION_NAME} and ${VARIABLES_NAME}. Existing files are never overwritten.`)
    .argument("[directory]", "Target directory, created if missing (default: the working directory).")
    .addHelpText("after", helpFooter("patchbay init", "patchbay init /etc/patchbay"))
    .addOption(jsonOption())
    .action((directory: string | undefined, options: InitOptions) => init(directory ?? ".", options, run.terminal));
}

async function init(directory: string, options: InitOptions, terminal: Terminal): Promise<void> {
  const at = resolve(terminal.cwd, directory);
  const files = FILES.map(({ name, text }) => ({ path: join(at, name), text }));
  const existing: string[] = [];
  for (const { path } of files) if (await isThere(path)) existing.push(path);
  if (existing.length > 0) throw inTheWay(existing);
  const createdPaths: string[] = [];
  let createdDirectory: string | undefined;
  try {
    createdDirectory = await mkdir(at, { recursive: true });
    for (const { path, text } of files) {
      await writeFile(path, text, { flag: "wx" });
      createdPaths.push(path);
    }
  } catch (error) {
    // Both files or none, and no empty directory: files created just now can be removed safely.
    await Promise.all(createdPaths.map((path) => rm(path, { force: true })));
    if (createdDirectory !== undefined) await removeEmpty(at, createdDirectory);
    const code = errorCode(error) ?? "unknown reason";
    if (code === "EEXIST") throw inTheWay([files[createdPaths.length]?.path ?? at]);
    throw new CliError(EXIT.usage, `${at} cannot be written to (${code}).`);
  }
  if (options.json === true) return printJson(terminal, { object: "init", files: createdPaths });
  await write(terminal.stdout, stripControlCharacters(`${createdPaths.join("\n")}\n`));
  const inPlace = at === terminal.cwd ? "" : `cd ${directory} && `;
  await printLine(terminal, `next: ${inPlace}cp ${VARIABLES_NAME} .env, give .env its two keys, and`);
  await printLine(terminal, "  set -a; . ./.env; set +a; patchbay up");
  await printLine(terminal, '  patchbay transcribe --sample --api-key "$PATCHBAY_APP_KEY"');
}

/** Removes the directories from `at` up to `createdDirectory`, the topmost that was created. */
async function removeEmpty(at: string, createdDirectory: string): Promise<void> {
  await rmdir(at).catch(() => undefined);
  if (at !== createdDirectory) await removeEmpty(dirname(at), createdDirectory);
}

function inTheWay(paths: readonly string[]): CliError {
  return new CliError(
    EXIT.conflict,
    `Nothing was written: ${paths.join(" and ")} ${paths.length === 1 ? "is" : "are"} there already.`,
    {
      hints: [
        "name another directory: patchbay init DIRECTORY",
        "or check the existing files: patchbay config validate",
      ],
    },
  );
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
