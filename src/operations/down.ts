// `patchbay down`: stops the gateway of an embedded installation. With --purge, it lists the installation's files, then deletes them.
import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { confirm } from "../cli/confirm.ts";
import { EXIT } from "../cli/exit-codes.ts";
import type { DownOptions } from "../cli/operate/operations-commands.ts";
import { CliError, printLine, type Terminal, stripControlCharacters, write } from "../cli/terminal.ts";
import type { Configuration } from "../config/configuration.ts";
import { installationHere } from "../config/installation-here.ts";
import { errorCode } from "../lib/error-code.ts";
import { hostname } from "node:os";
import { ownerOf } from "../storage/embedded/installation-lock.ts";
import { readPlacement } from "../storage/embedded/placement.ts";
import { isLock, isOurs, statOrNull } from "./backup/data-dir-contents.ts";
import { holdDataDir } from "./hold-data-dir.ts";
import { readConfiguration } from "./read-configuration.ts";

const LOOK_MS = 100;

export async function down(options: DownOptions, terminal: Terminal, signal: AbortSignal): Promise<number> {
  const storage =
    options.purge === true ? readConfiguration(options, terminal).storage : await readPlace(options, terminal);
  const { dataDir } = storage;
  if (storage.databaseUrl !== null)
    throw new CliError(
      EXIT.usage,
      "The state of this installation is on a PostgreSQL server that other processes may use.",
      {
        hints: ["stop its processes where they were started; each handles SIGTERM"],
      },
    );
  const contents = options.purge === true ? await contentsOf(dataDir) : { ours: [], others: [], relocated: [] };
  if (contents.ours.length > 0 && options.yes !== true) {
    await printLine(
      terminal,
      "This permanently deletes all keys, jobs, transcripts and usage data of the installation:",
    );
    for (const path of [...contents.relocated, ...contents.ours.map((name) => join(dataDir, name))])
      await printLine(terminal, `  ${path}`);
    await confirm("Delete all of it?", terminal, signal);
  }
  const stopped = await stop(dataDir, terminal, signal);
  if (contents.ours.length > 0) await purge(dataDir, contents.ours);
  const removed = [...contents.relocated, ...contents.ours.map((name) => join(dataDir, name))];
  const keptPaths = contents.others.map((name) => join(dataDir, name));
  if (options.json === true) {
    await write(terminal.stdout, `${JSON.stringify({ object: "down", stopped, removed, left: keptPaths })}\n`);
    return EXIT.ok;
  }
  await printLine(
    terminal,
    stopped === null ? `No gateway is running on ${dataDir}.` : `Process ${stopped} has ended.`,
  );
  await write(terminal.stdout, stripControlCharacters(removed.map((path) => `${path}\n`).join("")));
  for (const path of keptPaths) await printLine(terminal, `kept (not created by Patchbay): ${path}`);
  if (removed.length > 0 && storage.objects.kind === "s3")
    await printLine(terminal, "Objects in S3 were not deleted: empty the bucket manually.");
  return EXIT.ok;
}

/** A gateway can be stopped with a configuration that is invalid by now, such as in a terminal without the variables of its secrets. */
async function readPlace(options: DownOptions, terminal: Terminal): Promise<Place> {
  try {
    return readConfiguration(options, terminal).storage;
  } catch (error) {
    const { dataDir } = installationHere({ file: options.config ?? null, env: terminal.env, cwd: terminal.cwd });
    // Only the gateway of an embedded database holds its data directory.
    if ((await ownerOf(dataDir)) === null) throw error;
    return { dataDir, databaseUrl: null, objects: { kind: "local" } };
  }
}

interface Place extends Pick<Configuration["storage"], "dataDir" | "databaseUrl"> {
  readonly objects: { readonly kind: string };
}

/** Sends SIGINT, as Ctrl-C would. Resolves once the directory is unlocked, which is the last thing a gateway does. */
async function stop(dataDir: string, terminal: Terminal, signal: AbortSignal): Promise<number | null> {
  const owner = await ownerOf(dataDir);
  if (owner === null) return null;
  const { pid, host } = owner;
  if (host !== hostname())
    throw new CliError(
      EXIT.conflict,
      `The gateway runs on host ${host} (process ${pid}) and can only be stopped there.`,
    );
  try {
    process.kill(pid, "SIGINT");
  } catch (error) {
    const code = errorCode(error) ?? "unknown reason";
    if (code !== "ESRCH")
      throw new CliError(EXIT.auth, `Process ${pid} cannot be stopped (${code}).`, {
        hints: ["run this as the user that started it, or use the service manager"],
      });
  }
  await printLine(terminal, `stopping process ${pid}`);
  while ((await ownerOf(dataDir))?.pid === pid) await wait(LOOK_MS, undefined, { signal });
  return pid;
}

interface Contents {
  readonly ours: readonly string[];
  readonly others: readonly string[];
  /** The embedded server's files, if they are outside the data directory. */
  readonly relocated: readonly string[];
}

/** Separates the installation's files from others in the directory. */
async function contentsOf(dataDir: string): Promise<Contents> {
  if ((await statOrNull(dataDir))?.isDirectory() !== true) return { ours: [], others: [], relocated: [] };
  const names = (await readdir(dataDir)).filter((name) => !isLock(name)).toSorted();
  const { home, isRelocated } = await readPlacement(dataDir);
  return {
    ours: names.filter(isOurs),
    others: names.filter((name) => !isOurs(name)),
    relocated: isRelocated ? [home] : [],
  };
}

/** Holds the lock, so that a start meanwhile is refused instead of finding half of the files. */
async function purge(dataDir: string, names: readonly string[]): Promise<void> {
  const lock = await holdDataDir(dataDir);
  try {
    const { home, isRelocated } = await readPlacement(dataDir);
    if (isRelocated) await rm(home, { recursive: true, force: true });
    for (const name of names) await rm(join(dataDir, name), { recursive: true, force: true });
  } finally {
    await lock.release();
  }
  for (const name of await readdir(dataDir)) if (isLock(name)) await rm(join(dataDir, name), { force: true });
  // Fails if the directory contains other files, which are kept.
  await rmdir(dataDir).catch(() => undefined);
}
