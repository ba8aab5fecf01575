// Measures the cost of metrics per request: one exchange, one call and one record, with the routes, models and outcomes of a busy gateway.
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { brand } from "../../src/contract/ids.ts";
import type { RequestRecord } from "../../src/gateway/request-record.ts";

const REQUESTS = 200_000;
const metrics = createMetrics({
  version: "0",
  jobsByState: async () => [],
  budgetsByState: async () => [],
  circuits: () => [],
  retirements: async () => [],
});
const record = { refusal: null, keyUse: "first" } as RequestRecord;
const rounds: number[] = [];
for (let round = 0; round < 7; round += 1) {
  const started = performance.now();
  for (let index = 0; index < REQUESTS; index += 1) {
    const requestId = brand("request", `req_${index}`);
    const endedAtMs = 1_000 + (index % 997);
    metrics.called({
      requestId,
      attemptId: brand("attempt", `att_${index}`),
      operation: "transcription",
      provider: "deepgram",
      model: `nova-${index % 20}`,
      isWorkspaceOwned: false,
      outcome: index % 50 === 0 ? "server_error" : "succeeded",
      startedAtMs: 0,
      endedAtMs,
      spent: {
        billingClass: "metered",
        audioMs: 1_000,
        billableMs: 1_000,
        chargeNanoUsd: 1_000n,
        inputTokens: 0,
        outputTokens: 0,
      },
    });
    const route = index % 2 === 0 ? "/v1/transcription" : "/v1/chat";
    const status = index % 50 === 0 ? 502 : 200;
    metrics.exchanged({ requestId, method: "POST", route, status, startedAtMs: 0, endedAtMs });
    metrics.recorded(record);
  }
  rounds.push(((performance.now() - started) * 1_000) / REQUESTS);
}
rounds.sort((a, b) => a - b);
console.log(`metrics: ${rounds[3]?.toFixed(2)} us a request (median of ${rounds.length} rounds of ${REQUESTS})`);
