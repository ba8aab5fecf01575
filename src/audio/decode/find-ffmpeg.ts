// Finds ffmpeg once at startup [measuring.decoder]: the first executable of that name on the PATH.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

export function findFfmpeg(path: string | undefined): string | null {
  const name = process.platform === "win32" ? "ffmpeg.exe" : "ffmpeg";
  for (const directory of (path ?? "").split(delimiter)) {
    // A relative entry depends on the working directory.
    if (!isAbsolute(directory)) continue;
    const program = join(directory, name);
    if (isExecutable(program)) return program;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
