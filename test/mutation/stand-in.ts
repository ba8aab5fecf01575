// Stands in for `node:test` in a mutation run: a process that goes through a file's tests hundreds of times picks their order,
// stops at the first that fails, and knows when one will never end. Of the real one it has what those files use.
import { AsyncLocalStorage } from "node:async_hooks";
import { mock } from "node:test";

export { mock };

type Hook = () => unknown;
type Work = (context: Context) => unknown;

interface Context {
  readonly name: string;
  readonly after: (hook: Hook) => void;
  readonly skip: () => void;
  readonly diagnostic: () => void;
  readonly mock: typeof mock;
}

export interface Collected {
  readonly tests: readonly { readonly name: string; readonly work: Work }[];
  readonly before: readonly Hook[];
  readonly after: readonly Hook[];
  readonly beforeEach: readonly Hook[];
  readonly afterEach: readonly Hook[];
}

const nothing = () => ({
  tests: [] as { name: string; work: Work }[],
  before: [] as Hook[],
  after: [] as Hook[],
  beforeEach: [] as Hook[],
  afterEach: [] as Hook[],
});
let collected = nothing();

export const test = (name: string, work: Work): void => void collected.tests.push({ name, work });
export const before = (hook: Hook): void => void collected.before.push(hook);
export const after = (hook: Hook): void => void collected.after.push(hook);
export const beforeEach = (hook: Hook): void => void collected.beforeEach.push(hook);
export const afterEach = (hook: Hook): void => void collected.afterEach.push(hook);

/** What the file that was just imported has said. */
export function takeCollected(): Collected {
  const taken = collected;
  collected = nothing();
  return taken;
}

/** An error that is not caught belongs to the test that began it, and to none once that is over. */
const running = new AsyncLocalStorage<{ fail: (error: unknown) => void }>();
let current: { fail: (error: unknown) => void } | null = null;

const onUncaught = (error: unknown): void => {
  const owner = running.getStore();
  if (owner !== undefined && owner === current) owner.fail(error);
};
process.on("uncaughtException", onUncaught);
process.on("unhandledRejection", onUncaught);

export class Endless extends Error {}

const BEAT_MS = 250;
/** Of a process that runs and has nothing to do: on a busy machine they take as long as they take. */
const MOST_BEATS = 20;
/** Something may yet come from a timer that holds up no process. */
const EMPTY_MS = 2_000;

/** Throws what the work throws or leaves uncaught, and `Endless` when nothing more can come of it. */
export async function within(work: () => unknown, usualMs: number): Promise<void> {
  const failed = Promise.withResolvers<never>();
  const own = { fail: failed.reject };
  const outer = current;
  current = own;
  let beats = 0;
  const mostBeats = MOST_BEATS + (10 * usualMs) / BEAT_MS;
  const pulse = setInterval(() => {
    beats += 1;
    if (beats > mostBeats) failed.reject(new Endless("it waits for something that does not come"));
  }, BEAT_MS);
  pulse.unref();
  let grace: NodeJS.Timeout | undefined;
  const onEmpty = (): void => {
    grace ??= setTimeout(() => failed.reject(new Endless("there is nothing left to wait for")), EMPTY_MS + usualMs);
  };
  process.on("beforeExit", onEmpty);
  try {
    await running.run(own, async () => Promise.race([(async () => work())(), failed.promise]));
  } finally {
    clearInterval(pulse);
    clearTimeout(grace);
    process.off("beforeExit", onEmpty);
    current = outer;
  }
}

/** One test between the hooks of its file. */
export async function runTest(
  hooks: Pick<Collected, "beforeEach" | "afterEach">,
  { name, work }: Collected["tests"][number],
  usualMs: number,
): Promise<void> {
  const afterwards: Hook[] = [];
  const context: Context = {
    name,
    after: (hook) => void afterwards.push(hook),
    skip: () => undefined,
    diagnostic: () => undefined,
    mock,
  };
  let isFailed = true;
  try {
    await within(async () => {
      for (const hook of hooks.beforeEach) await hook();
      await work(context);
    }, usualMs);
    isFailed = false;
  } finally {
    for (const hook of [...afterwards, ...hooks.afterEach])
      await within(hook, usualMs).catch((error: unknown) => {
        if (!isFailed) throw error;
      });
    mock.reset();
    mock.timers.reset();
  }
}
