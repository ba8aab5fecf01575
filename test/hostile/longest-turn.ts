// How long the event loop was held: the most processor time that one of its turns took. Waiting for a core is not counted, so the
// figure is the same on a busy machine.
export async function longestTurnMs(run: () => Promise<void>): Promise<number> {
  let longestUs = 0;
  let before = process.threadCpuUsage();
  let isRunning = true;
  const look = (): void => {
    const spent = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longestUs = Math.max(longestUs, spent.user + spent.system);
    if (isRunning) setImmediate(look);
  };
  setImmediate(look);
  try {
    await run();
  } finally {
    isRunning = false;
  }
  return longestUs / 1_000;
}
