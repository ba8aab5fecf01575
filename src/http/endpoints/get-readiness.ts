// GET /readyz: 200 if this process should receive requests, otherwise 503 with the failed checks [api.readyz].
import { getReadinessContract, type Readiness } from "../../contract/endpoints/operations.ts";
import type { Endpoint } from "../server/endpoint.ts";

export interface ReadinessOptions {
  readonly draining: () => boolean;
  /** Checks by name. A check that returns false or throws has failed. */
  readonly checks: Readonly<Record<string, () => Promise<boolean>>>;
}

export function getReadiness(options: ReadinessOptions): Endpoint {
  return {
    contract: getReadinessContract,
    handle: async () => {
      const results = await Promise.all(
        Object.entries(options.checks).map(async ([name, check]) => [name, await passes(check)] as const),
      );
      const all = [["accepting", !options.draining()] as const, ...results];
      const isReady = all.every(([, passed]) => passed);
      const json: Readiness = {
        status: isReady ? "ready" : "not_ready",
        checks: Object.fromEntries(all.map(([name, passed]) => [name, passed ? "ok" : "failed"])),
      };
      return { status: isReady ? 200 : 503, body: { json } };
    },
  };
}

async function passes(check: () => Promise<boolean>): Promise<boolean> {
  try {
    return await check();
  } catch {
    return false;
  }
}
