// GET /healthz (contract 10): alive means that this answer comes; it waits for nothing.
import { getHealthContract } from "../../contract/operations.ts";
import type { Endpoint } from "../endpoint.ts";

export const getHealth: Endpoint = {
  contract: getHealthContract,
  handle: async () => ({ status: 200, body: { json: { status: "ok" } } }),
};
