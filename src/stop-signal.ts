// How a process is told to stop.
import { EXIT } from "./cli/exit-codes.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/**
 * Resolves with the first one, which the process that started this one may also send as a message; a second one ends the process at once. `orphaned`:
 * counts as SIGTERM, if it is the first.
 */
export async function stopSignal(orphaned: Promise<void> | null = null): Promise<NodeJS.Signals> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of SIGNALS) process.once(name, resolve);
    process.on("message", (message) => {
      const name = SIGNALS.find((each) => each === message);
      if (name !== undefined) resolve(name);
    });
    // The listener must not keep a process that has ended everything else.
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
