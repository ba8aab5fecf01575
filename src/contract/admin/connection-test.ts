// Schemas and endpoints for POST …/connections/{connection_id}/test: whether a provider account's credential works, and for which models, before a call is
// paid for [providers.test-question].
import { z } from "zod";
import { json, time } from "./admin.ts";
import { CAPABILITIES } from "../features.ts";
import { knownLife, notOffered } from "../model-life.ts";
import { providerKind } from "../settings/connection.ts";
import { mirrorForAllOwners } from "../endpoints/owner-endpoints.ts";

/** Only the first one is `ok`. */
export const TEST_OUTCOMES = [
  "accepted",
  "unproven",
  "restricted",
  "refused",
  "no_credential",
  "out_of_credit",
  "busy",
  "failing",
  "unreachable",
  "address_refused",
  "unexpected",
] as const;
export type TestOutcome = (typeof TEST_OUTCOMES)[number];

const testedModel = z.strictObject({
  model: z.string(),
  capabilities: z.array(z.enum(CAPABILITIES)),
  features: z.array(z.string()).describe("Features that a request can require."),
  weak_features: z.array(z.string()).describe("Available only if a route lists them in `accept_weak`."),
  life: knownLife,
  not_offered: notOffered,
  found: z.boolean().nullable().describe("Whether the account lists the model. Null: the provider does not report it."),
});

export const MOST_UNDECLARED = 200;

export const connectionTest = z.strictObject({
  object: z.literal("connection_test"),
  connection: z.string(),
  kind: providerKind,
  ok: z.boolean().describe("Whether the provider accepts the credential. Also false if that could not be shown."),
  outcome: z
    .enum(TEST_OUTCOMES)
    .describe(
      "`accepted`: the provider accepts the credential. `unproven`: the server did not refuse the same request without the credential either, so the credential was not tested. `restricted`: the credential may not make this request, but may work for calls. `refused`: it is wrong or no longer valid. `no_credential`: none is set, and nothing was sent. `out_of_credit`: the account needs a top-up. `busy`, `failing`: the provider answers 429, or with an error of its own; test again later. `unreachable`: no connection, or no answer within 10 s. `address_refused`: a workspace's address that may not be called. `unexpected`: an answer that this provider would not give, so check `base_url`.",
    ),
  message: z.string().describe("One or two sentences, with what to do."),
  asked: z.string().describe("Path of the request, relative to `base_url`."),
  status: z.int().nullable().describe("Status of the provider's answer. Null: no answer."),
  code: z
    .string()
    .nullable()
    .describe("Further detail, if any: the provider's error code, or that of a failed connection."),
  took_ms: z.int().min(0),
  checked_at: time,
  models: z.array(testedModel).describe("Models known or declared for the connection, by name."),
  undeclared_models: z
    .array(z.string())
    .max(MOST_UNDECLARED)
    .nullable()
    .describe(
      `Other models of the account, by name, at most ${MOST_UNDECLARED}. Models for transcription or chat can be declared under \`models\`. Null: the provider does not list models.`,
    ),
});
export type ConnectionTest = z.infer<typeof connectionTest>;

export const testConnectionContracts = mirrorForAllOwners({
  method: "POST",
  path: "/connections/:connection_id/test",
  operationId: "testConnection",
  summary: "Test the credential of a provider account",
  description:
    "Sends the provider one free request with the stored credential, over the same path as calls, and reports the result. Every outcome is a 200. Nothing is charged or counted; of what the provider's list says, the days on which models end are stored for the connection, and no circuit breaker is affected. It shows that the credential is accepted, not that every call will succeed. Connections of the configuration file can be tested too.",
  responses: { 200: json("The result.", connectionTest) },
  errors: ["NOT_FOUND"],
});
