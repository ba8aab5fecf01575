// What restore, the move to a server and a purge have in common: they need the embedded installation to themselves.
import { EXIT } from "../cli/exit-codes.ts";
import { CliError } from "../cli/terminal.ts";
import { InstallationInUse, type InstallationLock, lockInstallation } from "../storage/embedded/installation-lock.ts";

export async function holdDataDir(dataDir: string): Promise<InstallationLock> {
  try {
    return await lockInstallation(dataDir);
  } catch (error) {
    if (error instanceof InstallationInUse)
      throw new CliError(EXIT.conflict, error.message, {
        hints: ["stop the gateway first: patchbay down, or Ctrl-C where it runs"],
      });
    throw error;
  }
}
