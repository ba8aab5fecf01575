// A small TCP balancer, as in front of gateways that are restarted one after the other (R14): asks each for its readiness and gives new
// connections, in turn, to those that are ready. What is connected stays connected; it reads no HTTP.
import { once } from "node:events";
import { request } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

export interface Balancer extends AsyncDisposable {
  readonly origin: string;
  /** Resolves once the gateway behind this origin gets connections. */
  untilReady(origin: string, withinMs: number): Promise<void>;
}

const CHECK_MS = 250;
const CHECK_TIMEOUT_MS = 1_000;
/** In a row, before a gateway that says nothing is given up; one that says no is so at once. */
const SILENT_CHECKS = 3;
const POLL_MS = 20;

/** `origins`: where the gateways listen now; null while one does not run. */
export async function startBalancer(origins: () => readonly (string | null)[]): Promise<Balancer> {
  const ready = new Set<string>();
  const sockets = new Set<Socket>();
  const over = new AbortController();
  let turn = 0;
  const silent = new Map<string, number>();
  const check = async (origin: string): Promise<void> => {
    const answer = await readiness(origin);
    const times = answer === "silent" ? (silent.get(origin) ?? 0) + 1 : 0;
    silent.set(origin, times);
    if (answer === "ready") ready.add(origin);
    else if (answer === "not ready" || times >= SILENT_CHECKS) ready.delete(origin);
  };
  const checking = (async () => {
    while (!over.signal.aborted) {
      const known = origins().filter((origin) => origin !== null);
      for (const gone of [...ready].filter((origin) => !known.includes(origin))) ready.delete(gone);
      await Promise.all(known.map(check));
      await wait(CHECK_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();

  const server = createServer({ noDelay: true }, (near) => {
    sockets.add(near);
    near.once("close", () => sockets.delete(near));
    near.on("error", () => undefined);
    // When none is ready, whichever runs: an answer of theirs says more than no connection.
    const choices = ready.size > 0 ? [...ready] : origins().filter((origin) => origin !== null);
    turn += 1;
    join(near, [...choices.slice(turn % choices.length), ...choices.slice(0, turn % choices.length)]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    untilReady: async (origin, withinMs) => {
      for (const lastMs = performance.now() + withinMs; performance.now() < lastMs; await wait(POLL_MS))
        if (ready.has(origin)) return;
      throw new Error(`${origin} is not ready after ${withinMs} ms`);
    },
    [Symbol.asyncDispose]: async () => {
      over.abort();
      for (const socket of sockets) socket.destroy();
      server.close();
      await Promise.all([once(server, "close"), checking]);
    },
  };
}

/** To the first that takes the connection. */
function join(near: Socket, [origin, ...others]: readonly string[]): void {
  if (origin === undefined) {
    near.resetAndDestroy();
    return;
  }
  const { hostname, port } = new URL(origin);
  const far = connect({ host: hostname, port: Number(port), noDelay: true });
  const tryNext = (): void => join(near, others);
  far.once("error", tryNext);
  far.once("connect", () => {
    far.off("error", tryNext);
    far.on("error", () => near.destroy());
    near.once("close", () => far.destroy());
    // What the gateway said last may still be on its way.
    far.once("close", () => near.destroySoon());
    near.pipe(far);
    far.pipe(near);
  });
}

function readiness(origin: string): Promise<"ready" | "not ready" | "silent"> {
  return new Promise((resolve) => {
    const asked = request(`${origin}/readyz`, { agent: false, timeout: CHECK_TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? "ready" : "not ready");
    });
    asked.once("timeout", () => asked.destroy());
    asked.once("error", () => resolve("silent"));
    asked.end();
  });
}
