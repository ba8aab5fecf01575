// GET /healthz: responds while the process runs, without waiting for anything else [api.healthz].
import { getHealthContract } from "../../contract/endpoints/operations.ts";
import type { Endpoint } from "../server/endpoint.ts";

export const getHealth: Endpoint = {
  contract: getHealthContract,
  handle: async () => ({ status: 200, body: { json: { status: "ok" } } }),
};
