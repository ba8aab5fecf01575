// A provider's answer that the sandbox holds until the test lets it go: what has to happen meanwhile has any time.
import type { Fault, Sandbox } from "../../sandbox/server.ts";
import { until } from "./until.ts";

/** The fault of calls that are to be held. */
export const HELD: Fault = { kind: "delay", ms: 3_600_000 };

/** Waits until at least one is held, and lets all go. */
export async function releaseHeld(sandbox: Sandbox): Promise<void> {
  await until(() => sandbox.endDelays() > 0);
}
