// A small TCP balancer in front of gateways under a rolling restart (R14): checks the readiness of each and distributes new connections round-robin among the
// ready ones. Existing connections stay; it does not parse HTTP.
import { once } from "node:events";
import { request } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

export interface Balancer extends AsyncDisposable {
  readonly origin: string;
  /** Resolves once the gateway of this origin receives connections. */
  untilReady(origin: string, withinMs: number): Promise<void>;
}

const CHECK_MS = 250;
const CHECK_TIMEOUT_MS = 1_000;
/** Consecutive silent checks before a gateway is considered down; a negative answer counts at once. */
const SILENT_CHECKS = 3;
const POLL_MS = 20;

/** `origins`: current addresses of the gateways. Null while one is down. */
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
      for (const removed of [...ready].filter((origin) => !known.includes(origin))) ready.delete(removed);
      await Promise.all(known.map(check));
      await wait(CHECK_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();

  const server = createServer({ noDelay: true }, (near) => {
    sockets.add(near);
    near.once("close", () => sockets.delete(near));
    near.on("error", () => undefined);
    // If none is ready, any running one: its answer is more informative than a refused connection.
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

/** Connects to the first that accepts. */
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
    // The gateway's last bytes may still be in transit.
    far.once("close", () => near.destroySoon());
    near.pipe(far);
    far.pipe(near);
  });
}

function readiness(origin: string): Promise<"ready" | "not ready" | "silent"> {
  return new Promise((resolve) => {
    const probe = request(`${origin}/readyz`, { agent: false, timeout: CHECK_TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? "ready" : "not ready");
    });
    probe.once("timeout", () => probe.destroy());
    probe.once("error", () => resolve("silent"));
    probe.end();
  });
}
