// What backup, restore, the move to a server and a purge have in common: they need the embedded installation to themselves.
import { EXIT } from "../cli/exit-codes.ts";
import { CliError } from "../cli/terminal.ts";
import { type DataDirLock, DataDirInUse, lockDataDir } from "../storage/data-dir-lock.ts";

/** The embedded engine cannot be read beside a running gateway, so none of them is done online. */
export async function holdDataDir(dataDir: string): Promise<DataDirLock> {
  try {
    return await lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof DataDirInUse)
      throw new CliError(EXIT.conflict, error.message, {
        hints: ["stop the gateway first: the embedded database cannot be copied while it is written"],
      });
    throw error;
  }
}
