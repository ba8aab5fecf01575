// A gateway whose workspace acme has a plan and an own account, and the calls of GET /workspace/{tenant_id}/models.
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { type AssignableModels, assignableModels } from "../../../src/contract/admin/workspace-models.ts";
import { type Answer, get } from "../../harness/client.ts";
import { standardFile, startGateway, type TestGateway } from "../../harness/gateway.ts";
import { ADMIN_KEY, OPERATOR_KEY, OTHER_ADMIN_KEY } from "../audio-url/setup.ts";

export const startModelsGateway = (): Promise<TestGateway> => startGateway({ file: modelsFile });

export function readModels({ origin }: TestGateway, key: string | null, tenant = "acme"): Promise<Answer> {
  return get(origin, `/workspace/${tenant}/models`, key);
}

export const modelsOf = (answer: Answer): AssignableModels["data"] => assignableModels.parse(answer.json).data;

function modelsFile(sandbox: Sandbox): ConfigurationFile {
  const standard = standardFile(sandbox);
  const [acme, other] = standard.workspaces ?? [];
  if (acme === undefined || other === undefined) throw new Error("the standard file has two workspaces");
  return {
    ...standard,
    connections: [
      ...(standard.connections ?? []),
      { id: "el", kind: "elevenlabs", api_key: "el-secret-000001" },
      { id: "sim", kind: "sandbox" },
      { id: "keyless", kind: "assemblyai", api_key: "aa-secret-000001" },
    ],
    plans: [{ id: "bare", monthly_chat_tokens: 0, credits_usd: "0" }],
    operator_keys: [{ id: "root", secret: OPERATOR_KEY }],
    workspaces: [
      {
        ...acme,
        plan: "bare",
        connections: [{ id: "dg", kind: "deepgram", api_key: "own-dg-secret-01" }],
        admin_keys: [{ id: "admin", secret: ADMIN_KEY }],
      },
      { ...other, admin_keys: [{ id: "other-admin", secret: OTHER_ADMIN_KEY }] },
    ],
  };
}
