// How a process is told to stop.
import { EXIT } from "./cli/exit-codes.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Resolves with the first one; a second one ends the process at once. `orphaned`: counts as SIGTERM, if it is the first. */
export async function stopSignal(orphaned: Promise<void> | null = null): Promise<NodeJS.Signals> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of SIGNALS) process.once(name, resolve);
    const onOrphaned = (): void => {
      for (const name of SIGNALS) process.off(name, resolve);
      resolve("SIGTERM");
    };
    void orphaned?.then(onOrphaned);
  });
  for (const name of SIGNALS) process.once(name, () => process.exit(EXIT.interrupted));
  return signal;
}
