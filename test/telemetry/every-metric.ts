// Every metric with a series of its own, as `/metrics` exports it: its labels, by the names that queries use.
import { newId } from "../../src/contract/ids.ts";
import type { ObservedCall } from "../../src/gateway/calls/observer.ts";
import type { RequestRecord } from "../../src/gateway/request-record.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";

const TIMES = { startedAtMs: 0, endedAtMs: 1 };
const FAILED: ObservedCall = {
  requestId: newId("request"),
  attemptId: newId("attempt"),
  operation: "transcription",
  provider: "p",
  model: "m",
  isWorkspaceOwned: false,
  outcome: "timeout",
  spent: null,
  ...TIMES,
};
const SPENT = { audioMs: 1, billableMs: 1, chargeNanoUsd: 1n, inputTokens: 1, outputTokens: 1 };

/** Buckets, sums and counts of histograms too. */
export async function everyMetric(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const metrics = createMetrics({
    version: "1",
    jobsByState: async () => [{ labels: ["queued"], value: 1 }],
    budgetsByState: async () => [{ labels: ["exhausted"], value: 1 }],
    circuits: () => [{ labels: ["p", "m"], value: 1 }],
    retirements: async () => [{ labels: ["calls", "diarization", "vendor"], value: 92 }],
  });
  metrics.called(FAILED);
  metrics.called({ ...FAILED, outcome: "succeeded", spent: { ...SPENT, billingClass: "metered" } });
  metrics.modelSubstituted({
    ...FAILED,
    workspaceId: newId("workspace"),
    connection: "c",
    testMode: false,
    asked: "m",
    answered: "n",
    isRefused: true,
  });
  metrics.exchanged({ requestId: "req_1", method: "GET", route: null, status: 200, ...TIMES });
  metrics.unreadable("INVALID_REQUEST");
  metrics.recorded({ refusal: "unhealthy", keyUse: "first" } as RequestRecord);
  metrics.jobEnded({ waitMs: 1, runMs: 1 });
  metrics.webhookAttempted("delivered");
  metrics.alertRaised("disk_low");
  metrics.alertAttempted("delivered");

  const found = new Map<string, ReadonlySet<string>>();
  const promised = new Set<string>();
  for (const line of (await metrics.text()).trimEnd().split("\n")) {
    const [, typed] = /^# TYPE (\S+) /u.exec(line) ?? [];
    if (typed !== undefined) promised.add(typed);
    if (line.startsWith("#")) continue;
    const [, name = "", labels = ""] = /^([a-z_]+)(?:\{(.*)\})? /u.exec(line) ?? [];
    found.set(name, new Set([...labels.matchAll(/([a-z_]+)="/gu)].map(([, label = ""]) => label)));
  }
  const missing = [...promised].filter((name) => !found.has(name) && !found.has(`${name}_bucket`));
  if (missing.length > 0) throw new Error(`give these a value in ${import.meta.filename}: ${missing.join(", ")}`);
  return found;
}
