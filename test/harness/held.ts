// Holds a provider's answer in the sandbox until the test releases it, so that events in between need no timing.
import type { Fault, Sandbox } from "../../sandbox/server.ts";
import { until } from "./until.ts";

/** The fault that holds a call. */
export const HELD: Fault = { kind: "delay", ms: 3_600_000 };

/** Waits until at least one call is held, then releases all. */
export async function releaseHeld(sandbox: Sandbox): Promise<void> {
  await until(() => sandbox.endDelays() > 0);
}
