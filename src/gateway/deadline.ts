// The deadline of a synchronous request, which counts from its first byte, and the time left until it.
import type { GatewayServices } from "./services.ts";

export function deadlineOf(
  { limits }: Pick<GatewayServices, "limits">,
  { receivedAtMs }: { readonly receivedAtMs: number },
): number {
  return receivedAtMs + limits.syncTimeoutSeconds * 1000;
}

/** At least 1 ms. */
export function remainingMs({ now }: Pick<GatewayServices, "now">, deadlineAtMs: number): number {
  return Math.max(1, deadlineAtMs - now().getTime());
}

/** With less time left no other target is called: it could not answer, and would be recorded as failed. */
const LEAST_FOR_ANOTHER_MS = 100;

export function hasTimeForAnother({ now }: Pick<GatewayServices, "now">, deadlineAtMs: number): boolean {
  return deadlineAtMs - now().getTime() >= LEAST_FOR_ANOTHER_MS;
}
