// A thread of the engine's process that ends the process when its parent is gone, also while native code blocks the main thread.
import { workerData } from "node:worker_threads";

const INTERVAL_MS = 500;

/** On Windows the parent's id never changes. There the closed channel ends the process. */
setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, INTERVAL_MS);
