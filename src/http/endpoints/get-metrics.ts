// GET /metrics on the admin listener: returns this process's metrics in Prometheus format [metrics.endpoint].
import { getMetricsContract } from "../../contract/endpoints/operations.ts";
import { METRICS_TYPE } from "../../lib/metric-registry.ts";
import type { Endpoint } from "../server/endpoint.ts";

export function getMetrics(text: () => Promise<string>): Endpoint {
  return {
    contract: getMetricsContract,
    handle: async () => ({ status: 200, body: { text: await text(), contentType: METRICS_TYPE } }),
  };
}
