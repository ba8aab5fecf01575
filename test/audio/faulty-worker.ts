// A stand-in for the measuring worker whose first byte says what goes wrong: 1 hangs, 2 throws, 3 exits, 4 eats memory.
import { parentPort } from "node:worker_threads";

parentPort?.on("message", ({ bytes }: { bytes: Uint8Array }) => {
  const eaten: number[][] = [];
  for (let step = 0; bytes[0] === 1 || bytes[0] === 4; step++) {
    if (bytes[0] === 4) eaten.push(Array.from({ length: 100_000 }, () => step + 0.5));
  }
  if (bytes[0] === 2) throw new Error("a fault in a reader");
  if (bytes[0] === 3) process.exit(1);
  parentPort?.postMessage({
    usedMs: 0,
    measurement: { ok: false, code: "INVALID_AUDIO", reason: `answered ${bytes[1]}` },
  });
});
