// How a process is told to stop.
import { EXIT } from "./cli/exit-codes.ts";

/** Resolves with the first one; a second one ends the process there and then. */
export async function stopSignal(): Promise<NodeJS.Signals> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, resolve);
  });
  for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => process.exit(EXIT.interrupted));
  return signal;
}
