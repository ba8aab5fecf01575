// Declares the endpoints GET /v1/me [keys.me] and GET /v1/melimits with its alias GET /v1/me/limits [configuration.limits].
import { keyDescription, limitsReport } from "../account.ts";
import type { EndpointContract } from "./endpoint.ts";

export const getMeContract: EndpointContract = {
  method: "GET",
  path: "/v1/me",
  operationId: "getMe",
  summary: "Get the key's identity and capabilities",
  description: "The key, its app and workspace, the purposes that it can send, and what each routing context supports.",
  auth: "key",
  responses: { 200: { description: "The key.", content: { "application/json": keyDescription } } },
  errors: [],
};

const limits: Omit<EndpointContract, "path" | "operationId" | "summary"> = {
  method: "GET",
  description: "All limits in force, and this key's quotas and remaining budget.",
  auth: "key",
  responses: { 200: { description: "The limits.", content: { "application/json": limitsReport } } },
  errors: [],
};

export const getLimitsContract: EndpointContract = {
  ...limits,
  path: "/v1/melimits",
  operationId: "getLimits",
  summary: "Get current limits",
};
export const getMyLimitsContract: EndpointContract = {
  ...limits,
  path: "/v1/me/limits",
  operationId: "getMyLimits",
  summary: "Get current limits (alias)",
};
