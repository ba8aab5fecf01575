// Checks for free disk space before a download, and explains a disk that is full all the same [local-models.disk-full].
import { errorCode } from "../lib/error-code.ts";
import { freeBytes } from "../lib/free-disk-space.ts";
import { ModelFault } from "./model-fault.ts";
import { megabytes } from "./megabytes.ts";

/** Left for other programs. */
const RESERVE_BYTES = 64_000_000;

export async function requireSpace(dir: string, neededBytes: number, read = freeBytes): Promise<void> {
  const free = await read(dir);
  if (free >= neededBytes + RESERVE_BYTES) return;
  throw new ModelFault(
    "disk",
    `${dir} has ${megabytes(free)} of free space, and ${megabytes(neededBytes + RESERVE_BYTES)} are needed.`,
    ["make room, or set `models.dir` to a directory on another disk"],
  );
}

/** Returns other errors unchanged. */
export function explainDiskError(error: unknown, dir: string): unknown {
  const code = errorCode(error);
  const said =
    code === "ENOSPC" || code === "EDQUOT"
      ? "The disk is full"
      : code === "EROFS" || code === "EACCES" || code === "EPERM"
        ? "It cannot be written"
        : code === "EIO"
          ? "The disk reports an error"
          : null;
  if (said === null) return error;
  return new ModelFault("disk", `${said} (${code}): ${dir}.`, [
    "make room or fix the directory, then run the command again: a download continues where it stopped",
    "`patchbay models rm NAME` removes what was downloaded so far",
  ]);
}
