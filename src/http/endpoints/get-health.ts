// GET /healthz: this process answers, without waiting for anything [api.healthz].
import { getHealthContract } from "../../contract/operations.ts";
import type { Endpoint } from "../server/endpoint.ts";

export const getHealth: Endpoint = {
  contract: getHealthContract,
  handle: async () => ({ status: 200, body: { json: { status: "ok" } } }),
};
