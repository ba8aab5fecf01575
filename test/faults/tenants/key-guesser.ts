// The worker thread of the trial `unknown-keys`: connections that send random keys with a valid checksum that never existed.
import { Agent } from "node:http";
import { parentPort, workerData } from "node:worker_threads";
import { generateKey } from "../../../src/auth/key-format.ts";
import { askHttp } from "../ask-http.ts";

const { origin, connections } = workerData as { readonly origin: string; readonly connections: number };
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const statuses: Record<string, number> = {};
const over = new AbortController();

async function guess(): Promise<void> {
  while (!over.signal.aborted) {
    const headers = { authorization: `Bearer ${generateKey("live")}` };
    const { status } = await askHttp(origin, agent, { method: "GET", path: "/v1/me", headers });
    const name = String(status);
    statuses[name] = (statuses[name] ?? 0) + 1;
  }
}

const guessing = Promise.all(Array.from({ length: connections }, guess));
parentPort?.once("message", () => {
  over.abort();
  void report();
});

async function report(): Promise<void> {
  await guessing;
  agent.destroy();
  parentPort?.postMessage(statuses);
}
