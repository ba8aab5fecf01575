// Locks the data directory for commands that need the embedded installation to themselves: restore, migrate-storage, purge.
import { EXIT } from "../cli/exit-codes.ts";
import { CliError } from "../cli/terminal.ts";
import { InstallationInUse, type InstallationLock, lockInstallation } from "../storage/embedded/installation-lock.ts";

export async function holdDataDir(dataDir: string): Promise<InstallationLock> {
  try {
    return await lockInstallation(dataDir);
  } catch (error) {
    if (error instanceof InstallationInUse)
      throw new CliError(EXIT.conflict, error.message, {
        hints: ["stop the gateway first: patchbay down, or Ctrl-C in its terminal"],
      });
    throw error;
  }
}
