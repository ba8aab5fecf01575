// `patchbay doctor`, checks of this machine: runtime, data directory and its permissions, secrets, free disk space, decoder.
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findFfmpeg } from "../../audio/decode/find-ffmpeg.ts";
import { neededNode } from "../../cli/package-root.ts";
import type { Configuration } from "../../config/configuration.ts";
import { freeBytes } from "../../lib/free-disk-space.ts";
import { nearestExisting } from "../../storage/connection/make-data-dir.ts";
import { missingSecrets, openSecrets } from "../../storage/secrets/open-secrets.ts";
import { hasEmbeddedDatabase } from "../../storage/embedded/server.ts";
import { SECRET_FILES, statOrNull } from "../backup/data-dir-contents.ts";
import { fail, type Finding, ok, reasonOf, warn } from "./finding.ts";

const GIBIBYTE = 2 ** 30;
/** Fits a day of jobs with the largest recordings. */
const COMFORTABLE_BYTES = 5 * GIBIBYTE;
/** With less free space PostgreSQL, embedded or not, is about to stop. */
const NEEDED_BYTES = GIBIBYTE / 2;

export function checkRuntime(version: string = process.versions.node): Finding {
  const needed = neededNode();
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = needed.split(".").map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
    ? ok("runtime", `Node.js ${version}`)
    : fail("runtime", `Node.js ${version} is too old`, `install Node.js ${needed} or newer`);
}

export async function checkDataDir({ dataDir }: Configuration["storage"]): Promise<readonly Finding[]> {
  const dirStat = await statOrNull(dataDir);
  if (dirStat === null) {
    const parent = await nearestExisting(dataDir);
    return (await isWritable(parent))
      ? [
          ok(
            "data_dir",
            `${dataDir} does not exist yet; the first start creates it${describeMissingParents(dataDir, parent)}`,
          ),
        ]
      : [
          fail(
            "data_dir",
            `${dataDir} cannot be created: ${parent} is not writable`,
            "choose another storage.data_dir",
          ),
        ];
  }
  if (!dirStat.isDirectory())
    return [fail("data_dir", `${dataDir} is not a directory`, "choose another storage.data_dir")];
  if (!(await isWritable(dataDir)))
    return [fail("data_dir", `${dataDir} is not writable for this user`, `chown it to the user that runs patchbay`)];
  const readablePaths = process.platform === "win32" ? [] : await readableByOthers(dataDir);
  if (readablePaths.length === 0)
    return [ok("data_dir", `${dataDir} is writable, and its secrets are readable by their owner only`)];
  return readablePaths.map((path) => warn("data_dir", `${path} can be read by other users`, `chmod go= '${path}'`));
}

/** Missing parent directories may mean a misspelt path or a disk that is not mounted. */
function describeMissingParents(dataDir: string, parent: string): string {
  return dirname(dataDir) === parent ? "" : `, and what is missing above it, below ${parent}`;
}

async function readableByOthers(dataDir: string): Promise<readonly string[]> {
  const files = SECRET_FILES.map((name) => join(dataDir, name));
  // The data directory may be mode 0711 (owned by root), so that the embedded server's account can pass through it without listing it.
  const targets = [{ path: dataDir, mask: 0o066 }, ...files.map((path) => ({ path, mask: 0o077 }))];
  const results = await Promise.all(
    targets.map(async ({ path, mask }) => ({ path, isOpen: (((await statOrNull(path))?.mode ?? 0) & mask) !== 0 })),
  );
  return results.filter(({ isOpen }) => isOpen).map(({ path }) => path);
}

/** Checks the secrets that a start would use, and creates none. */
export async function checkSecrets({ storage, secrets }: Configuration): Promise<readonly Finding[]> {
  const settings = { ...storage, ...secrets };
  try {
    const missing = await missingSecrets(settings);
    if (missing.length > 0)
      return (await hasEmbeddedDatabase(storage.dataDir))
        ? [
            fail(
              "secrets",
              `${storage.dataDir} contains a database, but not ${missing.join(" and ")}, which it depends on`,
              "restore it from the backup: with a new one, stored data cannot be decrypted and all API keys are invalid",
            ),
          ]
        : [ok("secrets", `created in ${storage.dataDir} at the first start`)];
    const opened = await openSecrets(settings);
    return opened.ok
      ? [ok("secrets", opened.where)]
      : opened.faults.map((fault) => fail("secrets", fault, "create one with `openssl rand -base64 32`"));
  } catch (error) {
    return [fail("secrets", reasonOf(error), "restore the file from the backup")];
  }
}

export async function checkDisk({ dataDir }: Configuration["storage"]): Promise<Finding> {
  const existingFolder = await nearestExisting(dataDir);
  const free = await freeBytes(existingFolder);
  const text = `${(free / GIBIBYTE).toFixed(1)} GiB free for ${dataDir}`;
  if (free < NEEDED_BYTES) return fail("disk", text, "free some, or move storage.data_dir to a larger disk");
  return free < COMFORTABLE_BYTES
    ? warn("disk", text, "uploads, job audio and results are stored there: provide 5 GiB or more")
    : ok("disk", text);
}

export function checkDecoder(path: string | undefined): Finding {
  const ffmpeg = findFfmpeg(path);
  return ffmpeg === null
    ? warn(
        "decoder",
        "no ffmpeg on the PATH: only WAV and MP3 are recognised on this machine, and split for models with a length limit",
        "install ffmpeg for other formats",
      )
    : ok("decoder", ffmpeg);
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}
