// GET /v1/me [keys.me] and GET /v1/melimits with its alias [configuration.limits].
import { keyDescription, limitsReport } from "./account.ts";
import type { EndpointContract } from "./endpoint.ts";

export const getMeContract: EndpointContract = {
  method: "GET",
  path: "/v1/me",
  operationId: "getMe",
  summary: "What this key is and what it can ask for",
  description:
    "The key, its app and workspace, the purposes that can be sent, and per routing context what can be asked.",
  auth: "key",
  responses: { 200: { description: "The key.", content: { "application/json": keyDescription } } },
  errors: [],
};

const limits: Omit<EndpointContract, "path" | "operationId" | "summary"> = {
  method: "GET",
  description: "Every limit as it is enforced now, and this key's quotas and remaining budget.",
  auth: "key",
  responses: { 200: { description: "The limits.", content: { "application/json": limitsReport } } },
  errors: [],
};

export const getLimitsContract: EndpointContract = {
  ...limits,
  path: "/v1/melimits",
  operationId: "getLimits",
  summary: "Live limits",
};
export const getMyLimitsContract: EndpointContract = {
  ...limits,
  path: "/v1/me/limits",
  operationId: "getMyLimits",
  summary: "Live limits (alias)",
};
