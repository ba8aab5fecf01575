// `patchbay init`: writes a commented configuration for one of three situations, with the names of its variables, and checks it. Existing files are never
// replaced without --force [cli.init].
import { type Command, Option } from "commander";
import { mkdir, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { errorCode } from "../../../lib/error-code.ts";
import { helpFooter, jsonOption, type Run } from "../../command-kit.ts";
import { EXIT } from "../../exit-codes.ts";
import { commandAfterCd } from "../../invocation.ts";
import { printJson, writeAtomically } from "../../print.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, withCommandName, write } from "../../terminal.ts";
import { checkWritten } from "./check-written.ts";
import { CONFIGURATION_NAME, INIT_FILES, SITUATIONS, type Situation, VARIABLES_NAME } from "./situations.ts";

interface InitOptions {
  readonly for?: Situation;
  readonly force?: boolean;
  readonly json?: boolean;
}

interface NewFile {
  readonly path: string;
  readonly text: string;
}

export function addInit(program: Command, run: Run): void {
  program
    .command("init")
    .description(`Write a commented ${CONFIGURATION_NAME}, and ${VARIABLES_NAME} with its variables, and check them.`)
    .argument("[directory]", "Target directory, created if missing (default: the working directory).")
    .addHelpText(
      "after",
      helpFooter("patchbay init", "patchbay init --for team", "patchbay init /etc/patchbay --for production"),
    )
    .addOption(
      new Option(
        "--for <situation>",
        `Situation: ${SITUATIONS.map((each) => `${each} (${INIT_FILES[each].title})`).join("; ")}. Default: asked on a terminal, else try.`,
      ).choices(SITUATIONS),
    )
    .addOption(new Option("--force", "Replace existing files."))
    .addOption(jsonOption())
    .action((directory: string | undefined, options: InitOptions) =>
      run.interruptibly(() => init(directory ?? ".", options, run.terminal, run.signal)),
    );
}

async function init(directory: string, options: InitOptions, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const at = resolve(terminal.cwd, directory);
  const configuration = join(at, CONFIGURATION_NAME);
  const variablesPath = join(at, VARIABLES_NAME);
  // Before the question, whose answer decides whether there is a second file.
  if (options.force !== true) await requireAbsent([configuration, variablesPath]);
  const situation = options.for ?? (await askSituation(terminal, signal));
  const { configuration: text, variables, next } = INIT_FILES[situation];
  // Comments name commands, which are typed in the directory of the files.
  const there = at === terminal.cwd ? terminal : { ...terminal, command: commandAfterCd(terminal, at) };
  const files = [
    { path: configuration, text: withCommandName(there, text) },
    ...(variables === null ? [] : [{ path: variablesPath, text: withCommandName(there, variables) }]),
  ];
  await (options.force === true ? replaceFiles(at, files) : createFiles(at, files));
  const { faults, missing } = await checkWritten(configuration, variables, terminal);
  if (faults.length > 0)
    throw new CliError(EXIT.config, `${configuration} was written, and has faults.`, { hints: faults });
  const paths = files.map(({ path }) => path);
  if (options.json === true) return printJson(terminal, { object: "init", for: situation, files: paths, missing });
  await write(terminal.stdout, stripControlCharacters(`${paths.join("\n")}\n`));
  await printLine(terminal, `${CONFIGURATION_NAME} is valid, for: ${INIT_FILES[situation].title}`);
  if (missing.length > 0) await printLine(terminal, `variables to set: ${missing.join(", ")}`);
  const steps = at === terminal.cwd ? next : [`cd ${directory}`, ...next];
  for (const [index, step] of steps.entries()) await printLine(there, `${index === 0 ? "next: " : "      "}${step}`);
}

async function askSituation(terminal: Terminal, signal: AbortSignal): Promise<Situation> {
  if (terminal.stdin.isTTY !== true) return "try";
  await printLine(terminal, "What is this installation for?");
  for (const [index, each] of SITUATIONS.entries())
    await printLine(terminal, `  ${index + 1}  ${each}: ${INIT_FILES[each].title}`);
  const reader = createInterface({ input: terminal.stdin, output: terminal.stderr, signal });
  try {
    reader.setPrompt("1, 2 or 3 [1]: ");
    reader.prompt();
    for await (const line of reader) {
      const answer = line.trim().toLowerCase();
      const chosen =
        answer === "" ? "try" : (SITUATIONS[Number(answer) - 1] ?? SITUATIONS.find((each) => each === answer));
      if (chosen !== undefined) return chosen;
      reader.prompt();
    }
  } finally {
    reader.close();
  }
  signal.throwIfAborted();
  throw new CliError(EXIT.usage, "Nothing was written.", { hints: ["choose one: --for try, team or production"] });
}

/** All files or none, and no empty directory: files created just now can be removed safely. */
async function createFiles(at: string, files: readonly NewFile[]): Promise<void> {
  const createdPaths: string[] = [];
  let createdDirectory: string | undefined;
  try {
    createdDirectory = await mkdir(at, { recursive: true });
    for (const { path, text } of files) {
      await writeFile(path, text, { flag: "wx" });
      createdPaths.push(path);
    }
  } catch (error) {
    await Promise.all(createdPaths.map((path) => rm(path, { force: true })));
    if (createdDirectory !== undefined) await removeEmpty(at, createdDirectory);
    if (errorCode(error) === "EEXIST") throw inTheWay([files[createdPaths.length]?.path ?? at]);
    throw unwritable(at, error);
  }
}

/** Each is replaced as a whole. */
async function replaceFiles(at: string, files: readonly NewFile[]): Promise<void> {
  await mkdir(at, { recursive: true }).catch((error: unknown) => {
    throw unwritable(at, error);
  });
  for (const { path, text } of files) await writeAtomically(path, text);
}

/** Removes the directories from `at` up to `createdDirectory`, the topmost that was created. */
async function removeEmpty(at: string, createdDirectory: string): Promise<void> {
  await rmdir(at).catch(() => undefined);
  if (at !== createdDirectory) await removeEmpty(dirname(at), createdDirectory);
}

async function requireAbsent(paths: readonly string[]): Promise<void> {
  const existing: string[] = [];
  for (const path of paths) if (await isThere(path)) existing.push(path);
  if (existing.length > 0) throw inTheWay(existing);
}

function inTheWay(paths: readonly string[]): CliError {
  return new CliError(
    EXIT.conflict,
    `Nothing was written: ${paths.join(" and ")} ${paths.length === 1 ? "is" : "are"} there already.`,
    {
      hints: [
        "name another directory: patchbay init DIRECTORY",
        "replace what is there: patchbay init --force",
        "or check the existing files: patchbay config validate",
      ],
    },
  );
}

function unwritable(at: string, error: unknown): CliError {
  return new CliError(EXIT.usage, `${at} cannot be written to (${errorCode(error) ?? "unknown reason"}).`, {
    hints: ["name a directory that you may write to: patchbay init DIRECTORY"],
  });
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
