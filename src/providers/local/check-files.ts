// Compares a model's files with their recorded SHA-256 before they are loaded, so that a damaged file is refused [local.files-checked]. A file that has not
// changed since its last check in this process is not read again.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { type InstalledModel, modelPath } from "../../local-models/installed-model.ts";

export interface FileCheck {
  /** Returns the path of the first file that is missing or differs. Null: all are as recorded. */
  firstFault(model: InstalledModel): Promise<string | null>;
}

export function createFileCheck(): FileCheck {
  /** Path → size, time and node of the file that was found right. */
  const checked = new Map<string, string>();
  return {
    firstFault: async (model) => {
      for (const { path, bytes, sha256 } of model.files) {
        const full = modelPath(model, path);
        const found = await stat(full).catch(() => null);
        if (found === null || found.size !== bytes) return path;
        const identity = `${sha256}/${found.size}/${found.mtimeMs}/${found.ctimeMs}/${found.ino}`;
        if (checked.get(full) === identity) continue;
        if ((await sha256Of(full)) !== sha256) return path;
        checked.set(full, identity);
      }
      return null;
    },
  };
}

async function sha256Of(path: string): Promise<string | null> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 })) hash.update(chunk as Buffer);
  } catch {
    return null;
  }
  return hash.digest("hex");
}
