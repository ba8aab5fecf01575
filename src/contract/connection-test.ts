// POST …/connections/{connection_id}/test: whether a credential works, and for what, before any call is paid for [providers.test-question].
import { z } from "zod";
import { json, time } from "./admin.ts";
import { CAPABILITIES } from "./features.ts";
import { PROVIDER_KINDS } from "./provider-kinds.ts";
import { everywhere } from "./set-up/everywhere.ts";

/** The first alone is `ok`. */
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
  features: z.array(z.string()).describe("What can be required of it."),
  weak_features: z.array(z.string()).describe("Only where a route lists them in `accept_weak`."),
  found: z.boolean().nullable().describe("Whether the account lists it; null: its provider does not say."),
});

export const MOST_UNDECLARED = 200;

export const connectionTest = z.strictObject({
  object: z.literal("connection_test"),
  connection: z.string(),
  kind: z.enum(PROVIDER_KINDS),
  ok: z.boolean().describe("The provider takes the credential. False also where that could not be shown."),
  outcome: z
    .enum(TEST_OUTCOMES)
    .describe(
      "`accepted`: the provider takes the credential. `unproven`: asked once more without the credential, the server did not refuse it, so nothing is known of the credential. `restricted`: it may not ask this, and may be fit for calls all the same. `refused`: it is wrong, or no longer in force. `no_credential`: there is none, and nothing was sent. `out_of_credit`: the account has to be topped up. `busy`, `failing`: the provider answers 429, or with an error of its own; test again later. `unreachable`: no connection, or no answer within 10 s. `address_refused`: a workspace's address that may not be called. `unexpected`: an answer that this provider would not give, so see `base_url`.",
    ),
  message: z.string().describe("One sentence or two, with what to do."),
  asked: z.string().describe("The request, behind `base_url`."),
  status: z.int().nullable().describe("Of the provider's answer; null: there was none."),
  code: z
    .string()
    .nullable()
    .describe("A word more, where there is one: the provider's code, or that of a connection that failed."),
  took_ms: z.int().min(0),
  checked_at: time,
  models: z.array(testedModel).describe("Those that are known or declared for the connection, by name."),
  undeclared_models: z
    .array(z.string())
    .max(MOST_UNDECLARED)
    .nullable()
    .describe(
      `What else the account lists, by name, ${MOST_UNDECLARED} at most: what of it transcribes or chats can be declared under \`models\`. Null: its provider does not say.`,
    ),
});
export type ConnectionTest = z.infer<typeof connectionTest>;

export const testConnectionContracts = everywhere({
  method: "POST",
  path: "/connections/:connection_id/test",
  operationId: "testConnection",
  summary: "Try the credential of a provider account",
  description:
    "Asks the provider one question that it answers for nothing, with the stored credential, the way calls go, and tells what came of it; any outcome is a 200. Nothing is changed, charged or counted, and no circuit learns of it. It shows that the credential is taken, not that every call will be. Connections of the configuration file can be tried as well.",
  responses: { 200: json("What came of it.", connectionTest) },
  errors: ["NOT_FOUND"],
});
