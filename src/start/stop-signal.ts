// Waits for SIGINT or SIGTERM, which stop a process.
import { EXIT } from "../cli/exit-codes.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Resolves with the first signal, which the parent process may also send as a message. A second one ends the process at once. `orphaned`: counts as SIGTERM if
 * it comes first.
 */
export async function stopSignal(orphaned: Promise<void> | null = null): Promise<NodeJS.Signals> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of SIGNALS) process.once(name, resolve);
    process.on("message", (message) => {
      const name = SIGNALS.find((each) => each === message);
      if (name !== undefined) resolve(name);
    });
    // The listener must not keep an otherwise finished process alive.
    process.channel?.unref();
    const onOrphaned = (): void => {
      for (const name of SIGNALS) process.off(name, resolve);
      resolve("SIGTERM");
    };
    void orphaned?.then(onOrphaned);
  });
  for (const name of SIGNALS) process.once(name, () => process.exit(EXIT.interrupted));
  return signal;
}
